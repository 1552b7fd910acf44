//! Learns within a memory limit, in rounds. The words are in a file; each round loads only those parts of words whose
//! pairs it can merge.
//!
//! Each round has a minimum count, and merges the pairs whose count is at least this minimum, until no such pair
//! remains or the memory is full. The count of a pair only falls after the pair arises, and a new pair occurs at most
//! as often as the merged pair. So rarer pairs have no effect in the round. If a symbol of a rarer pair is merged with
//! another neighbour, the resulting pair is too rare as well. So a round splits words at the rare pairs and loads only
//! the *segments* of at least two symbols. At the end of a round the merged words are written to a new file, and the
//! next round has a lower minimum count. At the start of a round the exact counts of pairs are unknown, but upper
//! bounds of the counts ([`Bounds`]) prove that many pairs are too rare, and words are split at these pairs. The bounds
//! take a fixed amount of memory, for any number of pairs. The minimum count is as low as the memory allows;
//! [`MemorySpread`] computes it from the sizes of the segments and pairs of each frequency. The merges and their order
//! are the same as with all words in memory.
//!
//! A [`RoundLearner`] merges pairs in memory. Cost: each round reads the file three times and writes it once. Worst
//! input: a pair with more places than memory can hold. Such a pair is merged as a stream ([`stream`]); if the learner
//! keeps whole words, the pair is an error.

use polytok_memory::Grow;

use super::bounds::Bounds;
use super::cells::Cells;
use super::learner::StopReason;
use super::memory_spread::{ItemSizes, MemoryFit, MemorySpread};
use super::store::{StoreWriter, WordStore};
use super::stream::{self, CountedPair, PairTally, StreamMerge};
use crate::error::{Error, Result};
use crate::train::counter::Spill;
use crate::train::room::{format_megabytes, limit_leaving};

/// The bounds take the memory divided by `BOUNDS_DIVISOR`, but at most `MAX_BOUNDS` bytes, so that they fit into a
/// processor's cache.
const BOUNDS_DIVISOR: usize = 8;
const MAX_BOUNDS: usize = 1 << 24;

/// The memory without the bounds is divided into [`MEMORY_PARTS`] equal parts. At most `MAX_LOADED_PARTS` of them are
/// for loaded segments; the other parts are for the pairs that merging adds.
const MAX_LOADED_PARTS: usize = 20;
const MEMORY_PARTS: usize = 32;

/// Merges pairs of the words of one round, in memory.
pub(crate) trait RoundLearner {
    /// The sizes of the items in memory.
    const SIZES: ItemSizes;

    /// True if rare pairs affect the result too. Then words are loaded as a whole, and are never merged as a stream.
    const KEEPS_WHOLE_WORDS: bool;

    /// Returns the minimum count that a pair must have to be merged; at least 1.
    fn min_count(&self) -> u64;

    /// Reports whether a pair can still be merged.
    fn is_open(&self, left: u32, right: u32) -> bool;

    /// Loads the segments of a round with the counts of their words. Counts the pairs that are open and can be
    /// frequent.
    fn load(&mut self, cells: Cells, counts: Vec<u64>, from: u64, is_frequent: impl Fn(u32, u32) -> bool);

    /// Merges the pairs that occur at least `from` times, until memory exceeds `usable_memory`. Merges at least one
    /// pair.
    fn run(&mut self, from: u64, usable_memory: usize) -> Result<StopReason>;

    /// Returns the count of the pair that was merged last.
    fn last_count(&self) -> u64;

    /// Returns the number of bytes that stay in memory between rounds.
    fn fixed_memory(&self) -> usize {
        0
    }

    /// Selects the merges of these pairs without loading words, as long as the next best pair is certain. Returns the
    /// merges, and the reason why merging stopped.
    fn merge_counted(&mut self, _pairs: Vec<CountedPair>) -> Result<(Vec<StreamMerge>, StopReason)> {
        Ok((Vec::new(), StopReason::NoFrequentPair))
    }

    /// Returns the current words, and the number of cells of each symbol.
    fn take_words(&mut self) -> (Cells, Vec<u32>);
}

/// Writes the words to learn from to a file, and computes upper bounds of the counts of their pairs.
pub(crate) struct WordCollector {
    writer: StoreWriter,
    bounds: Bounds,
}

impl WordCollector {
    /// Creates an empty collection. Learning can use `usable_memory` bytes.
    pub fn new(usable_memory: usize, spill: &dyn Spill) -> Result<WordCollector> {
        let bounds = Bounds::with_memory((usable_memory / BOUNDS_DIVISOR).min(MAX_BOUNDS));
        Ok(WordCollector { writer: StoreWriter::new(spill.create()?), bounds })
    }

    /// Adds a word if one of its pairs can still be merged.
    pub fn push(&mut self, symbols: &[u32], count: u64, is_open: impl Fn(u32, u32) -> bool) -> Result<()> {
        let mut has_no_open_pair = true;
        for pair in symbols.windows(2) {
            if is_open(pair[0], pair[1]) {
                self.bounds.add(pair[0], pair[1], count);
                has_no_open_pair = false;
            }
        }
        if has_no_open_pair { Ok(()) } else { self.writer.push(symbols, count) }
    }

    /// Learns from all words, until the requested number of symbols is reached or no pair can be merged. Also stops at
    /// a pair with the text of an existing symbol if the learner does not support this case: then even pairs that a
    /// round has dropped can arise again.
    pub fn learn<L: RoundLearner>(
        self,
        learner: &mut L,
        usable_memory: usize,
        spill: &dyn Spill,
    ) -> Result<StopReason> {
        let count_bounds = CountBounds { bounds: self.bounds, highest_count: u64::MAX };
        let mut rounds = Rounds {
            store: self.writer.finish()?,
            count_bounds,
            loading_parts: MAX_LOADED_PARTS,
            usable_memory,
            spill,
        };
        let min_count = learner.min_count();
        loop {
            let from = match rounds.find_lowest_count(learner)? {
                MemoryFit::DownTo(from) => from.max(min_count),
                MemoryFit::NothingFits { bytes, .. } if L::KEEPS_WHOLE_WORDS => {
                    return Err(rounds.memory_error(bytes, learner));
                }
                MemoryFit::NothingFits { from, bytes } => {
                    match rounds.merge_stream(learner, from.max(min_count), bytes)? {
                        StopReason::MemoryFull => continue,
                        stop_reason => return Ok(stop_reason),
                    }
                }
            };
            rounds.load(learner, from)?;
            let stop_reason = learner.run(from, rounds.available_memory(learner))?;
            if matches!(stop_reason, StopReason::SizeReached | StopReason::KnownText)
                || stop_reason == StopReason::NoFrequentPair && from == min_count
            {
                return Ok(stop_reason);
            }
            rounds.store_after_round(learner, from)?;
            rounds.end_round(stop_reason, from, learner.last_count());
        }
    }
}

/// The state between two rounds: the words, and the bounds of pair counts.
struct Rounds<'a> {
    store: WordStore,
    count_bounds: CountBounds,
    /// The next round uses `loading_parts` of [`MEMORY_PARTS`] parts of the memory for loaded segments.
    loading_parts: usize,
    usable_memory: usize,
    spill: &'a dyn Spill,
}

impl Rounds<'_> {
    /// Chooses the limits of the next round from the reason for the end of this round and from the count of its last
    /// merge.
    fn end_round(&mut self, stop_reason: StopReason, from: u64, last_count: u64) {
        (self.count_bounds.highest_count, self.loading_parts) = match stop_reason {
            // The round filled the memory, so the next round loads less.
            StopReason::MemoryFull => (last_count, (self.loading_parts * 3 / 4).max(1)),
            _ => (from - 1, (self.loading_parts * 4 / 3 + 1).min(MAX_LOADED_PARTS)),
        };
    }

    /// Returns the memory for words and pairs.
    fn available_memory(&self, learner: &impl RoundLearner) -> usize {
        self.usable_memory.saturating_sub(self.count_bounds.bounds.memory() + learner.fixed_memory())
    }

    fn memory_error(&self, bytes: usize, learner: &impl RoundLearner) -> Error {
        let needed = (bytes + self.usable_memory - self.available_memory(learner)) as u64;
        Error::Argument(format!(
            "training on these words takes at least {} of memory; raise max_memory to {}, or use a pattern with \
             shorter words",
            format_megabytes(needed),
            limit_leaving(needed)
        ))
    }

    /// Finds the lowest minimum count at which all segments fit into memory.
    fn find_lowest_count<L: RoundLearner>(&mut self, learner: &L) -> Result<MemoryFit> {
        let (mut spread, min_count, usable_memory) =
            (MemorySpread::default(), learner.min_count(), self.available_memory(learner));
        let Rounds { store, count_bounds, .. } = self;
        let mut bounds = Vec::new();
        store.for_each_word(|symbols, _| {
            bounds.clear();
            bounds.checked_extend(symbols.windows(2).map(|pair| count_bounds.upper_bound(pair[0], pair[1])));
            spread.add_places(&bounds, min_count);
            if L::KEEPS_WHOLE_WORDS {
                let upper_bound = bounds.iter().copied().max().unwrap_or(0);
                bounds.fill(upper_bound);
            }
            spread.add_segments(&bounds, min_count);
            Ok(())
        })?;
        count_bounds.bounds.nonzero_sums().for_each(|bound| spread.add_pair(bound.min(count_bounds.highest_count)));
        Ok(spread.lowest_count(L::SIZES, usable_memory / MEMORY_PARTS * self.loading_parts, usable_memory))
    }

    /// Loads the segments of adjacent pairs that can occur at least `from` times.
    fn load<L: RoundLearner>(&mut self, learner: &mut L, from: u64) -> Result<()> {
        let Rounds { store, count_bounds, .. } = self;
        let (mut cells, mut counts) = (Cells::default(), Vec::new());
        store.for_each_word(|symbols, count| {
            count_bounds.segments::<L>(symbols, from).filter(|segment| segment.len() > 1).try_for_each(|segment| {
                counts.checked_push(count);
                cells.push(segment.iter().copied())
            })
        })?;
        learner.load(cells, counts, from, |left, right| count_bounds.upper_bound(left, right) >= from);
        Ok(())
    }

    /// Merges the best pairs as a stream. Returns `StopReason::MemoryFull` if further merges are possible.
    fn merge_stream(&mut self, learner: &mut impl RoundLearner, from: u64, bytes: usize) -> Result<StopReason> {
        let tally = self.tally_pairs(from, self.available_memory(learner))?;
        let mut pairs = tally.ok_or_else(|| self.memory_error(bytes, learner))?.into_pairs();
        pairs.retain(|pair| pair.count >= from);
        let (merged, stop_reason) = learner.merge_counted(pairs)?;
        if stop_reason != StopReason::MemoryFull || merged.is_empty() && from <= learner.min_count() {
            return Ok(if stop_reason == StopReason::MemoryFull { StopReason::NoFrequentPair } else { stop_reason });
        }
        self.count_bounds.highest_count = if merged.is_empty() { from - 1 } else { learner.last_count() };
        if !merged.is_empty() {
            self.store_after_merges(learner, &merged)?;
        }
        Ok(StopReason::MemoryFull)
    }

    /// Counts the pairs that can occur at least `from` times. Returns `None` if the counted pairs exceed `max_bytes`
    /// bytes.
    fn tally_pairs(&mut self, from: u64, max_bytes: usize) -> Result<Option<PairTally>> {
        let Rounds { store, count_bounds, .. } = self;
        let mut tally = PairTally::default();
        store.for_each_word(|symbols, count| {
            for pair in symbols.windows(2) {
                if tally.memory() <= max_bytes && count_bounds.upper_bound(pair[0], pair[1]) >= from {
                    tally.add(pair[0], pair[1], count);
                }
            }
            Ok(())
        })?;
        Ok((tally.memory() <= max_bytes).then_some(tally))
    }

    /// Writes all words to a new file, with the given pairs merged.
    fn store_after_merges(&mut self, learner: &impl RoundLearner, merged: &[StreamMerge]) -> Result<()> {
        let mut collector = WordCollector::new(self.usable_memory, self.spill)?;
        let mut word = Vec::new();
        self.store.for_each_word(|symbols, count| {
            word.clear();
            word.checked_extend_from_slice(symbols);
            merged.iter().for_each(|merge| stream::merge(&mut word, merge));
            collector.push(&word, count, |left, right| learner.is_open(left, right))
        })?;
        (self.store, self.count_bounds.bounds) = (collector.writer.finish()?, collector.bounds);
        Ok(())
    }

    /// Writes all words to a new file, with the merges of a round.
    fn store_after_round<L: RoundLearner>(&mut self, learner: &mut L, from: u64) -> Result<()> {
        let (cells, cell_counts) = learner.take_words();
        let mut collector = WordCollector::new(self.usable_memory, self.spill)?;
        let (mut at, mut merged) = (Cells::FIRST_POSITION, Vec::new());
        let Rounds { store, count_bounds, .. } = self;
        let is_open = |left, right| learner.is_open(left, right);
        store.for_each_word(|symbols, count| {
            merged.clear();
            for segment in count_bounds.segments::<L>(symbols, from) {
                match segment {
                    [symbol] => merged.checked_push(*symbol),
                    _ => at = cells.word(at, &cell_counts, &mut merged),
                }
            }
            collector.push(&merged, count, is_open)
        })?;
        (self.store, self.count_bounds.bounds) = (collector.writer.finish()?, collector.bounds);
        Ok(())
    }
}

/// The upper bounds of pair counts.
struct CountBounds {
    bounds: Bounds,
    /// An upper bound of the counts of all pairs.
    highest_count: u64,
}

impl CountBounds {
    #[inline]
    fn upper_bound(&self, left: u32, right: u32) -> u64 {
        self.bounds.get(left, right).min(self.highest_count)
    }

    /// Splits a word into segments, at the pairs that occur less than `from` times.
    fn segments<'s, L: RoundLearner>(&'s self, symbols: &'s [u32], from: u64) -> impl Iterator<Item = &'s [u32]> {
        let can_merge = move |left: u32, right: u32| self.upper_bound(left, right) >= from;
        let is_whole = L::KEEPS_WHOLE_WORDS && symbols.windows(2).any(|pair| can_merge(pair[0], pair[1]));
        symbols.chunk_by(move |&left, &right| is_whole || can_merge(left, right))
    }
}
