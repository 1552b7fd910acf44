//! SentencePiece's merges within a memory limit, in the rounds of [`crate::train::bpe::rounds`].
//!
//! A pair whose text is not a valid piece, or is already a piece, is never merged; a round drops units that have no
//! other pairs. After the last merge, pairs without occurrences are added as pieces, ordered by length in characters
//! and then by text. A round forgets pairs without occurrences, so [`SeenPairTexts`] keeps the first texts in this
//! order, up to the largest number of pieces.

use std::borrow::BorrowMut;
use std::collections::{BTreeSet, HashSet};

use super::{PieceMerger, each_segment};
use crate::error::Result;
use crate::train::bpe::cells::Cells;
use crate::train::bpe::rounds::{RoundLearner, WordCollector};
use crate::train::bpe::{ItemSizes, StopReason};
use crate::train::counter::{Spill, WordCounter};
use crate::train::sentencepiece::alphabet::Alphabet;

/// Merges in rounds. Returns the merged texts in order, each with the count of its pair at the time of the merge.
pub fn learn(
    mut units: impl BorrowMut<WordCounter>,
    alphabet: &Alphabet,
    mut trainer: PieceMerger,
    room: usize,
    spill: &dyn Spill,
) -> Result<Vec<(String, u64)>> {
    let (mut collector, mut seen) = (WordCollector::new(room, spill)?, SeenPairTexts::new(trainer.max_merges));
    let (symbols, validity) = (&trainer.symbols, trainer.validity);
    let char = |symbol: u32| alphabet.chars[symbol as usize].0;
    let is_open = |left, right| validity.is_valid(&[char(left), char(right)]);
    each_segment(units.borrow_mut(), alphabet, trainer.progress, |segment, count| {
        for pair in segment.windows(2).filter(|pair| is_open(pair[0], pair[1])) {
            seen.add(symbols.text(pair[0]), symbols.text(pair[1]));
        }
        collector.push(segment, count, is_open)
    })?;
    drop(units);
    trainer.seen = Some(seen);
    let mut limited = LimitedPieceMerger { trainer, dead_pairs: HashSet::new() };
    let stop = collector.learn(&mut limited, room, spill)?;
    let PieceMerger { mut merged, known_texts, seen, max_merges, .. } = limited.trainer;
    if let Some(seen) = seen.filter(|_| stop == StopReason::NoFrequentPair) {
        merged.extend(
            seen.into_texts()
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
    dead_pairs: HashSet<(u32, u32)>,
}

impl LimitedPieceMerger<'_> {
    fn is_too_long(&self, left: u32, right: u32) -> bool {
        let symbols = &self.trainer.symbols;
        (symbols.chars(left) + symbols.chars(right)) as usize > self.trainer.validity.longest()
    }
}

/// The bytes of memory for each pair that is never merged. While the table grows, the old and the new table exist
/// together.
const DEAD_PAIR_BYTES: usize = 18;

/// The fraction of the room that tables can use, as (denominator, numerator): growing vectors leave unused gaps in the
/// heap.
const USABLE_ROOM: (usize, usize) = (7, 4);

impl RoundLearner for LimitedPieceMerger<'_> {
    const SIZES: ItemSizes = ItemSizes { cell: 8, segment: 8, place: 8, pair: 160 };
    const KEEPS_WHOLE_WORDS: bool = true;

    fn min_count(&self) -> u64 {
        1
    }

    fn is_open(&self, left: u32, right: u32) -> bool {
        !self.is_too_long(left, right) && !self.dead_pairs.contains(&(left, right))
    }

    fn fixed_memory(&self) -> usize {
        self.dead_pairs.capacity() * DEAD_PAIR_BYTES
    }

    fn load(&mut self, cells: Cells, counts: Vec<u64>, _: u64, is_frequent: impl Fn(u32, u32) -> bool) {
        self.trainer.symbols.lay_out();
        self.trainer.count(cells, counts, is_frequent);
    }

    fn run(&mut self, from: u64, room: usize) -> Result<StopReason> {
        self.trainer.run(from, room / USABLE_ROOM.0 * USABLE_ROOM.1)
    }

    fn last_count(&self) -> u64 {
        self.trainer.merged.last().map_or(u64::MAX, |(_, count)| *count)
    }

    fn take_words(&mut self) -> (Cells, Vec<u32>) {
        let trainer = &mut self.trainer;
        (trainer.unit_of, trainer.counts, trainer.queue) = Default::default();
        let pairs = std::mem::take(&mut trainer.pairs);
        let cells = std::mem::take(&mut trainer.cells);
        for (left, right) in pairs.dead_pairs() {
            if !self.is_too_long(left, right) {
                self.dead_pairs.insert((left, right));
            }
        }
        (cells, self.trainer.symbols.cells().to_vec())
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
