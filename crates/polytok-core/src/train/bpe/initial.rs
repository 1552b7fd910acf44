//! The pairs before anything is merged: two passes over the cells, the first to count, the second to list the places.

use super::learner::Learner;
use super::pairs::{PairCounts, PairIndex, key};
use super::places::{List, Place};

/// Stands for a pair that occurs too rarely to be listed.
const NOWHERE: usize = usize::MAX;

impl<const HAS_FORMS: bool> Learner<HAS_FORMS> {
    /// Counts the pairs that `is_wanted` and lists their places, before anything is merged.
    pub(super) fn count_pairs(&mut self, count: impl Fn(usize) -> u64, is_wanted: impl Fn(u32, u32) -> bool) {
        let mut index = PairIndex::new(self.symbols());
        let mut found: Vec<(u64, u64, u32)> = Vec::new();
        let mut which = Vec::with_capacity(self.cells.len());
        self.cells.pairs(|left, right, _, word| {
            if !is_wanted(left, right) {
                return;
            }
            let number = index.of(left, right, found.len() as u32);
            if number as usize == found.len() {
                found.push((key(left, right), 0, 0));
            }
            let pair = &mut found[number as usize];
            (pair.1, pair.2) = (pair.1 + count(word), pair.2 + 1);
            which.push(number);
        });
        drop(index);
        let least = self.least();
        self.counts = PairCounts::with_capacity(found.iter().filter(|pair| pair.1 >= least).count());
        let mut next = Vec::with_capacity(found.len());
        for &(key, count, len) in &found {
            next.push(if count < least { NOWHERE } else { self.places.reserve(len).start });
            if count >= least {
                self.counts.add(key, count as i64);
            }
        }
        self.list_pairs(count, &which, &mut next, is_wanted);
        for ((key, count, len), end) in found.into_iter().zip(next) {
            if end != NOWHERE {
                self.push(key, count, List { start: end - len as usize, len });
            }
        }
    }

    /// Sets the places of all pairs, in order; `which` are the numbers of the pairs, `next` where the next place of each goes.
    fn list_pairs(
        &mut self,
        count: impl Fn(usize) -> u64,
        which: &[u32],
        next: &mut [usize],
        is_wanted: impl Fn(u32, u32) -> bool,
    ) {
        let Learner { cells, weights, places, .. } = self;
        let (mut pairs, mut last) = (which.iter(), usize::MAX);
        cells.pairs(|left, right, at, word| {
            if word != last {
                weights.note(at, count(word));
                last = word;
            }
            let pair = if is_wanted(left, right) { pairs.next() } else { None };
            if let Some(place) = pair.map(|&pair| &mut next[pair as usize]).filter(|place| **place != NOWHERE) {
                places.set(*place, Place::new(at, count(word)));
                *place += 1;
            }
        });
    }
}
