//! Merges while words pass by, where not even the places of the most frequent pairs fit memory.
//!
//! One pass counts the pairs that may be the most frequent ones, a second one merges the best of them in every word. Several are
//! merged at once as long as it is certain which is next: a merge takes from the counts of those pairs alone that one of its
//! halves stands in on the other side, and no new pair occurs more often than one of these did.

use std::collections::HashMap;

use super::pairs::{key, symbols};

/// Bytes for each pair that is counted: its slots in a table and in the one that this grows into.
const PAIR: usize = 96;

/// How often a pair occurs, and its place among all that passed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    pub left: u32,
    pub right: u32,
    pub count: u64,
    pub first: u64,
}

/// Counts some pairs exactly.
#[derive(Default)]
pub struct Tally {
    counts: HashMap<u64, (u64, u64)>,
    next: u64,
}

impl Tally {
    /// A pair occurs so many times more.
    pub fn add(&mut self, left: u32, right: u32, count: u64) {
        self.next += 1;
        self.counts.entry(key(left, right)).or_insert((0, self.next)).0 += count;
    }

    /// Bytes taken, from above.
    pub fn memory(&self) -> usize {
        self.counts.len() * PAIR
    }

    /// All pairs, in no order.
    pub fn into_pairs(self) -> Vec<Passed> {
        let passed = |(pair, (count, first))| {
            let (left, right) = symbols(pair);
            Passed { left, right, count, first }
        };
        self.counts.into_iter().map(passed).collect()
    }
}

/// One merge that words are to be passed through.
pub type Joined = (u32, u32, u32);

/// Whether the pair at an index of `pairs`, which are sorted, is the best one once some before it were merged.
pub fn is_next(merged: &[Joined], pairs: &[Passed], index: usize) -> bool {
    // Of `aa` new pairs may occur as often as it did.
    if merged.iter().any(|&(left, right, _)| left == right) {
        return false;
    }
    let changes = |pair: &Passed| merged.iter().any(|&(left, right, _)| pair.right == left || pair.left == right);
    pairs[index..].iter().take_while(|pair| pair.count == pairs[index].count).all(|pair| !changes(pair))
}

/// Makes one symbol of a pair wherever it stands.
pub fn merge(word: &mut Vec<u32>, &(left, right, id): &Joined) {
    let mut kept = 0;
    let mut at = 0;
    while at < word.len() {
        let is_pair = word[at] == left && word.get(at + 1) == Some(&right);
        word[kept] = if is_pair { id } else { word[at] };
        at += 1 + usize::from(is_pair);
        kept += 1;
    }
    word.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs with their counts, the best first.
    fn passed(pairs: &[(u32, u32, u64)]) -> Vec<Passed> {
        pairs.iter().map(|&(left, right, count)| Passed { left, right, count, first: 0 }).collect()
    }

    #[test]
    fn the_next_pair_is_certain_where_none_as_frequent_changes() {
        let pairs = passed(&[(1, 2, 9), (3, 4, 7), (5, 6, 5), (2, 7, 5), (8, 9, 4), (0, 1, 3)]);
        assert!(is_next(&[], &pairs, 0));
        let merged = [(1, 2, 10)];
        assert!(is_next(&merged, &pairs, 1));
        // (2, 7) may occur as often as (5, 6) still, or less often.
        assert!(!is_next(&merged, &pairs, 2));
        assert!(!is_next(&merged, &pairs, 3));
        assert!(is_next(&merged, &pairs, 4));
        assert!(!is_next(&merged, &pairs, 5));
        assert!(is_next(&[(3, 4, 10)], &pairs, 2));
    }

    #[test]
    fn behind_a_symbol_twice_no_pair_is_certain() {
        let pairs = passed(&[(1, 1, 9), (3, 4, 7)]);
        assert!(is_next(&[], &pairs, 0));
        assert!(!is_next(&[(1, 1, 10)], &pairs, 1));
    }

    #[test]
    fn pairs_are_merged_from_left_to_right() {
        for (word, wanted) in [
            (&[1, 1, 1, 1, 1][..], &[10, 10, 1][..]),
            (&[1, 2, 1, 1, 2, 2], &[1, 2, 10, 2, 2]),
            (&[2, 1, 1], &[2, 10]),
            (&[1], &[1]),
            (&[], &[]),
        ] {
            let mut word = word.to_vec();
            merge(&mut word, &(1, 1, 10));
            assert_eq!(word, wanted);
        }
        let mut word = vec![1, 2, 3, 1, 2, 1];
        merge(&mut word, &(1, 2, 10));
        assert_eq!(word, [10, 3, 10, 1]);
    }

    #[test]
    fn a_tally_tells_where_a_pair_was_first() {
        let mut tally = Tally::default();
        [(1, 2), (2, 3), (1, 2)].iter().for_each(|&(left, right)| tally.add(left, right, 5));
        assert_eq!(tally.memory(), 2 * PAIR);
        let mut pairs = tally.into_pairs();
        pairs.sort_unstable_by_key(|pair| pair.first);
        let told: Vec<_> = pairs.iter().map(|pair| (pair.left, pair.right, pair.count)).collect();
        assert_eq!(told, [(1, 2, 10), (2, 3, 5)]);
    }
}
