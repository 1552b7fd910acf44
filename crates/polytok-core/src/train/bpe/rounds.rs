//! Learning within a memory limit, in rounds: the words lie in a file, and each round holds those that it may merge.
//!
//! A round merges the pairs that occur so often or more, until none does, or memory is used up. Counts of pairs only fall once
//! the pair is there, and new pairs occur no more often than the one that was merged: so a pair that occurs less often than the
//! round's least count has no say in it, nor has a word that holds no other pairs. At the end of a round the words go back to the
//! file, where each symbol takes a place, and the next round's least count is lower. How often pairs occur is not
//! known exactly before a round, but [`Bounds`] tell which pairs, so which words, need not be held; and they do so in fixed memory,
//! however many pairs there are. The least count is as low as the memory allows, by the sums of what words and pairs of
//! each frequency take ([`Spread`]). So the merges are those of a run with everything in memory, in the same order.
//!
//! How pairs are merged in memory is told by whoever learns ([`Learning`]). Cost: each round reads the file three times and writes
//! it once. Worst input: one word that is longer than what memory holds, which is an error.

use super::bounds::Bounds;
use super::cells::Cells;
use super::learner::Stop;
use super::spread::{Sizes, Spread};
use super::store::{Store, StoreWriter};
use crate::error::Result;
use crate::train::counter::Spill;

/// Bounds of pairs take such a part of the room, and at the most so many bytes, as more would fit no cache of the processor.
const BOUNDS: usize = 8;
const MOST_BOUNDS: usize = 1 << 24;

/// Of the rest, what is loaded takes at the most so many parts of [`WHOLE`], and at the least one; merging grows into the others.
const LOADED: usize = 20;
const WHOLE: usize = 32;

/// Merges pairs of the words of one round, in memory.
pub(crate) trait Learning {
    /// What is held takes so much.
    const SIZES: Sizes;

    /// Pairs that occur less often are not merged; 1 or more.
    fn least(&self) -> u64;

    /// False for a pair that is not merged from now on, however often it occurs.
    fn is_open(&self, left: u32, right: u32) -> bool;

    /// Takes the words of a round with their counts, and counts those of their open pairs that may be frequent.
    fn load(&mut self, cells: Cells, counts: Vec<u64>, from: u64, is_frequent: impl Fn(u32, u32) -> bool);

    /// Merges the pairs that occur so often or more, and at least one before so many bytes are too few.
    fn run(&mut self, from: u64, room: usize) -> Result<Stop>;

    /// How often the pair occurred that was merged last.
    fn last_count(&self) -> u64;

    /// Gives the words back as they are, and how many cells each symbol takes there.
    fn unload(&mut self) -> (Cells, Vec<u32>);
}

/// What is learnt from, until the words are all there.
pub(crate) struct Intake {
    writer: StoreWriter,
    bounds: Bounds,
}

impl Intake {
    /// No words yet. Learning may take so many bytes.
    pub fn new(room: usize, spill: &dyn Spill) -> Result<Intake> {
        let bounds = Bounds::within((room / BOUNDS).min(MOST_BOUNDS));
        Ok(Intake { writer: StoreWriter::new(spill.create()?), bounds })
    }

    /// Adds a word, if it has open pairs: those that may be merged.
    pub fn push(&mut self, symbols: &[u32], count: u64, is_open: impl Fn(u32, u32) -> bool) -> Result<()> {
        let mut is_dead = true;
        for pair in symbols.windows(2) {
            if is_open(pair[0], pair[1]) {
                self.bounds.add(pair[0], pair[1], count);
                is_dead = false;
            }
        }
        if is_dead { Ok(()) } else { self.writer.push(symbols, count) }
    }

    /// Learns from all words: until there are as many symbols as are wanted, or nothing is left to merge, or a pair's text is
    /// known to a learner that is not made for that: then pairs may come again, and what a round forgot may matter.
    pub fn learn(self, learning: &mut impl Learning, room: usize, spill: &dyn Spill) -> Result<Stop> {
        let judge = Judge { bounds: self.bounds, ceiling: u64::MAX };
        let mut rounds = Rounds { store: self.writer.finish()?, judge, loaded: LOADED, room, spill };
        let least = learning.least();
        loop {
            let from = rounds.least_count(learning)?;
            rounds.load(learning, from)?;
            let stop = learning.run(from, rounds.free())?;
            if matches!(stop, Stop::Reached | Stop::Known) || stop == Stop::Exhausted && from == least {
                return Ok(stop);
            }
            rounds.store_again(learning, from)?;
            rounds.turn(stop, from, learning.last_count());
        }
    }
}

/// What is learnt from.
struct Rounds<'a> {
    store: Store,
    judge: Judge,
    /// What is loaded next takes so many parts of [`WHOLE`].
    loaded: usize,
    room: usize,
    spill: &'a dyn Spill,
}

impl Rounds<'_> {
    /// Learns of how a round came to its end, and of its last count.
    fn turn(&mut self, stop: Stop, from: u64, last: u64) {
        (self.judge.ceiling, self.loaded) = match stop {
            // Merging took more than it was given.
            Stop::Full => (last, (self.loaded * 3 / 4).max(1)),
            _ => (from - 1, (self.loaded * 4 / 3 + 1).min(LOADED)),
        };
    }

    /// What words and pairs may take.
    fn free(&self) -> usize {
        self.room.saturating_sub(self.judge.bounds.memory())
    }

    /// The lowest count of pairs down to which all fits into memory.
    fn least_count<L: Learning>(&mut self, learning: &L) -> Result<u64> {
        let (mut spread, least, room) = (Spread::default(), learning.least(), self.free());
        let Rounds { store, judge, .. } = self;
        store.each(|symbols, _| {
            let mut most = 0;
            for pair in symbols.windows(2) {
                let bound = judge.most(pair[0], pair[1]);
                if bound >= least {
                    spread.of(bound).places += 1;
                }
                most = most.max(bound);
            }
            if most >= least {
                let word = spread.of(most);
                (word.cells, word.words) = (word.cells + symbols.len() + 1, word.words + 1);
            }
            Ok(())
        })?;
        for bound in judge.bounds.sums() {
            spread.of(bound.min(judge.ceiling)).pairs += 1;
        }
        spread.least_count(L::SIZES, room / WHOLE * self.loaded, room).map(|count| count.max(least))
    }

    /// The words that hold pairs that may occur so often.
    fn load(&mut self, learning: &mut impl Learning, from: u64) -> Result<()> {
        let Rounds { store, judge, .. } = self;
        let (mut cells, mut counts) = (Cells::default(), Vec::new());
        store.each(|symbols, count| {
            if judge.holds(symbols, from) {
                counts.push(count);
                cells.push(symbols.iter().copied())?;
            }
            Ok(())
        })?;
        learning.load(cells, counts, from, |left, right| judge.most(left, right) >= from);
        Ok(())
    }

    /// Writes all words as they are after a round.
    fn store_again(&mut self, learning: &mut impl Learning, from: u64) -> Result<()> {
        let (cells, taken) = learning.unload();
        let mut intake = Intake::new(self.room, self.spill)?;
        let (mut at, mut merged) = (Cells::FIRST, Vec::new());
        let Rounds { store, judge, .. } = self;
        let is_open = |left, right| learning.is_open(left, right);
        store.each(|symbols, count| {
            if !judge.holds(symbols, from) {
                return intake.push(symbols, count, is_open);
            }
            merged.clear();
            at = cells.word(at, &taken, &mut merged);
            intake.push(&merged, count, is_open)
        })?;
        (self.store, self.judge.bounds) = (intake.writer.finish()?, intake.bounds);
        Ok(())
    }
}

/// Tells how often pairs occur at the most.
struct Judge {
    bounds: Bounds,
    /// No pair occurs more often.
    ceiling: u64,
}

impl Judge {
    #[inline]
    fn most(&self, left: u32, right: u32) -> u64 {
        self.bounds.of(left, right).min(self.ceiling)
    }

    /// Whether some pair of a word may occur so often.
    fn holds(&self, symbols: &[u32], from: u64) -> bool {
        symbols.windows(2).any(|pair| self.most(pair[0], pair[1]) >= from)
    }
}
