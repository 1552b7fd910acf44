//! A priority queue that finds the most frequent pair. The frequent pairs are in a heap. The other pairs are in
//! unsorted buckets, one for each power of two.
//!
//! The count of a pair can fall while the pair is queued, so the count of a queue entry can be too high. The caller of
//! `pop` supplies the current count, and an entry with a lower current count moves down. When the heap is empty, the
//! highest bucket is moved into the heap with its counts updated. So most pairs are never compared with another pair.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use polytok_memory::{self as memory, Collect, Grow};

/// A pair in the queue: the count, which can be outdated; the tie-breaker (the lowest value comes first); and the
/// pair's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedPair {
    pub count: u64,
    pub tie_breaker: u64,
    pub number: u32,
}

impl Ord for QueuedPair {
    fn cmp(&self, other: &QueuedPair) -> Ordering {
        (self.count, other.tie_breaker, other.number).cmp(&(other.count, self.tie_breaker, self.number))
    }
}

impl PartialOrd for QueuedPair {
    fn partial_cmp(&self, other: &QueuedPair) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The queue.
pub struct PairQueue {
    /// The entries whose counts are higher than all counts in the buckets.
    heap: BinaryHeap<QueuedPair>,
    /// The entries with lower counts; bucket n has the counts of n + 1 bits.
    buckets: Vec<Vec<QueuedPair>>,
    /// True if counts never rise. Then all counts of a bucket are updated when the bucket is moved into the heap.
    counts_only_fall: bool,
}

fn bucket_index(count: u64) -> usize {
    count.max(1).ilog2() as usize
}

impl PairQueue {
    /// Creates an empty queue with a bucket for every power of two.
    pub fn new(counts_only_fall: bool) -> PairQueue {
        PairQueue {
            heap: BinaryHeap::new(),
            buckets: (0..u64::BITS).map(|_| Vec::new()).checked_collect(),
            counts_only_fall,
        }
    }

    /// Adds a pair that occurs.
    pub fn push(&mut self, entry: QueuedPair) {
        match self.buckets.get_mut(bucket_index(entry.count)) {
            Some(bucket) => bucket.checked_push(entry),
            None => {
                memory::reserve_item(&mut self.heap);
                self.heap.push(entry);
            }
        }
    }

    /// Removes the entry with the highest current count. The function `current` returns an entry with its current count
    /// and tie-breaker, or `None` if the pair does not occur any more.
    pub fn pop(&mut self, mut current: impl FnMut(QueuedPair) -> Option<QueuedPair>) -> Option<QueuedPair> {
        loop {
            let Some(mut top) = self.heap.peek_mut() else {
                let bucket = self.buckets.pop()?;
                match self.counts_only_fall {
                    true => bucket.into_iter().filter_map(&mut current).for_each(|entry| self.push(entry)),
                    false => self.heap = BinaryHeap::from(bucket),
                }
                continue;
            };
            match current(*top) {
                Some(entry) if entry == *top => return Some(PeekMut::pop(top)),
                Some(entry) if bucket_index(entry.count) >= self.buckets.len() => *top = entry,
                current_entry => {
                    PeekMut::pop(top);
                    current_entry.into_iter().for_each(|entry| self.push(entry));
                }
            }
        }
    }
}
