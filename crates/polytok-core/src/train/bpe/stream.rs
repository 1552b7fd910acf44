//! Merges pairs in words that are read from a file as a stream. This is necessary if the places of the most frequent
//! pairs do not fit into memory.
//!
//! A first pass counts the pairs that can be the most frequent. A second pass merges the best of these pairs in every
//! word. It merges several pairs, as long as the next best pair is certain without counting anew: a merge lowers only
//! the counts of overlapping pairs, and a new pair occurs at most as often as one of the overlapping pairs did.

use std::collections::HashMap;

use polytok_memory::{Collect, GrowMap};

use super::pairs::{key, symbols};

/// The number of bytes that each counted pair takes: a slot in the table, and a slot in the larger table while the
/// table grows.
const BYTES_PER_PAIR: usize = 96;

/// A pair with its exact count, and the position of its first occurrence in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedPair {
    pub left: u32,
    pub right: u32,
    pub count: u64,
    pub first_position: u64,
}

/// Exact counts of some pairs.
#[derive(Default)]
pub struct PairTally {
    counts: HashMap<u64, (u64, u64)>,
    next_order: u64,
}

impl PairTally {
    /// Adds to the count of a pair.
    pub fn add(&mut self, left: u32, right: u32, count: u64) {
        self.next_order += 1;
        self.counts.reserve_entry();
        self.counts.entry(key(left, right)).or_insert((0, self.next_order)).0 += count;
    }

    /// Returns an upper bound of the bytes of memory.
    pub fn memory(&self) -> usize {
        self.counts.len() * BYTES_PER_PAIR
    }

    /// Returns all pairs, in any order.
    pub fn into_pairs(self) -> Vec<CountedPair> {
        let counted_pair = |(pair, (count, first_position))| {
            let (left, right) = symbols(pair);
            CountedPair { left, right, count, first_position }
        };
        self.counts.into_iter().map(counted_pair).checked_collect()
    }
}

/// A merge to apply to words, as (left symbol, right symbol, new symbol).
pub type StreamMerge = (u32, u32, u32);

/// Reports whether `pairs[index]` is certainly the next best pair after the pairs before it were merged. `pairs` is
/// sorted, the best first.
pub fn is_next_best(merged: &[StreamMerge], pairs: &[CountedPair], index: usize) -> bool {
    // After a merge of `aa`, new pairs can occur as often as `aa` did.
    if merged.iter().any(|&(left, right, _)| left == right) {
        return false;
    }
    let is_changed =
        |pair: &CountedPair| merged.iter().any(|&(left, right, _)| pair.right == left || pair.left == right);
    pairs[index..].iter().take_while(|pair| pair.count == pairs[index].count).all(|pair| !is_changed(pair))
}

/// Merges a pair at every position where it occurs in a word.
pub fn merge(word: &mut Vec<u32>, &(left, right, id): &StreamMerge) {
    let mut len = 0;
    let mut at = 0;
    while at < word.len() {
        let is_pair = word[at] == left && word.get(at + 1) == Some(&right);
        word[len] = if is_pair { id } else { word[at] };
        at += 1 + usize::from(is_pair);
        len += 1;
    }
    word.truncate(len);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns pairs with their counts, the best first.
    fn counted_pairs(pairs: &[(u32, u32, u64)]) -> Vec<CountedPair> {
        pairs.iter().map(|&(left, right, count)| CountedPair { left, right, count, first_position: 0 }).collect()
    }

    #[test]
    fn the_next_pair_is_certain_if_no_equally_frequent_pair_changes() {
        let pairs = counted_pairs(&[(1, 2, 9), (3, 4, 7), (5, 6, 5), (2, 7, 5), (8, 9, 4), (0, 1, 3)]);
        assert!(is_next_best(&[], &pairs, 0));
        let merged = [(1, 2, 10)];
        assert!(is_next_best(&merged, &pairs, 1));
        // After the merge, (2, 7) can occur as often as (5, 6), or less often.
        assert!(!is_next_best(&merged, &pairs, 2));
        assert!(!is_next_best(&merged, &pairs, 3));
        assert!(is_next_best(&merged, &pairs, 4));
        assert!(!is_next_best(&merged, &pairs, 5));
        assert!(is_next_best(&[(3, 4, 10)], &pairs, 2));
    }

    #[test]
    fn after_a_pair_of_equal_symbols_no_pair_is_certain() {
        let pairs = counted_pairs(&[(1, 1, 9), (3, 4, 7)]);
        assert!(is_next_best(&[], &pairs, 0));
        assert!(!is_next_best(&[(1, 1, 10)], &pairs, 1));
    }

    #[test]
    fn pairs_are_merged_from_left_to_right() {
        for (word, expected) in [
            (&[1, 1, 1, 1, 1][..], &[10, 10, 1][..]),
            (&[1, 2, 1, 1, 2, 2], &[1, 2, 10, 2, 2]),
            (&[2, 1, 1], &[2, 10]),
            (&[1], &[1]),
            (&[], &[]),
        ] {
            let mut word = word.to_vec();
            merge(&mut word, &(1, 1, 10));
            assert_eq!(word, expected);
        }
        let mut word = vec![1, 2, 3, 1, 2, 1];
        merge(&mut word, &(1, 2, 10));
        assert_eq!(word, [10, 3, 10, 1]);
    }

    #[test]
    fn a_tally_has_the_first_occurrence_of_a_pair() {
        let mut tally = PairTally::default();
        [(1, 2), (2, 3), (1, 2)].iter().for_each(|&(left, right)| tally.add(left, right, 5));
        assert_eq!(tally.memory(), 2 * BYTES_PER_PAIR);
        let mut pairs = tally.into_pairs();
        pairs.sort_unstable_by_key(|pair| pair.first_position);
        let counts: Vec<_> = pairs.iter().map(|pair| (pair.left, pair.right, pair.count)).collect();
        assert_eq!(counts, [(1, 2, 10), (2, 3, 5)]);
    }
}
