//! Counts all pairs before the first merge, then lists their places, in two passes over the cells.

use polytok_memory::{self as memory, Grow};

use super::learner::Learner;
use super::pairs::{PairCounts, PairIndex, key};
use super::places::{PairPosition, PlaceRange};

/// The write index that marks a pair that is too rare for a list of places.
const UNLISTED_INDEX: usize = usize::MAX;

impl<const HAS_FORMS: bool> Learner<HAS_FORMS> {
    /// Counts the pairs that `is_counted` accepts, lists their places, and queues them. Must be called before the first
    /// merge.
    pub(super) fn count_pairs(&mut self, count: impl Fn(usize) -> u64, is_counted: impl Fn(u32, u32) -> bool) {
        let mut index = PairIndex::new(self.symbols());
        let mut distinct_pairs: Vec<(u64, u64, u32)> = Vec::new();
        let mut pair_numbers = memory::with_capacity(self.cells.len());
        self.cells.for_each_pair(|left, right, _, word| {
            if !is_counted(left, right) {
                return;
            }
            let number = index.number_of(left, right, distinct_pairs.len() as u32);
            if number as usize == distinct_pairs.len() {
                distinct_pairs.checked_push((key(left, right), 0, 0));
            }
            let pair = &mut distinct_pairs[number as usize];
            (pair.1, pair.2) = (pair.1 + count(word), pair.2 + 1);
            pair_numbers.checked_push(number);
        });
        drop(index);
        let min_count = self.min_count();
        self.counts = PairCounts::with_capacity(distinct_pairs.iter().filter(|pair| pair.1 >= min_count).count());
        let mut write_index = memory::with_capacity(distinct_pairs.len());
        for &(key, count, len) in &distinct_pairs {
            write_index.checked_push(if count < min_count { UNLISTED_INDEX } else { self.places.reserve(len).start });
            if count >= min_count {
                self.counts.add(key, count as i64);
            }
        }
        self.list_places(count, &pair_numbers, &mut write_index, is_counted);
        for ((key, count, len), end) in distinct_pairs.into_iter().zip(write_index) {
            if end != UNLISTED_INDEX {
                self.push(key, count, PlaceRange { start: end - len as usize, len });
            }
        }
    }

    /// Writes the places of all pairs in order. `pair_numbers` has the number of each pair in the words, in order;
    /// `write_index` has, for each number, the index of the next place of the pair.
    fn list_places(
        &mut self,
        count: impl Fn(usize) -> u64,
        pair_numbers: &[u32],
        write_index: &mut [usize],
        is_counted: impl Fn(u32, u32) -> bool,
    ) {
        let Learner { cells, weights, places, .. } = self;
        let (mut pairs, mut last_word) = (pair_numbers.iter(), usize::MAX);
        cells.for_each_pair(|left, right, at, word| {
            if word != last_word {
                weights.add(at, count(word));
                last_word = word;
            }
            let pair = if is_counted(left, right) { pairs.next() } else { None };
            if let Some(index) =
                pair.map(|&pair| &mut write_index[pair as usize]).filter(|index| **index != UNLISTED_INDEX)
            {
                places.set(*index, PairPosition::new(at, count(word)));
                *index += 1;
            }
        });
    }
}
