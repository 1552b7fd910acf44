//! Learns within a memory limit, in rounds: the words are in a file, and each round loads the parts that it can merge.
//!
//! A round has a least count. It merges the pairs that occur at least that often, until none is left or memory is full.
//! The count of a pair only falls after the pair arises, and new pairs occur at most as often as the merged one. So
//! rarer pairs cannot matter in this round, nor can the pairs that they become when their halves are merged with
//! others. So a round loads only the *segments* of a word between two such pairs, and no single symbols. At the end of
//! a round the words go back to the file, where each symbol takes one place, and the least count of the next round is
//! lower. The exact counts of pairs are not known before a round, but [`Bounds`] prove which pairs, and so which
//! segments, are not needed. They take a fixed amount of memory, however many pairs there are. The least count is as
//! low as the memory allows, by the sizes of the segments and pairs of each frequency ([`Spread`]). So the merges are
//! those of a run with everything in memory, in the same order.
//!
//! A [`RoundLearner`] merges pairs in memory. Cost: each round reads the file three times and writes it once. Worst
//! input: a pair with more places than memory holds. It is merged as a stream ([`passes`]); if the learner keeps whole
//! words, it is an error.

use super::bounds::Bounds;
use super::cells::Cells;
use super::learner::StopReason;
use super::passes::{self, CountedPair, Merged, PairTally};
use super::spread::{ItemSizes, MemoryFit, Spread};
use super::store::{Store, StoreWriter};
use crate::error::{Error, Result};
use crate::train::counter::Spill;
use crate::train::room::{limit_for, megabytes};

/// Bounds of pairs take one `BOUNDS`-th of the room, and at most `MOST_BOUNDS` bytes, as more does not fit into a
/// processor cache.
const BOUNDS: usize = 8;
const MOST_BOUNDS: usize = 1 << 24;

/// Of the other memory, loading uses 1 to `LOADED` parts of [`WHOLE`]; merging grows into the remaining parts.
const LOADED: usize = 20;
const WHOLE: usize = 32;

/// Merges pairs of the words of one round, in memory.
pub(crate) trait RoundLearner {
    /// The sizes of what is in memory.
    const SIZES: ItemSizes;

    /// Words are loaded whole and never merged as a stream, because rare pairs matter too.
    const KEEPS_WHOLE_WORDS: bool;

    /// Pairs that occur less often are not merged; at least 1.
    fn least(&self) -> u64;

    /// False for a pair that is never merged from now on, however often it occurs.
    fn is_open(&self, left: u32, right: u32) -> bool;

    /// Takes the segments of a round with the counts of their words, and counts their open pairs that can be frequent.
    fn load(&mut self, cells: Cells, counts: Vec<u64>, from: u64, is_frequent: impl Fn(u32, u32) -> bool);

    /// Merges the pairs that occur at least `from` times, until memory exceeds `room`; at least one pair.
    fn run(&mut self, from: u64, room: usize) -> Result<StopReason>;

    /// The count of the pair merged last.
    fn last_count(&self) -> u64;

    /// Bytes that stay in memory between rounds.
    fn fixed_memory(&self) -> usize {
        0
    }

    /// Merges the best of these pairs without loading words, as long as the next one is certain. Returns the merges,
    /// and why merging stopped.
    fn merge_counted(&mut self, _pairs: Vec<CountedPair>) -> Result<(Vec<Merged>, StopReason)> {
        Ok((Vec::new(), StopReason::Exhausted))
    }

    /// Returns the current words, and the number of cells of each symbol.
    fn unload(&mut self) -> (Cells, Vec<u32>);
}

/// Collects the words to learn from.
pub(crate) struct Intake {
    writer: StoreWriter,
    bounds: Bounds,
}

impl Intake {
    /// An empty collection. Learning can take `room` bytes.
    pub fn new(room: usize, spill: &dyn Spill) -> Result<Intake> {
        let bounds = Bounds::within((room / BOUNDS).min(MOST_BOUNDS));
        Ok(Intake { writer: StoreWriter::new(spill.create()?), bounds })
    }

    /// Adds a word, if it has open pairs, which can still be merged.
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

    /// Learns from all words, until the requested number of symbols is reached or no pair is left to merge. It also
    /// stops at a pair with a known text, if the learner does not support that: then pairs can arise again, and the
    /// pairs that a round dropped can matter.
    pub fn learn<L: RoundLearner>(self, learning: &mut L, room: usize, spill: &dyn Spill) -> Result<StopReason> {
        let count_bounds = CountBounds { bounds: self.bounds, ceiling: u64::MAX };
        let mut rounds = Rounds { store: self.writer.finish()?, count_bounds, loaded: LOADED, room, spill };
        let least = learning.least();
        loop {
            let from = match rounds.least_count(learning)? {
                MemoryFit::DownTo(from) => from.max(least),
                MemoryFit::Nothing { bytes, .. } if L::KEEPS_WHOLE_WORDS => {
                    return Err(rounds.too_little(bytes, learning));
                }
                MemoryFit::Nothing { from, bytes } => match rounds.merge_stream(learning, from.max(least), bytes)? {
                    StopReason::Full => continue,
                    stop => return Ok(stop),
                },
            };
            rounds.load(learning, from)?;
            let stop = learning.run(from, rounds.free(learning))?;
            if matches!(stop, StopReason::Reached | StopReason::Known) || stop == StopReason::Exhausted && from == least
            {
                return Ok(stop);
            }
            rounds.store_round(learning, from)?;
            rounds.end_round(stop, from, learning.last_count());
        }
    }
}

/// The words to learn from, between rounds.
struct Rounds<'a> {
    store: Store,
    count_bounds: CountBounds,
    /// The parts of [`WHOLE`] that the next round loads.
    loaded: usize,
    room: usize,
    spill: &'a dyn Spill,
}

impl Rounds<'_> {
    /// Prepares the next round, given why the last one stopped and its last count.
    fn end_round(&mut self, stop: StopReason, from: u64, last: u64) {
        (self.count_bounds.ceiling, self.loaded) = match stop {
            // Merging took more memory than its part.
            StopReason::Full => (last, (self.loaded * 3 / 4).max(1)),
            _ => (from - 1, (self.loaded * 4 / 3 + 1).min(LOADED)),
        };
    }

    /// The memory for words and pairs.
    fn free(&self, learning: &impl RoundLearner) -> usize {
        self.room.saturating_sub(self.count_bounds.bounds.memory() + learning.fixed_memory())
    }

    fn too_little(&self, bytes: usize, learning: &impl RoundLearner) -> Error {
        let needed = (bytes + self.room - self.free(learning)) as u64;
        Error::Argument(format!(
            "training on these words takes at least {} of memory; raise max_memory to {}, or use a pattern with shorter \
             words",
            megabytes(needed),
            limit_for(needed)
        ))
    }

    /// The lowest count of pairs at which everything fits into memory.
    fn least_count<L: RoundLearner>(&mut self, learning: &L) -> Result<MemoryFit> {
        let (mut spread, least, room) = (Spread::default(), learning.least(), self.free(learning));
        let Rounds { store, count_bounds, .. } = self;
        let mut bounds = Vec::new();
        store.each(|symbols, _| {
            bounds.clear();
            bounds.extend(symbols.windows(2).map(|pair| count_bounds.most(pair[0], pair[1])));
            spread.add_places(&bounds, least);
            if L::KEEPS_WHOLE_WORDS {
                let most = bounds.iter().copied().max().unwrap_or(0);
                bounds.fill(most);
            }
            spread.add_segments(&bounds, least);
            Ok(())
        })?;
        count_bounds.bounds.sums().for_each(|bound| spread.add_pair(bound.min(count_bounds.ceiling)));
        Ok(spread.least_count(L::SIZES, room / WHOLE * self.loaded, room))
    }

    /// Loads the segments of pairs that can occur at least `from` times.
    fn load<L: RoundLearner>(&mut self, learning: &mut L, from: u64) -> Result<()> {
        let Rounds { store, count_bounds, .. } = self;
        let (mut cells, mut counts) = (Cells::default(), Vec::new());
        store.each(|symbols, count| {
            count_bounds.segments::<L>(symbols, from).filter(|segment| segment.len() > 1).try_for_each(|segment| {
                counts.push(count);
                cells.push(segment.iter().copied())
            })
        })?;
        learning.load(cells, counts, from, |left, right| count_bounds.most(left, right) >= from);
        Ok(())
    }

    /// Merges the best pairs as a stream; `Full` if more merges remain.
    fn merge_stream(&mut self, learning: &mut impl RoundLearner, from: u64, bytes: usize) -> Result<StopReason> {
        let tally = self.tally(from, self.free(learning))?;
        let mut pairs = tally.ok_or_else(|| self.too_little(bytes, learning))?.into_pairs();
        pairs.retain(|pair| pair.count >= from);
        let (merged, stop) = learning.merge_counted(pairs)?;
        if stop != StopReason::Full || merged.is_empty() && from <= learning.least() {
            return Ok(if stop == StopReason::Full { StopReason::Exhausted } else { stop });
        }
        self.count_bounds.ceiling = if merged.is_empty() { from - 1 } else { learning.last_count() };
        if !merged.is_empty() {
            self.store_merged(learning, &merged)?;
        }
        Ok(StopReason::Full)
    }

    /// Counts the pairs that can occur at least `from` times; None if they exceed `free` bytes.
    fn tally(&mut self, from: u64, free: usize) -> Result<Option<PairTally>> {
        let Rounds { store, count_bounds, .. } = self;
        let mut tally = PairTally::default();
        store.each(|symbols, count| {
            for pair in symbols.windows(2) {
                if tally.memory() <= free && count_bounds.most(pair[0], pair[1]) >= from {
                    tally.add(pair[0], pair[1], count);
                }
            }
            Ok(())
        })?;
        Ok((tally.memory() <= free).then_some(tally))
    }

    /// Writes all words with these pairs merged.
    fn store_merged(&mut self, learning: &impl RoundLearner, merged: &[Merged]) -> Result<()> {
        let mut intake = Intake::new(self.room, self.spill)?;
        let mut word = Vec::new();
        self.store.each(|symbols, count| {
            word.clear();
            word.extend_from_slice(symbols);
            merged.iter().for_each(|joined| passes::merge(&mut word, joined));
            intake.push(&word, count, |left, right| learning.is_open(left, right))
        })?;
        (self.store, self.count_bounds.bounds) = (intake.writer.finish()?, intake.bounds);
        Ok(())
    }

    /// Writes all words with the merges of a round.
    fn store_round<L: RoundLearner>(&mut self, learning: &mut L, from: u64) -> Result<()> {
        let (cells, taken) = learning.unload();
        let mut intake = Intake::new(self.room, self.spill)?;
        let (mut at, mut merged) = (Cells::FIRST, Vec::new());
        let Rounds { store, count_bounds, .. } = self;
        let is_open = |left, right| learning.is_open(left, right);
        store.each(|symbols, count| {
            merged.clear();
            for segment in count_bounds.segments::<L>(symbols, from) {
                match segment {
                    [symbol] => merged.push(*symbol),
                    _ => at = cells.word(at, &taken, &mut merged),
                }
            }
            intake.push(&merged, count, is_open)
        })?;
        (self.store, self.count_bounds.bounds) = (intake.writer.finish()?, intake.bounds);
        Ok(())
    }
}

/// The upper bounds of pair counts.
struct CountBounds {
    bounds: Bounds,
    /// No pair occurs more often.
    ceiling: u64,
}

impl CountBounds {
    #[inline]
    fn most(&self, left: u32, right: u32) -> u64 {
        self.bounds.of(left, right).min(self.ceiling)
    }

    /// Splits a word at pairs that occur less than `from` times. Segments of several symbols go into memory.
    fn segments<'s, L: RoundLearner>(&'s self, symbols: &'s [u32], from: u64) -> impl Iterator<Item = &'s [u32]> {
        let may_merge = move |left: u32, right: u32| self.most(left, right) >= from;
        let is_whole = L::KEEPS_WHOLE_WORDS && symbols.windows(2).any(|pair| may_merge(pair[0], pair[1]));
        symbols.chunk_by(move |&left, &right| is_whole || may_merge(left, right))
    }
}
