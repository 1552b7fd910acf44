//! The places of pairs: lists of places with the counts of their words, in one vector that is compacted from time to
//! time.

use std::ops::Range;

/// Marks a count that does not fit; see [`Weights`].
const HEAVY: u32 = u32::MAX;

/// Fewer unused places than this are not collected.
const LEAST_GARBAGE: usize = 1 << 16;

/// The start of a pair, and the count of its word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairPosition {
    pub at: u32,
    weight: u32,
}

impl PairPosition {
    /// A place in a word with this count.
    pub fn new(at: u32, count: u64) -> PairPosition {
        PairPosition { at, weight: count.min(u64::from(HEAVY)) as u32 }
    }

    /// Another place in the same word.
    #[inline]
    pub fn moved(self, at: u32) -> PairPosition {
        PairPosition { at, ..self }
    }
}

/// The counts that do not fit into a [`PairPosition`], by the start of their words.
#[derive(Default)]
pub struct Weights {
    heavy: Vec<(u32, u64)>,
}

impl Weights {
    /// Adds the count of a word that starts after all earlier ones.
    pub fn add(&mut self, start: u32, count: u64) {
        if count >= u64::from(HEAVY) {
            self.heavy.push((start, count));
        }
    }

    /// The count of the word of a place.
    #[inline]
    pub fn of(&self, place: PairPosition) -> u64 {
        if place.weight < HEAVY { u64::from(place.weight) } else { self.heavy(place.at) }
    }

    #[cold]
    fn heavy(&self, at: u32) -> u64 {
        let after = self.heavy.partition_point(|&(start, _)| start <= at);
        self.heavy[after - 1].1
    }
}

/// The range of a list in the vector.
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

/// All lists.
#[derive(Default)]
pub struct PairPlaces {
    places: Vec<PairPosition>,
    garbage: usize,
}

impl PairPlaces {
    /// A new list of `len` places, which [`PairPlaces::set`] fills.
    pub fn reserve(&mut self, len: u32) -> PlaceRange {
        let start = self.places.len();
        self.places.resize(start + len as usize, PairPosition::default());
        PlaceRange { start, len }
    }

    /// Sets the place at an index of the vector.
    #[inline]
    pub fn set(&mut self, index: usize, place: PairPosition) {
        self.places[index] = place;
    }

    /// The place at an index of the vector.
    #[inline]
    pub fn get(&self, index: usize) -> PairPosition {
        self.places[index]
    }

    /// The cell of the place at an index, which can be beyond the end.
    #[inline]
    pub fn ahead(&self, index: usize) -> u32 {
        self.places.get(index).map_or(0, |place| place.at)
    }

    /// Joins two lists to one, in order.
    pub fn join(&mut self, one: PlaceRange, other: PlaceRange) -> PlaceRange {
        let mut places = [&self.places[one.range()], &self.places[other.range()]].concat();
        places.sort_unstable_by_key(|place| place.at);
        self.free(one.len + other.len);
        let list = PlaceRange { start: self.places.len(), len: places.len() as u32 };
        self.places.append(&mut places);
        list
    }

    /// Marks a number of places as unused.
    pub fn free(&mut self, places: u32) {
        self.garbage += places as usize;
    }

    /// The most bytes that the places take, also while they are compacted.
    pub fn memory(&self) -> usize {
        self.places.len() * size_of::<PairPosition>() * 3 / 2
    }

    /// Whether more than half of the places are unused.
    pub fn is_wasteful(&self) -> bool {
        self.garbage > LEAST_GARBAGE && self.garbage * 2 > self.places.len()
    }

    /// Compacts the vector to these lists.
    pub fn collect<'a>(&mut self, lists: impl Iterator<Item = &'a mut PlaceRange>) {
        let mut places = Vec::with_capacity(self.places.len() - self.garbage);
        for list in lists {
            let start = places.len();
            places.extend_from_slice(&self.places[list.range()]);
            list.start = start;
        }
        self.places = places;
        self.garbage = 0;
    }
}
