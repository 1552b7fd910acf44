//! Merges while words pass by, where not even the places of the most frequent pairs fit memory.
//!
//! One pass counts the pairs that may be the most frequent ones, a second one merges the best of them in every word. Several are
//! merged at once as long as it is certain which is next: a merge takes from the counts of those pairs alone that one of its
//! halves stands in on the other side, and no new pair occurs more often than one of these did.

use std::collections::HashMap;

use super::pairs::{key, symbols};

/// Bytes for each pair that is counted.
const PAIR: usize = 64;

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
