//! The most frequent pair: a heap of the frequent ones, and unsorted buckets by powers of two for the others.
//!
//! Counts fall after a pair was pushed, so an entry may promise too much; whoever pops it says what is true, and it
//! goes back to its place. A bucket is turned into the heap when everything above it is done, and brought up to date at
//! that time: most pairs are never compared with another.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// A pair that waits: how often it occurs, or did, what decides among equals (the lower goes first), and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub count: u64,
    pub tie: u64,
    pub number: u32,
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        (self.count, other.tie, other.number).cmp(&(other.count, self.tie, self.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The queue.
pub struct Queue {
    /// Entries of the highest bucket and above.
    heap: BinaryHeap<Entry>,
    /// Entries whose counts have so many bits less one, below the heap.
    buckets: Vec<Vec<Entry>>,
    /// Counts only fall, so that a bucket may be brought up to date early.
    only_falls: bool,
}

fn bucket(count: u64) -> usize {
    count.max(1).ilog2() as usize
}

impl Queue {
    /// Starts empty, with all buckets below the heap.
    pub fn new(only_falls: bool) -> Queue {
        Queue { heap: BinaryHeap::new(), buckets: (0..u64::BITS).map(|_| Vec::new()).collect(), only_falls }
    }

    /// Adds a pair that occurs.
    pub fn push(&mut self, entry: Entry) {
        match self.buckets.get_mut(bucket(entry.count)) {
            Some(bucket) => bucket.push(entry),
            None => self.heap.push(entry),
        }
    }

    /// The first entry by what `current` says of each, which is the entry as it is now, or None if the pair is gone.
    pub fn pop(&mut self, mut current: impl FnMut(Entry) -> Option<Entry>) -> Option<Entry> {
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
