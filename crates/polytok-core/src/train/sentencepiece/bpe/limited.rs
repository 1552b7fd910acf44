//! Learns SentencePiece's merges within a memory limit, in the rounds of [`crate::train::bpe::rounds`].
//!
//! A pair is never merged if its text is not a valid piece, or is already a piece. A round drops the units in which all
//! pairs are such pairs. After the last merge, pairs without occurrences are added as pieces, ordered by length in
//! characters and then by text. A round forgets these pairs, so [`SeenPairTexts`] keeps their first texts in this
//! order, up to the maximum number of pieces.

use std::borrow::BorrowMut;
use std::collections::{BTreeSet, HashSet};

use polytok_memory::{Copied, Grow, GrowSet};

use super::{PieceMerger, for_each_segment};
use crate::error::Result;
use crate::train::bpe::cells::Cells;
use crate::train::bpe::rounds::{RoundLearner, WordCollector};
use crate::train::bpe::{ItemSizes, StopReason};
use crate::train::counter::{Spill, WordCounter};
use crate::train::sentencepiece::alphabet::Alphabet;

/// Learns merges in rounds. Returns the merged texts in merge order, each with the count of its pair at the time of the
/// merge.
pub fn learn(
    mut units: impl BorrowMut<WordCounter>,
    alphabet: &Alphabet,
    mut trainer: PieceMerger,
    usable_memory: usize,
    spill: &dyn Spill,
) -> Result<Vec<(String, u64)>> {
    let (mut collector, mut seen_pair_texts) =
        (WordCollector::new(usable_memory, spill)?, SeenPairTexts::new(trainer.max_merges));
    let (symbols, validity) = (&trainer.symbols, trainer.validity);
    let char = |symbol: u32| alphabet.chars[symbol as usize].0;
    let is_open = |left, right| validity.is_valid(&[char(left), char(right)]);
    for_each_segment(units.borrow_mut(), alphabet, trainer.progress, |segment, count| {
        for pair in segment.windows(2).filter(|pair| is_open(pair[0], pair[1])) {
            seen_pair_texts.add(symbols.text(pair[0]), symbols.text(pair[1]));
        }
        collector.push(segment, count, is_open)
    })?;
    drop(units);
    trainer.seen_pair_texts = Some(seen_pair_texts);
    let mut limited = LimitedPieceMerger { trainer, unmergeable_pairs: HashSet::new() };
    let stop = collector.learn(&mut limited, usable_memory, spill)?;
    let PieceMerger { mut merged, known_texts, seen_pair_texts, max_merges, .. } = limited.trainer;
    if let Some(seen_pair_texts) = seen_pair_texts.filter(|_| stop == StopReason::NoFrequentPair) {
        merged.checked_extend(
            seen_pair_texts
                .into_texts()
                .filter(|text| !known_texts.contains(text))
                .map(|text| (text, 0))
                .take(max_merges - merged.len()),
        );
    }
    Ok(merged)
}

/// The trainer with the units of one round.
struct LimitedPieceMerger<'v> {
    trainer: PieceMerger<'v>,
    /// The pairs that are never merged, except pairs that are too long.
    unmergeable_pairs: HashSet<(u32, u32)>,
}

impl LimitedPieceMerger<'_> {
    fn is_too_long(&self, left: u32, right: u32) -> bool {
        let symbols = &self.trainer.symbols;
        (symbols.chars(left) + symbols.chars(right)) as usize > self.trainer.validity.max_piece_chars()
    }
}

/// The bytes of memory for each pair that is never merged. While the table grows, the old and the new table exist
/// together.
const BYTES_PER_UNMERGEABLE_PAIR: usize = 18;

/// The fraction of the usable memory that the tables can take, as (denominator, numerator). The remaining memory is for
/// gaps that growing vectors leave in the heap.
const USABLE_FRACTION: (usize, usize) = (7, 4);

impl RoundLearner for LimitedPieceMerger<'_> {
    const SIZES: ItemSizes = ItemSizes { cell: 8, segment: 8, place: 8, pair: 160 };
    const KEEPS_WHOLE_WORDS: bool = true;

    fn min_count(&self) -> u64 {
        1
    }

    fn is_open(&self, left: u32, right: u32) -> bool {
        !self.is_too_long(left, right) && !self.unmergeable_pairs.contains(&(left, right))
    }

    fn fixed_memory(&self) -> usize {
        self.unmergeable_pairs.capacity() * BYTES_PER_UNMERGEABLE_PAIR
    }

    fn load(&mut self, cells: Cells, counts: Vec<u64>, _: u64, is_frequent: impl Fn(u32, u32) -> bool) {
        self.trainer.symbols.reset_cells();
        self.trainer.count(cells, counts, is_frequent);
    }

    fn run(&mut self, from: u64, usable_memory: usize) -> Result<StopReason> {
        self.trainer.run(from, usable_memory / USABLE_FRACTION.0 * USABLE_FRACTION.1)
    }

    fn last_count(&self) -> u64 {
        self.trainer.merged.last().map_or(u64::MAX, |(_, count)| *count)
    }

    fn take_words(&mut self) -> (Cells, Vec<u32>) {
        let trainer = &mut self.trainer;
        (trainer.unit_of_cell, trainer.counts, trainer.queue) = Default::default();
        let pairs = std::mem::take(&mut trainer.pairs);
        let cells = std::mem::take(&mut trainer.cells);
        for (left, right) in pairs.unmergeable_pairs() {
            if !self.is_too_long(left, right) {
                self.unmergeable_pairs.checked_insert((left, right));
            }
        }
        (cells, self.trainer.symbols.cells().checked_to_vec())
    }
}

/// The first `max_texts` texts of all created pairs, ordered by length in characters and then by bytes.
pub struct SeenPairTexts {
    texts: BTreeSet<(usize, String)>,
    max_texts: usize,
}

impl SeenPairTexts {
    fn new(max_texts: usize) -> SeenPairTexts {
        SeenPairTexts { texts: BTreeSet::new(), max_texts }
    }

    /// Adds the text of a created pair.
    pub fn add(&mut self, left: &str, right: &str) {
        let chars = left.chars().count() + right.chars().count();
        let is_full = self.texts.len() >= self.max_texts;
        let text = || left.bytes().chain(right.bytes());
        let is_before = |last: &(usize, String)| chars.cmp(&last.0).then_with(|| text().cmp(last.1.bytes())).is_lt();
        if is_full && !self.texts.last().is_some_and(is_before) {
            return;
        }
        self.texts.insert((chars, [left, right].concat()));
        if self.texts.len() > self.max_texts {
            self.texts.pop_last();
        }
    }

    fn into_texts(self) -> impl Iterator<Item = String> {
        self.texts.into_iter().map(|(_, text)| text)
    }
}
