//! Stores the counts and the positions of pairs of adjacent symbols.

use hashbrown::HashMap;
use polytok_memory::{Grow, GrowMap};

use super::positions::{PositionList, PositionLists};
use super::queue::PairEntry;
use super::symbols::NumberedSymbols;
use crate::train::sentencepiece::validity::Validity;

/// The number of all pairs that are never merged, because their text is not a valid piece or is already a piece.
const INVALID: u32 = u32::MAX;

/// The bytes of memory for each pair in `numbers`. While the table grows, the old and the new table exist together.
const BYTES_PER_PAIR_NUMBER: usize = 32;

#[derive(Default)]
struct SymbolPair {
    left: u32,
    right: u32,
    count: u64,
    /// The positions where the pair was created. At some of them, a later merge can have removed the pair.
    positions: PositionList,
}

/// All pairs that were created, by number.
#[derive(Default)]
pub struct SymbolPairs {
    pairs: Vec<SymbolPair>,
    numbers: HashMap<u64, u32>,
    /// The buffer for the characters of a text whose validity is checked.
    chars: Vec<char>,
    positions: PositionLists,
}

impl SymbolPairs {
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn count(&self, pair: u32) -> u64 {
        self.pairs[pair as usize].count
    }

    pub fn symbols(&self, pair: u32) -> (u32, u32) {
        let pair = &self.pairs[pair as usize];
        (pair.left, pair.right)
    }

    /// Returns the number of a pair, if the pair exists and is valid.
    pub fn find(&self, left: u32, right: u32) -> Option<u32> {
        self.numbers.get(&key(left, right)).copied().filter(|&number| number != INVALID)
    }

    /// Returns the number of a pair, and creates the pair if it is new. Returns `None` if the text of the pair is not a
    /// valid piece.
    pub fn find_or_add(
        &mut self,
        left: u32,
        right: u32,
        symbols: &NumberedSymbols,
        validity: &Validity,
    ) -> Option<u32> {
        let (pairs, chars) = (&mut self.pairs, &mut self.chars);
        self.numbers.reserve_entry();
        let number = *self.numbers.entry(key(left, right)).or_insert_with(|| {
            chars.clear();
            chars.checked_extend(symbols.text(left).chars().chain(symbols.text(right).chars()));
            if !validity.is_valid(chars) {
                return INVALID;
            }
            pairs.checked_push(SymbolPair { left, right, ..SymbolPair::default() });
            pairs.len() as u32 - 1
        });
        (number != INVALID).then_some(number)
    }

    /// Counts `count` occurrences of a pair at the position `at`.
    pub fn add(&mut self, pair: u32, at: u32, count: u64) {
        let pair = &mut self.pairs[pair as usize];
        pair.count += count;
        self.positions.push(&mut pair.positions, at);
    }

    /// Subtracts `count` from the count of a pair.
    pub fn lose(&mut self, pair: u32, count: u64) {
        self.pairs[pair as usize].count -= count;
    }

    /// Removes the positions of a pair and returns them.
    pub fn take_positions(&mut self, pair: u32) -> PositionList {
        std::mem::take(&mut self.pairs[pair as usize].positions)
    }

    /// Returns the next positions of a removed list, in order, or `None` at the end.
    pub fn next_positions(&mut self, list: &mut PositionList) -> Option<impl Iterator<Item = u32> + use<>> {
        self.positions.take(list)
    }

    /// Marks a pair as invalid, because its text is already a piece.
    pub fn mark_invalid(&mut self, pair: u32) {
        let positions = self.take_positions(pair);
        self.positions.clear(positions);
        let (left, right) = self.symbols(pair);
        self.numbers.checked_insert(key(left, right), INVALID);
    }

    /// Returns the pairs seen so far that are never merged.
    pub fn unmergeable_pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let unmergeable = self.numbers.iter().filter(|(_, number)| **number == INVALID);
        unmergeable.map(|(key, _)| ((key >> 32) as u32, *key as u32))
    }

    /// Returns the number of bytes of the tables.
    pub fn memory(&self) -> usize {
        self.pairs.capacity() * size_of::<SymbolPair>()
            + self.numbers.capacity() * BYTES_PER_PAIR_NUMBER
            + self.positions.memory()
    }
}

/// Reports whether `one` comes before `other` in the queue: by falling count, then by length in characters, then by
/// text, then by symbols.
pub fn before(one: &PairEntry, other: &PairEntry, pairs: &SymbolPairs, symbols: &NumberedSymbols) -> bool {
    if one.count != other.count {
        return one.count > other.count;
    }
    let parts = |entry: &PairEntry| {
        let (left, right) = pairs.symbols(entry.pair);
        (symbols.chars(left) + symbols.chars(right), left, right)
    };
    let (one, other) = (parts(one), parts(other));
    if one.0 != other.0 {
        return one.0 < other.0;
    }
    let text = |&(_, left, right): &(u32, u32, u32)| symbols.text(left).bytes().chain(symbols.text(right).bytes());
    text(&one).cmp(text(&other)).then_with(|| one.cmp(&other)).is_lt()
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}
