//! Pairs of symbols: how often each stands side by side, and where.

use hashbrown::HashMap;

use super::places::{PlaceList, PlaceLists};
use super::queue::PairEntry;
use super::symbols::NumberedSymbols;
use crate::train::sentencepiece::validity::Validity;

/// No piece has the two side by side, or it is there already.
const INVALID: u32 = u32::MAX;

/// Bytes for each pair in the table of numbers, which is there twice while it grows.
const NUMBER: usize = 32;

#[derive(Default)]
struct SymbolPair {
    left: u32,
    right: u32,
    count: u64,
    /// Where it came to be; it may be gone from there.
    places: PlaceList,
}

/// All pairs that came to be, by number.
#[derive(Default)]
pub struct SymbolPairs {
    pairs: Vec<SymbolPair>,
    numbers: HashMap<u64, u32>,
    /// Memory for a piece that is judged.
    chars: Vec<char>,
    places: PlaceLists,
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

    /// The number of a pair that came to be before.
    pub fn known(&self, left: u32, right: u32) -> Option<u32> {
        self.numbers.get(&key(left, right)).copied().filter(|&number| number != INVALID)
    }

    /// The number of a pair, unless it makes no valid piece.
    pub fn of(&mut self, left: u32, right: u32, symbols: &NumberedSymbols, validity: &Validity) -> Option<u32> {
        let (pairs, chars) = (&mut self.pairs, &mut self.chars);
        let number = *self.numbers.entry(key(left, right)).or_insert_with(|| {
            chars.clear();
            chars.extend(symbols.text(left).chars().chain(symbols.text(right).chars()));
            if !validity.is_valid(chars) {
                return INVALID;
            }
            pairs.push(SymbolPair { left, right, ..SymbolPair::default() });
            pairs.len() as u32 - 1
        });
        (number != INVALID).then_some(number)
    }

    pub fn add(&mut self, pair: u32, at: u32, count: u64) {
        let pair = &mut self.pairs[pair as usize];
        pair.count += count;
        self.places.push(&mut pair.places, at);
    }

    pub fn lose(&mut self, pair: u32, count: u64) {
        self.pairs[pair as usize].count -= count;
    }

    /// Where a pair may stand; it forgets them.
    pub fn take_places(&mut self, pair: u32) -> PlaceList {
        std::mem::take(&mut self.pairs[pair as usize].places)
    }

    /// Some of the places that were taken, in order; none at the end.
    pub fn next_places(&mut self, taken: &mut PlaceList) -> Option<impl Iterator<Item = u32> + use<>> {
        self.places.take(taken)
    }

    /// A pair's text is a piece already: it stays where it stands.
    pub fn drop(&mut self, pair: u32) {
        let places = self.take_places(pair);
        self.places.clear(places);
        let (left, right) = self.symbols(pair);
        self.numbers.insert(key(left, right), INVALID);
    }

    /// The pairs that are never merged, as far as they were met.
    pub fn dead(&self) -> impl Iterator<Item = (u32, u32)> {
        let dead = self.numbers.iter().filter(|(_, number)| **number == INVALID);
        dead.map(|(key, _)| ((key >> 32) as u32, *key as u32))
    }

    /// Bytes taken.
    pub fn memory(&self) -> usize {
        self.pairs.capacity() * size_of::<SymbolPair>() + self.numbers.capacity() * NUMBER + self.places.memory()
    }
}

/// Whether an entry goes before another: by count, characters, text, and symbols.
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
