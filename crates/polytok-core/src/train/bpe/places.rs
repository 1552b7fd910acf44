//! Stores a list of places for each pair. A place is a position with the count of its word. All lists are in one
//! vector, which is compacted from time to time.

use std::ops::Range;

use polytok_memory::{self as memory, Grow};

/// The weight that marks a count that does not fit into a [`PairPosition`]; see [`WordWeights`].
const LARGE_COUNT_MARK: u32 = u32::MAX;

/// The minimum number of unused places at which the vector is compacted.
const MIN_UNUSED_PLACES: usize = 1 << 16;

/// A place of a pair: the start of the pair, and the count of the word that contains the pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairPosition {
    pub at: u32,
    weight: u32,
}

impl PairPosition {
    /// Creates a place at a position of a word that has the given count.
    pub fn new(at: u32, count: u64) -> PairPosition {
        PairPosition { at, weight: count.min(u64::from(LARGE_COUNT_MARK)) as u32 }
    }

    /// Returns a place at another position of the same word.
    #[inline]
    pub fn with_position(self, at: u32) -> PairPosition {
        PairPosition { at, ..self }
    }
}

/// The word counts that do not fit into a [`PairPosition`]. They are found by the start of the word.
#[derive(Default)]
pub struct WordWeights {
    large_counts: Vec<(u32, u64)>,
}

impl WordWeights {
    /// Adds the count of a word that starts after all words added earlier.
    pub fn add(&mut self, start: u32, count: u64) {
        if count >= u64::from(LARGE_COUNT_MARK) {
            self.large_counts.checked_push((start, count));
        }
    }

    /// Returns the count of the word that contains a place.
    #[inline]
    pub fn count_of(&self, place: PairPosition) -> u64 {
        if place.weight < LARGE_COUNT_MARK { u64::from(place.weight) } else { self.large_count(place.at) }
    }

    #[cold]
    fn large_count(&self, at: u32) -> u64 {
        let after = self.large_counts.partition_point(|&(start, _)| start <= at);
        self.large_counts[after - 1].1
    }
}

/// The list of places of a pair: a range of [`PairPlaces`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceRange {
    pub start: usize,
    pub len: u32,
}

impl PlaceRange {
    #[inline]
    pub fn range(self) -> Range<usize> {
        self.start..self.start + self.len as usize
    }
}

/// The lists of places of all pairs.
#[derive(Default)]
pub struct PairPlaces {
    places: Vec<PairPosition>,
    unused_places: usize,
}

impl PairPlaces {
    /// Creates a list of `len` places, which [`PairPlaces::set`] fills.
    pub fn reserve(&mut self, len: u32) -> PlaceRange {
        let start = self.places.len();
        self.places.checked_resize(start + len as usize, PairPosition::default());
        PlaceRange { start, len }
    }

    /// Sets the place at an index of the vector.
    #[inline]
    pub fn set(&mut self, index: usize, place: PairPosition) {
        self.places[index] = place;
    }

    /// Returns the place at an index of the vector.
    #[inline]
    pub fn get(&self, index: usize) -> PairPosition {
        self.places[index]
    }

    /// Returns the position of the place at an index, or 0 if the index is beyond the end.
    #[inline]
    pub fn position_ahead(&self, index: usize) -> u32 {
        self.places.get(index).map_or(0, |place| place.at)
    }

    /// Joins two lists into one sorted list.
    pub fn join(&mut self, one: PlaceRange, other: PlaceRange) -> PlaceRange {
        let mut places = memory::concat(&[&self.places[one.range()], &self.places[other.range()]]);
        places.sort_unstable_by_key(|place| place.at);
        self.mark_unused(one.len + other.len);
        let list = PlaceRange { start: self.places.len(), len: places.len() as u32 };
        self.places.checked_extend_from_slice(&places);
        list
    }

    /// Marks `places` places as unused.
    pub fn mark_unused(&mut self, places: u32) {
        self.unused_places += places as usize;
    }

    /// Returns the highest number of bytes that the places take, including while they are compacted.
    pub fn memory(&self) -> usize {
        self.places.len() * size_of::<PairPosition>() * 3 / 2
    }

    /// Reports whether more than half of the places are unused.
    pub fn has_many_unused_places(&self) -> bool {
        self.unused_places > MIN_UNUSED_PLACES && self.unused_places * 2 > self.places.len()
    }

    /// Compacts the vector so that it has only these lists.
    pub fn compact<'a>(&mut self, lists: impl Iterator<Item = &'a mut PlaceRange>) {
        let mut places = memory::with_capacity(self.places.len() - self.unused_places);
        for list in lists {
            let start = places.len();
            places.checked_extend_from_slice(&self.places[list.range()]);
            list.start = start;
        }
        self.places = places;
        self.unused_places = 0;
    }
}
