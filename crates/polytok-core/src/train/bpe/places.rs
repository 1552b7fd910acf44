//! Where pairs occur: lists of places with the counts of their words, in one vector, those that are done with taken out now and then.

use std::ops::Range;

/// Stands for a count that does not fit; see [`Weights`].
const HEAVY: u32 = u32::MAX;

/// Garbage below this is left alone.
const LEAST_GARBAGE: usize = 1 << 16;

/// Where a pair starts, and how often its word occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub at: u32,
    weight: u32,
}

impl Place {
    /// With a count of a word.
    pub fn new(at: u32, count: u64) -> Place {
        Place { at, weight: count.min(u64::from(HEAVY)) as u32 }
    }

    /// The same word, elsewhere.
    #[inline]
    pub fn moved(self, at: u32) -> Place {
        Place { at, ..self }
    }
}

/// The counts that do not fit into a [`Place`], by where their words start.
#[derive(Default)]
pub struct Weights {
    heavy: Vec<(u32, u64)>,
}

impl Weights {
    /// Notes the count of a word that starts at a place, behind all that were noted before.
    pub fn note(&mut self, start: u32, count: u64) {
        if count >= u64::from(HEAVY) {
            self.heavy.push((start, count));
        }
    }

    /// How often the word of a place occurs.
    #[inline]
    pub fn of(&self, place: Place) -> u64 {
        if place.weight < HEAVY { u64::from(place.weight) } else { self.heavy(place.at) }
    }

    #[cold]
    fn heavy(&self, at: u32) -> u64 {
        let behind = self.heavy.partition_point(|&(start, _)| start <= at);
        self.heavy[behind - 1].1
    }
}

/// A stretch of the vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct List {
    pub start: usize,
    pub len: u32,
}

impl List {
    #[inline]
    pub fn range(self) -> Range<usize> {
        self.start..self.start + self.len as usize
    }
}

/// All lists.
#[derive(Default)]
pub struct Places {
    places: Vec<Place>,
    garbage: usize,
}

impl Places {
    /// A new list of so many places, to be filled by [`Places::set`].
    pub fn reserve(&mut self, len: u32) -> List {
        let start = self.places.len();
        self.places.resize(start + len as usize, Place::default());
        List { start, len }
    }

    /// Sets what stands at an index of the vector.
    #[inline]
    pub fn set(&mut self, index: usize, place: Place) {
        self.places[index] = place;
    }

    /// What stands at an index of the vector.
    #[inline]
    pub fn get(&self, index: usize) -> Place {
        self.places[index]
    }

    /// The cell of what stands at an index, which may be beyond the end.
    #[inline]
    pub fn ahead(&self, index: usize) -> u32 {
        self.places.get(index).map_or(0, |place| place.at)
    }

    /// A list of the places of two lists, in order.
    pub fn united(&mut self, one: List, other: List) -> List {
        let mut places = [&self.places[one.range()], &self.places[other.range()]].concat();
        places.sort_unstable_by_key(|place| place.at);
        self.free(one.len + other.len);
        let list = List { start: self.places.len(), len: places.len() as u32 };
        self.places.append(&mut places);
        list
    }

    /// So many places are done with.
    pub fn free(&mut self, places: u32) {
        self.garbage += places as usize;
    }

    /// Bytes that the places take at the most, while they are moved together too.
    pub fn memory(&self) -> usize {
        self.places.len() * size_of::<Place>() * 3 / 2
    }

    /// More is garbage than is not.
    pub fn is_wasteful(&self) -> bool {
        self.garbage > LEAST_GARBAGE && self.garbage * 2 > self.places.len()
    }

    /// Moves the lists that are still wanted together.
    pub fn collect<'a>(&mut self, lists: impl Iterator<Item = &'a mut List>) {
        let mut kept = Vec::with_capacity(self.places.len() - self.garbage);
        for list in lists {
            let start = kept.len();
            kept.extend_from_slice(&self.places[list.range()]);
            list.start = start;
        }
        self.places = kept;
        self.garbage = 0;
    }
}
