//! Many sorted runs as one sorted stream; what several hold of a word is added up.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::entry::{Each, Entry, Order};
use super::runs::Run;
use crate::error::Result;

/// A run by its next word; the first in the order is the greatest, as a heap gives that.
struct Head<'r> {
    run: &'r mut Run,
    order: Order,
}

impl Ord for Head<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.compare((other.run.word(), other.run.entry), (self.run.word(), self.run.entry))
    }
}

impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head<'_> {}

/// Calls `each` for every word once. Runs in another order than [`Order::Bytes`] have no word in common.
pub(super) fn merge(runs: &mut [Run], order: Order, each: Each) -> Result<()> {
    let mut heads = BinaryHeap::with_capacity(runs.len());
    for run in runs {
        run.rewind()?;
        if run.advance()? {
            heads.push(Head { run, order });
        }
    }
    let mut word = Vec::new();
    let mut found: Option<Entry> = None;
    while let Some(mut head) = heads.peek_mut() {
        let entry = head.run.entry;
        found = match found {
            Some(before) if head.run.word() == word => Some(before.with(entry, &word)?),
            before => {
                before.map_or(Ok(()), |before| each(&word, before))?;
                word.clear();
                word.extend_from_slice(head.run.word());
                Some(entry)
            }
        };
        if !head.run.advance()? {
            PeekMut::pop(head);
        }
    }
    found.map_or(Ok(()), |entry| each(&word, entry))
}
