//! Learns within a memory limit, in rounds: the words are in a file, and each round loads the parts of words that the
//! round can merge.
//!
//! A round has a minimum count. A round merges the pairs whose count is at least this minimum, until no such pair
//! remains or the memory is full. The count of a pair only falls after the pair arises, and a new pair occurs at most
//! as often as the merged pair. So rarer pairs have no effect in the round. If a symbol of a rarer pair is merged with
//! another neighbour, the resulting pair is too rare as well. So a round splits words at the rare pairs and loads only
//! the *segments* of at least two symbols. At the end of a round the words are written to a file again, where each
//! symbol takes one cell, and the next round has a lower minimum count. The exact counts of pairs are not known before
//! a round, but [`Bounds`] prove that some pairs are too rare, so the segments of words are known. Bounds take a fixed
//! amount of memory, for any number of pairs. The minimum count is as low as the memory allows; [`Spread`] computes it
//! from the sizes of the segments and pairs of each frequency. The result is the same merges, in the same order, as
//! learning with all words in memory.
//!
//! A [`RoundLearner`] merges pairs in memory. Cost: each round reads the file three times and writes it once. Worst
//! input: a pair with more places than memory can hold. Such a pair is merged as a stream ([`passes`]); if the learner
//! keeps whole words, the pair is an error.

use super::bounds::Bounds;
use super::cells::Cells;
use super::learner::StopReason;
use super::passes::{self, CountedPair, Merged, PairTally};
use super::spread::{ItemSizes, MemoryFit, Spread};
use super::store::{Store, StoreWriter};
use crate::error::{Error, Result};
use crate::train::counter::Spill;
use crate::train::room::{limit_for, megabytes};

/// The divisor of the room that yields the memory for bounds. `MAX_BOUNDS` limits this memory, in bytes, to the size of
/// a processor's cache.
const BOUNDS_DIVISOR: usize = 8;
const MAX_BOUNDS: usize = 1 << 24;

/// The memory without the bounds consists of [`MEMORY_PARTS`] equal parts. `MAX_LOADED_PARTS` is the highest number of
/// parts for loading; the other parts are for merging.
const MAX_LOADED_PARTS: usize = 20;
const MEMORY_PARTS: usize = 32;

/// Merges pairs of the words of one round, in memory.
pub(crate) trait RoundLearner {
    /// The sizes of the items in memory.
    const SIZES: ItemSizes;

    /// Whether words are loaded whole and are never merged as a stream. True if rare pairs also affect the result.
    const KEEPS_WHOLE_WORDS: bool;

    /// Returns the minimum count of a merged pair, which is at least 1.
    fn min_count(&self) -> u64;

    /// Reports whether a pair is open: whether the pair can still be merged.
    fn is_open(&self, left: u32, right: u32) -> bool;

    /// Loads the segments of a round with their word counts, and counts the open pairs that can be frequent.
    fn load(&mut self, cells: Cells, counts: Vec<u64>, from: u64, is_frequent: impl Fn(u32, u32) -> bool);

    /// Merges the pairs that occur at least `from` times, until memory exceeds `room`. Merges at least one pair.
    fn run(&mut self, from: u64, room: usize) -> Result<StopReason>;

    /// Returns the count of the pair that was merged last.
    fn last_count(&self) -> u64;

    /// Returns the number of bytes that stay in memory between rounds.
    fn fixed_memory(&self) -> usize {
        0
    }

    /// Merges the best of these pairs without loading words, as long as the next merge is certain. Returns the merges,
    /// and the reason why merging stopped.
    fn merge_counted(&mut self, _pairs: Vec<CountedPair>) -> Result<(Vec<Merged>, StopReason)> {
        Ok((Vec::new(), StopReason::Exhausted))
    }

    /// Returns the current words, and the number of cells of each symbol.
    fn unload(&mut self) -> (Cells, Vec<u32>);
}

/// Collects the words that a learner learns from.
pub(crate) struct Intake {
    writer: StoreWriter,
    bounds: Bounds,
}

impl Intake {
    /// Creates an empty collection. Learning can use `room` bytes.
    pub fn new(room: usize, spill: &dyn Spill) -> Result<Intake> {
        let bounds = Bounds::within((room / BOUNDS_DIVISOR).min(MAX_BOUNDS));
        Ok(Intake { writer: StoreWriter::new(spill.create()?), bounds })
    }

    /// Adds a word, if it has an open pair.
    pub fn push(&mut self, symbols: &[u32], count: u64, is_open: impl Fn(u32, u32) -> bool) -> Result<()> {
        let mut is_closed = true;
        for pair in symbols.windows(2) {
            if is_open(pair[0], pair[1]) {
                self.bounds.add(pair[0], pair[1], count);
                is_closed = false;
            }
        }
        if is_closed { Ok(()) } else { self.writer.push(symbols, count) }
    }

    /// Learns from all words, until the requested number of symbols is reached or no pair can be merged. Also stops at
    /// a pair with the text of an existing symbol, if the learner does not support this case, in which pairs that a
    /// round has dropped can arise again.
    pub fn learn<L: RoundLearner>(self, learner: &mut L, room: usize, spill: &dyn Spill) -> Result<StopReason> {
        let count_bounds = CountBounds { bounds: self.bounds, ceiling: u64::MAX };
        let mut rounds =
            Rounds { store: self.writer.finish()?, count_bounds, loaded_parts: MAX_LOADED_PARTS, room, spill };
        let min_count = learner.min_count();
        loop {
            let from = match rounds.lowest_count(learner)? {
                MemoryFit::DownTo(from) => from.max(min_count),
                MemoryFit::NotEvenHighest { bytes, .. } if L::KEEPS_WHOLE_WORDS => {
                    return Err(rounds.too_little_memory(bytes, learner));
                }
                MemoryFit::NotEvenHighest { from, bytes } => {
                    match rounds.merge_stream(learner, from.max(min_count), bytes)? {
                        StopReason::Full => continue,
                        stop => return Ok(stop),
                    }
                }
            };
            rounds.load(learner, from)?;
            let stop = learner.run(from, rounds.free(learner))?;
            if matches!(stop, StopReason::Reached | StopReason::Known)
                || stop == StopReason::Exhausted && from == min_count
            {
                return Ok(stop);
            }
            rounds.store_round(learner, from)?;
            rounds.end_round(stop, from, learner.last_count());
        }
    }
}

/// The words and the bounds between two rounds.
struct Rounds<'a> {
    store: Store,
    count_bounds: CountBounds,
    /// The number of parts of the memory, out of [`MEMORY_PARTS`], that the next round uses for loading.
    loaded_parts: usize,
    room: usize,
    spill: &'a dyn Spill,
}

impl Rounds<'_> {
    /// Prepares the next round, from the reason why the last round stopped and the count of the last merge.
    fn end_round(&mut self, stop: StopReason, from: u64, last: u64) {
        (self.count_bounds.ceiling, self.loaded_parts) = match stop {
            // Merging exceeded its share of the memory.
            StopReason::Full => (last, (self.loaded_parts * 3 / 4).max(1)),
            _ => (from - 1, (self.loaded_parts * 4 / 3 + 1).min(MAX_LOADED_PARTS)),
        };
    }

    /// Returns the memory for words and pairs.
    fn free(&self, learner: &impl RoundLearner) -> usize {
        self.room.saturating_sub(self.count_bounds.bounds.memory() + learner.fixed_memory())
    }

    fn too_little_memory(&self, bytes: usize, learner: &impl RoundLearner) -> Error {
        let needed = (bytes + self.room - self.free(learner)) as u64;
        Error::Argument(format!(
            "training on these words takes at least {} of memory; raise max_memory to {}, or use a pattern with \
             shorter words",
            megabytes(needed),
            limit_for(needed)
        ))
    }

    /// Returns the lowest minimum count at which all segments fit into memory.
    fn lowest_count<L: RoundLearner>(&mut self, learner: &L) -> Result<MemoryFit> {
        let (mut spread, min_count, room) = (Spread::default(), learner.min_count(), self.free(learner));
        let Rounds { store, count_bounds, .. } = self;
        let mut bounds = Vec::new();
        store.each(|symbols, _| {
            bounds.clear();
            bounds.extend(symbols.windows(2).map(|pair| count_bounds.upper_bound(pair[0], pair[1])));
            spread.add_places(&bounds, min_count);
            if L::KEEPS_WHOLE_WORDS {
                let upper_bound = bounds.iter().copied().max().unwrap_or(0);
                bounds.fill(upper_bound);
            }
            spread.add_segments(&bounds, min_count);
            Ok(())
        })?;
        count_bounds.bounds.sums().for_each(|bound| spread.add_pair(bound.min(count_bounds.ceiling)));
        Ok(spread.lowest_count(L::SIZES, room / MEMORY_PARTS * self.loaded_parts, room))
    }

    /// Loads the segments of pairs that can occur at least `from` times.
    fn load<L: RoundLearner>(&mut self, learner: &mut L, from: u64) -> Result<()> {
        let Rounds { store, count_bounds, .. } = self;
        let (mut cells, mut counts) = (Cells::default(), Vec::new());
        store.each(|symbols, count| {
            count_bounds.segments::<L>(symbols, from).filter(|segment| segment.len() > 1).try_for_each(|segment| {
                counts.push(count);
                cells.push(segment.iter().copied())
            })
        })?;
        learner.load(cells, counts, from, |left, right| count_bounds.upper_bound(left, right) >= from);
        Ok(())
    }

    /// Merges the best pairs as a stream. Returns `StopReason::Full` if further merges are possible.
    fn merge_stream(&mut self, learner: &mut impl RoundLearner, from: u64, bytes: usize) -> Result<StopReason> {
        let tally = self.tally(from, self.free(learner))?;
        let mut pairs = tally.ok_or_else(|| self.too_little_memory(bytes, learner))?.into_pairs();
        pairs.retain(|pair| pair.count >= from);
        let (merged, stop) = learner.merge_counted(pairs)?;
        if stop != StopReason::Full || merged.is_empty() && from <= learner.min_count() {
            return Ok(if stop == StopReason::Full { StopReason::Exhausted } else { stop });
        }
        self.count_bounds.ceiling = if merged.is_empty() { from - 1 } else { learner.last_count() };
        if !merged.is_empty() {
            self.store_merged(learner, &merged)?;
        }
        Ok(StopReason::Full)
    }

    /// Counts the pairs that can occur at least `from` times. Returns `None` if the counted pairs exceed `free` bytes.
    fn tally(&mut self, from: u64, free: usize) -> Result<Option<PairTally>> {
        let Rounds { store, count_bounds, .. } = self;
        let mut tally = PairTally::default();
        store.each(|symbols, count| {
            for pair in symbols.windows(2) {
                if tally.memory() <= free && count_bounds.upper_bound(pair[0], pair[1]) >= from {
                    tally.add(pair[0], pair[1], count);
                }
            }
            Ok(())
        })?;
        Ok((tally.memory() <= free).then_some(tally))
    }

    /// Writes all words again, with these pairs merged.
    fn store_merged(&mut self, learner: &impl RoundLearner, merged: &[Merged]) -> Result<()> {
        let mut intake = Intake::new(self.room, self.spill)?;
        let mut word = Vec::new();
        self.store.each(|symbols, count| {
            word.clear();
            word.extend_from_slice(symbols);
            merged.iter().for_each(|merge| passes::merge(&mut word, merge));
            intake.push(&word, count, |left, right| learner.is_open(left, right))
        })?;
        (self.store, self.count_bounds.bounds) = (intake.writer.finish()?, intake.bounds);
        Ok(())
    }

    /// Writes all words again, with the merges of a round.
    fn store_round<L: RoundLearner>(&mut self, learner: &mut L, from: u64) -> Result<()> {
        let (cells, cell_counts) = learner.unload();
        let mut intake = Intake::new(self.room, self.spill)?;
        let (mut at, mut merged) = (Cells::FIRST, Vec::new());
        let Rounds { store, count_bounds, .. } = self;
        let is_open = |left, right| learner.is_open(left, right);
        store.each(|symbols, count| {
            merged.clear();
            for segment in count_bounds.segments::<L>(symbols, from) {
                match segment {
                    [symbol] => merged.push(*symbol),
                    _ => at = cells.word(at, &cell_counts, &mut merged),
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
    /// The highest count that a pair can have.
    ceiling: u64,
}

impl CountBounds {
    #[inline]
    fn upper_bound(&self, left: u32, right: u32) -> u64 {
        self.bounds.get(left, right).min(self.ceiling)
    }

    /// Splits a word at pairs that occur less than `from` times. Segments of several symbols are loaded into memory.
    fn segments<'s, L: RoundLearner>(&'s self, symbols: &'s [u32], from: u64) -> impl Iterator<Item = &'s [u32]> {
        let can_merge = move |left: u32, right: u32| self.upper_bound(left, right) >= from;
        let is_whole = L::KEEPS_WHOLE_WORDS && symbols.windows(2).any(|pair| can_merge(pair[0], pair[1]));
        symbols.chunk_by(move |&left, &right| is_whole || can_merge(left, right))
    }
}
