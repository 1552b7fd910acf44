//! The pairs before anything is merged: two passes over the cells, the first to count, the second to list the places.

use super::learner::Learner;
use super::pairs::{PairCounts, PairIndex, key};
use super::places::{List, Place};

impl<const HAS_FORMS: bool> Learner<HAS_FORMS> {
    /// Counts all pairs and lists their places, before anything is merged.
    pub(super) fn count_pairs(&mut self, count: impl Fn(usize) -> u64, first_symbols: usize) {
        let mut index = PairIndex::new(first_symbols);
        let mut found: Vec<(u64, u64, u32)> = Vec::new();
        let mut which = Vec::with_capacity(self.cells.len());
        self.cells.pairs(|left, right, _, word| {
            let number = index.of(left, right, found.len() as u32);
            if number as usize == found.len() {
                found.push((key(left, right), 0, 0));
            }
            let pair = &mut found[number as usize];
            (pair.1, pair.2) = (pair.1 + count(word), pair.2 + 1);
            which.push(number);
        });
        self.counts = PairCounts::with_capacity(found.len() * 2);
        let mut next = Vec::with_capacity(found.len());
        for &(key, count, len) in &found {
            self.counts.add(key, count as i64);
            next.push(self.places.reserve(len).start);
        }
        self.list_pairs(count, &which, &mut next);
        for ((key, count, len), end) in found.into_iter().zip(next) {
            self.push(key, count, List { start: end - len as usize, len });
        }
    }

    /// Sets the places of all pairs, in order; `which` are the numbers of the pairs, `next` where the next place of each goes.
    fn list_pairs(&mut self, count: impl Fn(usize) -> u64, which: &[u32], next: &mut [usize]) {
        let Learner { cells, weights, places, .. } = self;
        let (mut pairs, mut last) = (which.iter(), usize::MAX);
        cells.pairs(|_, _, at, word| {
            if word != last {
                weights.note(at, count(word));
                last = word;
            }
            if let Some(&pair) = pairs.next() {
                places.set(next[pair as usize], Place::new(at, count(word)));
                next[pair as usize] += 1;
            }
        });
    }
}
