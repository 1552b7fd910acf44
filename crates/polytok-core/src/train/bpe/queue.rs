//! The most frequent pair: a heap of the frequent ones, and unsorted buckets by powers of two for the others.
//!
//! Counts fall after a pair was pushed, so the count of an entry can be too high. The caller of `pop` gives the current
//! count, and the entry goes back to its place. A bucket becomes the heap when everything above it is done, and its
//! counts are updated at that time: most pairs are never compared with another.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// A pair in the queue: its count, which can be outdated; its tie-breaker (the lower goes first); and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedPair {
    pub count: u64,
    pub tie: u64,
    pub number: u32,
}

impl Ord for QueuedPair {
    fn cmp(&self, other: &QueuedPair) -> Ordering {
        (self.count, other.tie, other.number).cmp(&(other.count, self.tie, self.number))
    }
}

impl PartialOrd for QueuedPair {
    fn partial_cmp(&self, other: &QueuedPair) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The queue.
pub struct PairQueue {
    /// Entries of the highest bucket and above.
    heap: BinaryHeap<QueuedPair>,
    /// Entries below the heap; bucket n has the counts of n + 1 bits.
    buckets: Vec<Vec<QueuedPair>>,
    /// Counts only fall, so the counts of a whole bucket can be updated at once.
    only_falls: bool,
}

fn bucket(count: u64) -> usize {
    count.max(1).ilog2() as usize
}

impl PairQueue {
    /// An empty queue, with all buckets below the heap.
    pub fn new(only_falls: bool) -> PairQueue {
        PairQueue { heap: BinaryHeap::new(), buckets: (0..u64::BITS).map(|_| Vec::new()).collect(), only_falls }
    }

    /// Adds a pair that occurs.
    pub fn push(&mut self, entry: QueuedPair) {
        match self.buckets.get_mut(bucket(entry.count)) {
            Some(bucket) => bucket.push(entry),
            None => self.heap.push(entry),
        }
    }

    /// Removes the first entry by its current values, which `current` returns; None for a pair that no longer occurs.
    pub fn pop(&mut self, mut current: impl FnMut(QueuedPair) -> Option<QueuedPair>) -> Option<QueuedPair> {
        loop {
            let Some(mut top) = self.heap.peek_mut() else {
                let bucket = self.buckets.pop()?;
                match self.only_falls {
                    true => bucket.into_iter().filter_map(&mut current).for_each(|entry| self.push(entry)),
                    false => self.heap = BinaryHeap::from(bucket),
                }
                continue;
            };
            match current(*top) {
                Some(entry) if entry == *top => return Some(PeekMut::pop(top)),
                Some(entry) if bucket(entry.count) >= self.buckets.len() => *top = entry,
                now => {
                    PeekMut::pop(top);
                    now.into_iter().for_each(|entry| self.push(entry));
                }
            }
        }
    }
}
