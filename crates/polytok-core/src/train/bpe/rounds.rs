//! Learning within a memory limit, in rounds: the words lie in a file, and each round holds those that it may merge.
//!
//! A round merges the pairs that occur so often or more, until none does, or memory is used up. Counts of pairs only fall once
//! the pair is there, and new pairs occur no more often than the one that was merged: so a pair that occurs less often than the
//! round's least count has no say in it, nor has what it becomes when its halves are merged with others. So a round holds no
//! more of a word than the *stretches* between two such pairs, and no single symbols. At the end of a round the words go back to
//! the file, where each symbol takes a place, and the next round's least count is lower. How often pairs occur is not
//! known exactly before a round, but [`Bounds`] tell which pairs, so which stretches, need not be held; and they do so in fixed
//! memory, however many pairs there are. The least count is as low as the memory allows, by the sums of what stretches and pairs
//! of each frequency take ([`Spread`]). So the merges are those of a run with everything in memory, in the same order.
//!
//! How pairs are merged in memory is told by whoever learns ([`Learning`]). Cost: each round reads the file three times and writes
//! it once. Worst input: a pair that stands in more places than memory holds. It is merged as the words pass by ([`passes`]), or an
//! error where words are held whole.

use super::bounds::Bounds;
use super::cells::Cells;
use super::learner::Stop;
use super::passes::{self, Joined, Passed, Tally};
use super::spread::{Fit, Sizes, Spread};
use super::store::{Store, StoreWriter};
use crate::error::{Error, Result};
use crate::train::counter::Spill;
use crate::train::room::{limit_for, megabytes};

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

    /// Words are held whole, and no pair is merged as they pass by, for rare pairs matter too.
    const HOLDS_WHOLE: bool;

    /// Pairs that occur less often are not merged; 1 or more.
    fn least(&self) -> u64;

    /// False for a pair that is not merged from now on, however often it occurs.
    fn is_open(&self, left: u32, right: u32) -> bool;

    /// Takes the stretches of a round with the counts of their words, and counts those of their open pairs that may be frequent.
    fn load(&mut self, cells: Cells, counts: Vec<u64>, from: u64, is_frequent: impl Fn(u32, u32) -> bool);

    /// Merges the pairs that occur so often or more, and at least one before so many bytes are too few.
    fn run(&mut self, from: u64, room: usize) -> Result<Stop>;

    /// How often the pair occurred that was merged last.
    fn last_count(&self) -> u64;

    /// Bytes that are kept from round to round.
    fn kept(&self) -> usize {
        0
    }

    /// Merges the best of these pairs without any word, as many as are certain; the symbols that they make, and how merging ended.
    fn merge_passed(&mut self, _pairs: Vec<Passed>) -> Result<(Vec<Joined>, Stop)> {
        Ok((Vec::new(), Stop::Exhausted))
    }

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
    pub fn learn<L: Learning>(self, learning: &mut L, room: usize, spill: &dyn Spill) -> Result<Stop> {
        let judge = Judge { bounds: self.bounds, ceiling: u64::MAX };
        let mut rounds = Rounds { store: self.writer.finish()?, judge, loaded: LOADED, room, spill };
        let least = learning.least();
        loop {
            let from = match rounds.least_count(learning)? {
                Fit::DownTo(from) => from.max(least),
                Fit::Nothing { bytes, .. } if L::HOLDS_WHOLE => return Err(rounds.too_little(bytes, learning)),
                Fit::Nothing { from, bytes } => match rounds.pass(learning, from.max(least), bytes)? {
                    Stop::Full => continue,
                    stop => return Ok(stop),
                },
            };
            rounds.load(learning, from)?;
            let stop = learning.run(from, rounds.free(learning))?;
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
    fn free(&self, learning: &impl Learning) -> usize {
        self.room.saturating_sub(self.judge.bounds.memory() + learning.kept())
    }

    fn too_little(&self, bytes: usize, learning: &impl Learning) -> Error {
        let needed = (bytes + self.room - self.free(learning)) as u64;
        Error::Argument(format!(
            "learning from these words takes {} of memory at least: raise max_memory to {}, or cut texts into shorter words",
            megabytes(needed),
            limit_for(needed)
        ))
    }

    /// The lowest count of pairs down to which all fits into memory.
    fn least_count<L: Learning>(&mut self, learning: &L) -> Result<Fit> {
        let (mut spread, least, room) = (Spread::default(), learning.least(), self.free(learning));
        let Rounds { store, judge, .. } = self;
        let mut bounds = Vec::new();
        store.each(|symbols, _| {
            bounds.clear();
            bounds.extend(symbols.windows(2).map(|pair| judge.most(pair[0], pair[1])));
            spread.add_places(&bounds, least);
            if L::HOLDS_WHOLE {
                let most = bounds.iter().copied().max().unwrap_or(0);
                bounds.fill(most);
            }
            spread.add_stretches(&bounds, least);
            Ok(())
        })?;
        judge.bounds.sums().for_each(|bound| spread.add_pair(bound.min(judge.ceiling)));
        Ok(spread.least_count(L::SIZES, room / WHOLE * self.loaded, room))
    }

    /// The stretches of pairs that may occur so often.
    fn load<L: Learning>(&mut self, learning: &mut L, from: u64) -> Result<()> {
        let Rounds { store, judge, .. } = self;
        let (mut cells, mut counts) = (Cells::default(), Vec::new());
        store.each(|symbols, count| {
            judge.stretches::<L>(symbols, from).filter(|stretch| stretch.len() > 1).try_for_each(|stretch| {
                counts.push(count);
                cells.push(stretch.iter().copied())
            })
        })?;
        learning.load(cells, counts, from, |left, right| judge.most(left, right) >= from);
        Ok(())
    }

    /// Merges the best pairs while the words pass by; `Full` if there is more to do.
    fn pass(&mut self, learning: &mut impl Learning, from: u64, bytes: usize) -> Result<Stop> {
        let tally = self.tally(from, self.free(learning))?;
        let mut pairs = tally.ok_or_else(|| self.too_little(bytes, learning))?.into_pairs();
        pairs.retain(|pair| pair.count >= from);
        let (merged, stop) = learning.merge_passed(pairs)?;
        if stop != Stop::Full || merged.is_empty() && from <= learning.least() {
            return Ok(if stop == Stop::Full { Stop::Exhausted } else { stop });
        }
        self.judge.ceiling = if merged.is_empty() { from - 1 } else { learning.last_count() };
        if !merged.is_empty() {
            self.store_merged(learning, &merged)?;
        }
        Ok(Stop::Full)
    }

    /// Counts the pairs that may occur so often; none if there are too many of them.
    fn tally(&mut self, from: u64, free: usize) -> Result<Option<Tally>> {
        let Rounds { store, judge, .. } = self;
        let mut tally = Tally::default();
        store.each(|symbols, count| {
            for pair in symbols.windows(2) {
                if tally.memory() <= free && judge.most(pair[0], pair[1]) >= from {
                    tally.add(pair[0], pair[1], count);
                }
            }
            Ok(())
        })?;
        Ok((tally.memory() <= free).then_some(tally))
    }

    /// Writes all words with these pairs merged.
    fn store_merged(&mut self, learning: &impl Learning, merged: &[Joined]) -> Result<()> {
        let mut intake = Intake::new(self.room, self.spill)?;
        let mut word = Vec::new();
        self.store.each(|symbols, count| {
            word.clear();
            word.extend_from_slice(symbols);
            merged.iter().for_each(|joined| passes::merge(&mut word, joined));
            intake.push(&word, count, |left, right| learning.is_open(left, right))
        })?;
        (self.store, self.judge.bounds) = (intake.writer.finish()?, intake.bounds);
        Ok(())
    }

    /// Writes all words as they are after a round.
    fn store_again<L: Learning>(&mut self, learning: &mut L, from: u64) -> Result<()> {
        let (cells, taken) = learning.unload();
        let mut intake = Intake::new(self.room, self.spill)?;
        let (mut at, mut merged) = (Cells::FIRST, Vec::new());
        let Rounds { store, judge, .. } = self;
        let is_open = |left, right| learning.is_open(left, right);
        store.each(|symbols, count| {
            merged.clear();
            for stretch in judge.stretches::<L>(symbols, from) {
                match stretch {
                    [symbol] => merged.push(*symbol),
                    _ => at = cells.word(at, &taken, &mut merged),
                }
            }
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

    /// A word cut where a pair occurs less often; what has several symbols is held in memory.
    fn stretches<'s, L: Learning>(&'s self, symbols: &'s [u32], from: u64) -> impl Iterator<Item = &'s [u32]> {
        let may_merge = move |left: u32, right: u32| self.most(left, right) >= from;
        let is_whole = L::HOLDS_WHOLE && symbols.windows(2).any(|pair| may_merge(pair[0], pair[1]));
        symbols.chunk_by(move |&left, &right| is_whole || may_merge(left, right))
    }
}
