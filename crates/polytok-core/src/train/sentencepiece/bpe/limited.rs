//! SentencePiece's merges within a memory limit, in the rounds of [`crate::train::bpe::rounds`].
//!
//! A pair that makes no valid piece, or one that is there already, is never merged: units with no other pairs are left behind. At the
//! very end pairs that came to be only for a moment are pieces, by characters and text; a round forgets them, so the first
//! of these texts are kept aside, as many as there may be pieces: that is enough, whichever of them are merged before.

use std::borrow::BorrowMut;
use std::collections::{BTreeSet, HashSet};

use super::{Trainer, each_stretch};
use crate::error::Result;
use crate::train::bpe::cells::Cells;
use crate::train::bpe::rounds::{Intake, RoundLearner};
use crate::train::bpe::{ItemSizes, StopReason};
use crate::train::counter::{Spill, WordCounter};
use crate::train::sentencepiece::alphabet::Alphabet;

/// Learns in rounds: the texts that merging makes, in order, and how often each pair occurred when it was merged.
pub fn learn(
    mut units: impl BorrowMut<WordCounter>,
    alphabet: &Alphabet,
    mut trainer: Trainer,
    room: usize,
    spill: &dyn Spill,
) -> Result<Vec<(String, u64)>> {
    let (mut intake, mut seen) = (Intake::new(room, spill)?, Seen::new(trainer.most));
    let (symbols, validity) = (&trainer.symbols, trainer.validity);
    let char = |symbol: u32| alphabet.chars[symbol as usize].0;
    let is_open = |left, right| validity.is_valid(&[char(left), char(right)]);
    each_stretch(units.borrow_mut(), alphabet, trainer.progress, |segment, count| {
        for pair in segment.windows(2).filter(|pair| is_open(pair[0], pair[1])) {
            seen.add(symbols.text(pair[0]), symbols.text(pair[1]));
        }
        intake.push(segment, count, is_open)
    })?;
    drop(units);
    trainer.seen = Some(seen);
    let mut limited = Limited { trainer, dead: HashSet::new() };
    let stop = intake.learn(&mut limited, room, spill)?;
    let Trainer { mut found, taken, seen, most, .. } = limited.trainer;
    if let Some(seen) = seen.filter(|_| stop == StopReason::Exhausted) {
        found.extend(
            seen.into_texts().filter(|text| !taken.contains(text)).map(|text| (text, 0)).take(most - found.len()),
        );
    }
    Ok(found)
}

/// The trainer, which has the units of one round.
struct Limited<'v> {
    trainer: Trainer<'v>,
    /// Pairs that are never merged, but for those that are too long.
    dead: HashSet<(u32, u32)>,
}

impl Limited<'_> {
    fn is_long(&self, left: u32, right: u32) -> bool {
        let symbols = &self.trainer.symbols;
        (symbols.chars(left) + symbols.chars(right)) as usize > self.trainer.validity.longest()
    }
}

/// Bytes for each pair that is never merged; the table is there twice while it grows.
const DEAD: usize = 18;

/// Vectors that grow leave holes in the memory of the process: of so many bytes (the first) so many (the second) may be in use.
const HOLES: (usize, usize) = (7, 4);

impl RoundLearner for Limited<'_> {
    const SIZES: ItemSizes = ItemSizes { cell: 8, segment: 8, place: 8, pair: 160 };
    const KEEPS_WHOLE_WORDS: bool = true;

    fn min_count(&self) -> u64 {
        1
    }

    fn is_open(&self, left: u32, right: u32) -> bool {
        !self.is_long(left, right) && !self.dead.contains(&(left, right))
    }

    fn fixed_memory(&self) -> usize {
        self.dead.capacity() * DEAD
    }

    fn load(&mut self, cells: Cells, counts: Vec<u64>, _: u64, is_frequent: impl Fn(u32, u32) -> bool) {
        self.trainer.symbols.lay_out();
        self.trainer.count(cells, counts, is_frequent);
    }

    fn run(&mut self, from: u64, room: usize) -> Result<StopReason> {
        self.trainer.run(from, room / HOLES.0 * HOLES.1)
    }

    fn last_count(&self) -> u64 {
        self.trainer.found.last().map_or(u64::MAX, |(_, count)| *count)
    }

    fn unload(&mut self) -> (Cells, Vec<u32>) {
        let trainer = &mut self.trainer;
        (trainer.unit_of, trainer.counts, trainer.queue) = Default::default();
        let pairs = std::mem::take(&mut trainer.pairs);
        let cells = std::mem::take(&mut trainer.cells);
        for (left, right) in pairs.dead() {
            if !self.is_long(left, right) {
                self.dead.insert((left, right));
            }
        }
        (cells, self.trainer.symbols.cells().to_vec())
    }
}

/// The first so many texts of pairs that came to be, by characters and bytes.
pub struct Seen {
    texts: BTreeSet<(usize, String)>,
    most: usize,
}

impl Seen {
    fn new(most: usize) -> Seen {
        Seen { texts: BTreeSet::new(), most }
    }

    /// A pair came to be.
    pub fn add(&mut self, left: &str, right: &str) {
        let chars = left.chars().count() + right.chars().count();
        let is_full = self.texts.len() >= self.most;
        let text = || left.bytes().chain(right.bytes());
        let goes_before = |last: &(usize, String)| chars.cmp(&last.0).then_with(|| text().cmp(last.1.bytes())).is_lt();
        if is_full && !self.texts.last().is_some_and(goes_before) {
            return;
        }
        self.texts.insert((chars, [left, right].concat()));
        if self.texts.len() > self.most {
            self.texts.pop_last();
        }
    }

    fn into_texts(self) -> impl Iterator<Item = String> {
        self.texts.into_iter().map(|(_, text)| text)
    }
}
