//! Stores the places of pairs: lists of positions with word counts, in one vector that is compacted from time to time.

use std::ops::Range;

/// The weight that marks a count that does not fit into a [`PairPosition`]; see [`Weights`].
const HEAVY_WEIGHT: u32 = u32::MAX;

/// The lowest number of unused places at which the vector is compacted.
const MIN_UNUSED: usize = 1 << 16;

/// A place of a pair: the start of the pair, and the count of the word that contains the pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairPosition {
    pub at: u32,
    weight: u32,
}

impl PairPosition {
    /// Creates a place in a word that has this count.
    pub fn new(at: u32, count: u64) -> PairPosition {
        PairPosition { at, weight: count.min(u64::from(HEAVY_WEIGHT)) as u32 }
    }

    /// Returns another place in the same word.
    #[inline]
    pub fn at_position(self, at: u32) -> PairPosition {
        PairPosition { at, ..self }
    }
}

/// The word counts that do not fit into a [`PairPosition`], by the start of the word.
#[derive(Default)]
pub struct Weights {
    heavy_words: Vec<(u32, u64)>,
}

impl Weights {
    /// Adds the count of a word that starts after all words added earlier.
    pub fn add(&mut self, start: u32, count: u64) {
        if count >= u64::from(HEAVY_WEIGHT) {
            self.heavy_words.push((start, count));
        }
    }

    /// Returns the count of the word that contains a place.
    #[inline]
    pub fn of(&self, place: PairPosition) -> u64 {
        if place.weight < HEAVY_WEIGHT { u64::from(place.weight) } else { self.heavy(place.at) }
    }

    #[cold]
    fn heavy(&self, at: u32) -> u64 {
        let after = self.heavy_words.partition_point(|&(start, _)| start <= at);
        self.heavy_words[after - 1].1
    }
}

/// A list of places, as a range of the vector.
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
    unused: usize,
}

impl PairPlaces {
    /// Creates a list of `len` places, which [`PairPlaces::set`] fills.
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

    /// Returns the place at an index of the vector.
    #[inline]
    pub fn get(&self, index: usize) -> PairPosition {
        self.places[index]
    }

    /// Returns the cell of the place at an index, or 0 if the index is beyond the end.
    #[inline]
    pub fn ahead(&self, index: usize) -> u32 {
        self.places.get(index).map_or(0, |place| place.at)
    }

    /// Joins two lists into one list, in order.
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
        self.unused += places as usize;
    }

    /// Returns the highest number of bytes that the places take, including while they are compacted.
    pub fn memory(&self) -> usize {
        self.places.len() * size_of::<PairPosition>() * 3 / 2
    }

    /// Reports whether more than half of the places are unused.
    pub fn is_wasteful(&self) -> bool {
        self.unused > MIN_UNUSED && self.unused * 2 > self.places.len()
    }

    /// Compacts the vector so that it has only these lists.
    pub fn collect<'a>(&mut self, lists: impl Iterator<Item = &'a mut PlaceRange>) {
        let mut places = Vec::with_capacity(self.places.len() - self.unused);
        for list in lists {
            let start = places.len();
            places.extend_from_slice(&self.places[list.range()]);
            list.start = start;
        }
        self.places = places;
        self.unused = 0;
    }
}
