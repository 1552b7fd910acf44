//! Finds the most frequent pair: a heap of the frequent pairs, and unsorted buckets by powers of two for other pairs.
//!
//! Counts fall after a pair was queued, so the count of an entry can be too high. The caller of `pop` returns the
//! current count, and the entry moves to its new position. A bucket is moved into the heap when the heap is empty, and
//! its counts are updated at that time: most pairs are never compared with another pair.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// A pair in the queue: its count, which can be outdated; its tie-breaker (the lowest comes first); and its number.
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
    /// The entries whose counts are higher than those of all buckets.
    heap: BinaryHeap<QueuedPair>,
    /// The entries with lower counts; bucket n has the counts of n + 1 bits.
    buckets: Vec<Vec<QueuedPair>>,
    /// Whether counts only fall. Then the counts of a whole bucket are updated when the bucket is moved into the heap.
    only_falls: bool,
}

fn bucket(count: u64) -> usize {
    count.max(1).ilog2() as usize
}

impl PairQueue {
    /// Creates an empty queue, whose buckets cover all counts.
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

    /// Removes the first entry by its current values. The function `current` returns these values, or `None` for a pair
    /// that does not occur any more.
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
                current_entry => {
                    PeekMut::pop(top);
                    current_entry.into_iter().for_each(|entry| self.push(entry));
                }
            }
        }
    }
}
