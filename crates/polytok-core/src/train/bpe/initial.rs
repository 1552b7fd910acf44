//! The pairs before any merge, in two passes over the cells: the first counts, the second lists the places.

use super::learner::Learner;
use super::pairs::{PairCounts, PairIndex, key};
use super::places::{PairPosition, PlaceRange};

/// Marks a pair that is too rare to be listed.
const NOWHERE: usize = usize::MAX;

impl<const HAS_FORMS: bool> Learner<HAS_FORMS> {
    /// Counts the pairs that `is_counted` accepts and lists their places, before any merge.
    pub(super) fn count_pairs(&mut self, count: impl Fn(usize) -> u64, is_counted: impl Fn(u32, u32) -> bool) {
        let mut index = PairIndex::new(self.symbols());
        let mut distinct: Vec<(u64, u64, u32)> = Vec::new();
        let mut which = Vec::with_capacity(self.cells.len());
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
            which.push(number);
        });
        drop(index);
        let least = self.least();
        self.counts = PairCounts::with_capacity(distinct.iter().filter(|pair| pair.1 >= least).count());
        let mut next = Vec::with_capacity(distinct.len());
        for &(key, count, len) in &distinct {
            next.push(if count < least { NOWHERE } else { self.places.reserve(len).start });
            if count >= least {
                self.counts.add(key, count as i64);
            }
        }
        self.list_pairs(count, &which, &mut next, is_counted);
        for ((key, count, len), end) in distinct.into_iter().zip(next) {
            if end != NOWHERE {
                self.push(key, count, PlaceRange { start: end - len as usize, len });
            }
        }
    }

    /// Writes the places of all pairs, in order. `which` are the numbers of the pairs; `next` is the index for the next
    /// place of each pair.
    fn list_pairs(
        &mut self,
        count: impl Fn(usize) -> u64,
        which: &[u32],
        next: &mut [usize],
        is_counted: impl Fn(u32, u32) -> bool,
    ) {
        let Learner { cells, weights, places, .. } = self;
        let (mut pairs, mut last) = (which.iter(), usize::MAX);
        cells.pairs(|left, right, at, word| {
            if word != last {
                weights.add(at, count(word));
                last = word;
            }
            let pair = if is_counted(left, right) { pairs.next() } else { None };
            if let Some(place) = pair.map(|&pair| &mut next[pair as usize]).filter(|place| **place != NOWHERE) {
                places.set(*place, PairPosition::new(at, count(word)));
                *place += 1;
            }
        });
    }
}
