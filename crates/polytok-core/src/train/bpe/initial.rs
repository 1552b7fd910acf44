//! Finds the pairs before any merge, in two passes over the cells: the first pass counts pairs, the second pass lists
//! places.

use super::learner::Learner;
use super::pairs::{PairCounts, PairIndex, key};
use super::places::{PairPosition, PlaceRange};

/// The write index of a pair that is too rare to be listed.
const NOT_LISTED: usize = usize::MAX;

impl<const HAS_FORMS: bool> Learner<HAS_FORMS> {
    /// Counts the pairs that `is_counted` accepts and lists their places, before any merge.
    pub(super) fn count_pairs(&mut self, count: impl Fn(usize) -> u64, is_counted: impl Fn(u32, u32) -> bool) {
        let mut index = PairIndex::new(self.symbols());
        let mut distinct: Vec<(u64, u64, u32)> = Vec::new();
        let mut pair_numbers = Vec::with_capacity(self.cells.len());
        self.cells.pairs(|left, right, _, word| {
            if !is_counted(left, right) {
                return;
            }
            let number = index.of(left, right, distinct.len() as u32);
            if number as usize == distinct.len() {
                distinct.push((key(left, right), 0, 0));
            }
            let pair = &mut distinct[number as usize];
            (pair.1, pair.2) = (pair.1 + count(word), pair.2 + 1);
            pair_numbers.push(number);
        });
        drop(index);
        let min_count = self.min_count();
        self.counts = PairCounts::with_capacity(distinct.iter().filter(|pair| pair.1 >= min_count).count());
        let mut write_index = Vec::with_capacity(distinct.len());
        for &(key, count, len) in &distinct {
            write_index.push(if count < min_count { NOT_LISTED } else { self.places.reserve(len).start });
            if count >= min_count {
                self.counts.add(key, count as i64);
            }
        }
        self.list_pairs(count, &pair_numbers, &mut write_index, is_counted);
        for ((key, count, len), end) in distinct.into_iter().zip(write_index) {
            if end != NOT_LISTED {
                self.push(key, count, PlaceRange { start: end - len as usize, len });
            }
        }
    }

    /// Writes the places of all pairs in order. `pair_numbers` has the pair index of each adjacent pair in the words;
    /// `write_index` has the index of the next place of each pair.
    fn list_pairs(
        &mut self,
        count: impl Fn(usize) -> u64,
        pair_numbers: &[u32],
        write_index: &mut [usize],
        is_counted: impl Fn(u32, u32) -> bool,
    ) {
        let Learner { cells, weights, places, .. } = self;
        let (mut pairs, mut last_word) = (pair_numbers.iter(), usize::MAX);
        cells.pairs(|left, right, at, word| {
            if word != last_word {
                weights.add(at, count(word));
                last_word = word;
            }
            let pair = if is_counted(left, right) { pairs.next() } else { None };
            if let Some(index) = pair.map(|&pair| &mut write_index[pair as usize]).filter(|index| **index != NOT_LISTED)
            {
                places.set(*index, PairPosition::new(at, count(word)));
                *index += 1;
            }
        });
    }
}
