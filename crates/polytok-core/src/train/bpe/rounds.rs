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
//! Cost: each round reads the file three times and writes it once. Worst input: one word that is longer than what memory
//! holds, which is an error.

use super::bounds::Bounds;
use super::cells::Cells;
use super::learner::{Learner, Stop};
use super::start::each_word;
use super::store::{Store, StoreWriter};
use super::{Learnt, Limits, Rules, Watch, add};
use crate::error::{Error, Result};
use crate::train::counter::{Spill, WordCounter};

/// Bounds of pairs take such a part of the room, and at the most so many bytes, as more would fit no cache of the processor.
const BOUNDS: usize = 8;
const MOST_BOUNDS: usize = 1 << 24;

/// Of the rest, what is loaded takes at the most so many parts of [`WHOLE`], and at the least one; merging grows into the others.
const LOADED: usize = 20;
const WHOLE: usize = 32;

/// Bytes for each cell, word, place and pair of what is loaded.
const CELL: usize = 4;
const WORD: usize = 8;
const PLACE: usize = 12;
const PAIR: usize = 160;

/// Frequencies are told apart by their powers of two, and by this many bits behind the first.
const BITS: u32 = 3;

/// What is learnt from.
struct Rounds<'a> {
    store: Store,
    judge: Judge,
    /// What is loaded next takes so many parts of [`WHOLE`].
    loaded: usize,
    rules: &'a Rules,
    room: usize,
    spill: &'a dyn Spill,
}

/// Learns merges behind those of `learnt`, which has none. None if a pair makes a text that is known: then pairs may come again,
/// and what a round forgot may matter.
pub(super) fn learn(
    words: &mut WordCounter,
    mut learnt: Learnt,
    rules: &Rules,
    room: usize,
    spill: &dyn Spill,
    watch: &mut impl Watch,
) -> Result<Option<Learnt>> {
    let mut sum = 0;
    let (mut writer, mut bounds) = (StoreWriter::new(spill.create()?), new_bounds(room));
    each_word(words, &learnt.texts, rules, watch, |symbols, count| {
        sum = add(sum, symbols, count)?;
        write(&mut writer, &mut bounds, symbols, count)
    })?;
    let lengths = vec![1; learnt.texts.len()];
    let judge = Judge { bounds, ceiling: u64::MAX, lengths, below: rules.limits.below_length };
    let mut rounds = Rounds { store: writer.finish()?, judge, loaded: LOADED, rules, room, spill };
    let least = rules.limits.min_count.max(1);
    loop {
        let from = rounds.least_count()?;
        let mut learner = rounds.load(from)?;
        learner.stop_at(room.saturating_sub(rounds.judge.bounds.memory()), !rules.affixes.is_none());
        let stop = learner.run(&mut learnt, watch)?;
        if stop == Stop::Reached || stop == Stop::Exhausted && from == least {
            return Ok(Some(learnt));
        }
        if stop == Stop::Known {
            return Ok(None);
        }
        rounds.store_again(learner, from)?;
        rounds.turn(stop, from, learnt.merges.last().map_or(u64::MAX, |merge| merge.count));
    }
}

fn new_bounds(room: usize) -> Bounds {
    Bounds::within((room / BOUNDS).min(MOST_BOUNDS))
}

/// Writes a word, if there is something to merge in it.
fn write(writer: &mut StoreWriter, bounds: &mut Bounds, symbols: &[u32], count: u64) -> Result<()> {
    for pair in symbols.windows(2) {
        bounds.add(pair[0], pair[1], count);
    }
    if symbols.len() > 1 { writer.push(symbols, count) } else { Ok(()) }
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

    /// The lowest count of pairs down to which all fits into memory.
    fn least_count(&mut self) -> Result<u64> {
        let mut spread = Spread::default();
        let least = self.rules.limits.min_count.max(1);
        let Rounds { store, judge, .. } = self;
        store.each(|symbols, _| {
            let mut most = 0;
            for pair in symbols.windows(2) {
                let bound = judge.bound(pair[0], pair[1]);
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
        for bound in self.judge.bounds.sums() {
            spread.of(bound.min(self.judge.ceiling)).pairs += 1;
        }
        let room = self.room.saturating_sub(self.judge.bounds.memory());
        spread.least_count(room / WHOLE * self.loaded, room).map(|count| count.max(least))
    }

    /// A learner of the pairs that occur so often, over the words that hold such.
    fn load(&mut self, from: u64) -> Result<Learner<false>> {
        let Rounds { store, judge, .. } = self;
        let (mut cells, mut counts) = (Cells::default(), Vec::new());
        store.each(|symbols, count| {
            if judge.holds(symbols, from) {
                counts.push(count);
                cells.push(symbols.iter().copied())?;
            }
            Ok(())
        })?;
        let Rules { ties, limits, .. } = *self.rules;
        let limits = Limits { min_count: from.max(limits.min_count), ..limits };
        let mut learner = Learner::new(cells, judge.lengths.clone(), ties, limits);
        learner.count_pairs(|word| counts[word], |left, right| judge.bound(left, right) >= from);
        Ok(learner)
    }

    /// Writes all words as they are after a round.
    fn store_again(&mut self, learner: Learner<false>, from: u64) -> Result<()> {
        let (cells, forms) = learner.into_words();
        let (mut writer, mut bounds) = (StoreWriter::new(self.spill.create()?), new_bounds(self.room));
        let (mut at, mut merged) = (Cells::FIRST, Vec::new());
        let Rounds { store, judge, .. } = self;
        store.each(|symbols, count| {
            if !judge.holds(symbols, from) {
                return write(&mut writer, &mut bounds, symbols, count);
            }
            merged.clear();
            at = cells.word(at, forms.cells(), &mut merged);
            write(&mut writer, &mut bounds, &merged, count)
        })?;
        self.store = writer.finish()?;
        (self.judge.bounds, self.judge.lengths) = (bounds, forms.lengths().to_vec());
        Ok(())
    }
}

/// Tells how often pairs occur at the most.
struct Judge {
    bounds: Bounds,
    /// No pair occurs more often.
    ceiling: u64,
    /// How long the symbols are.
    lengths: Vec<u32>,
    /// A pair counts only if it is shorter, or of two initial symbols.
    below: usize,
}

impl Judge {
    /// 0 for a pair that is too long to be merged.
    #[inline]
    fn bound(&self, left: u32, right: u32) -> u64 {
        if self.below < usize::MAX {
            let length = self.lengths[left as usize] as usize + self.lengths[right as usize] as usize;
            if length > 2 && length >= self.below {
                return 0;
            }
        }
        self.bounds.of(left, right).min(self.ceiling)
    }

    /// Whether some pair of a word may occur so often.
    fn holds(&self, symbols: &[u32], from: u64) -> bool {
        symbols.windows(2).any(|pair| self.bound(pair[0], pair[1]) >= from)
    }
}

/// What a round holds of one frequency: pairs and their places, and words whose most frequent pair has it.
#[derive(Clone, Copy, Default)]
struct Share {
    pairs: usize,
    places: usize,
    words: usize,
    cells: usize,
}

/// What all frequencies hold.
struct Spread {
    shares: Vec<Share>,
}

impl Default for Spread {
    fn default() -> Spread {
        Spread { shares: vec![Share::default(); (u64::BITS as usize) << BITS] }
    }
}

impl Spread {
    fn of(&mut self, count: u64) -> &mut Share {
        let power = count.max(1).ilog2();
        let behind = (count << (u64::BITS - 1 - power) << 1) >> (u64::BITS - BITS);
        &mut self.shares[((power as usize) << BITS) + behind as usize]
    }

    /// The lowest count down to which everything takes at most so many bytes, or else the highest one that there is, if that
    /// fits `room`.
    fn least_count(&self, bytes: usize, room: usize) -> Result<u64> {
        let (mut taken, mut lowest) = (0, None);
        for (place, share) in self.shares.iter().enumerate().rev().filter(|(_, share)| share.places + share.words > 0) {
            taken += share.pairs * PAIR + share.places * PLACE + share.words * WORD + share.cells * CELL;
            if taken > bytes && lowest.is_some() {
                return Ok(lowest.unwrap_or(0));
            }
            if taken > room {
                return Err(too_little(taken));
            }
            lowest = Some(first_count(place));
        }
        // Everything fits.
        Ok(0)
    }
}

/// The lowest count of a share.
fn first_count(place: usize) -> u64 {
    let (power, behind) = (place as u32 >> BITS, (place & ((1 << BITS) - 1)) as u128);
    (((1 << BITS) + behind) << power >> BITS) as u64
}

fn too_little(bytes: usize) -> Error {
    Error::Argument(format!(
        "learning from these words takes {} MB of memory at least, more than max_memory leaves for it: raise it, or cut texts \
         into shorter words",
        bytes.div_ceil(1 << 20)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_begin_at_their_first_count() {
        let place_of = |count: u64| {
            let mut spread = Spread::default();
            spread.of(count).words = 1;
            spread.shares.iter().position(|share| share.words == 1).unwrap()
        };
        for count in (1..300).chain([1 << 40, (1 << 40) + (1 << 38), u64::MAX]) {
            let place = place_of(count);
            assert!(first_count(place) <= count && place_of(first_count(place)) == place, "{count}");
        }
    }
}
