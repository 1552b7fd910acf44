//! Merges sorted runs into one sorted stream, and adds up entries of the same word.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use polytok_memory::Grow;

use super::entry::{EntryVisitor, Order, WordEntry};
use super::runs::WordRun;
use crate::error::Result;

/// A run in a heap of runs, compared by its current word. The comparison is reversed, because the heap returns the
/// greatest item first.
struct RunHead<'r> {
    run: &'r mut WordRun,
    order: Order,
}

impl Ord for RunHead<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.compare((other.run.word(), other.run.entry), (self.run.word(), self.run.entry))
    }
}

impl PartialOrd for RunHead<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RunHead<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for RunHead<'_> {}

/// Calls `each` for every distinct word. In any order except [`Order::Bytes`], no word may be in two runs.
pub(super) fn merge(runs: &mut [WordRun], order: Order, each: EntryVisitor) -> Result<()> {
    let mut heads = BinaryHeap::with_capacity(runs.len());
    for run in runs {
        run.rewind()?;
        if run.advance()? {
            heads.push(RunHead { run, order });
        }
    }
    let mut word = Vec::new();
    let mut pending: Option<WordEntry> = None;
    while let Some(mut head) = heads.peek_mut() {
        let entry = head.run.entry;
        pending = match pending {
            Some(previous) if head.run.word() == word => Some(previous.plus(entry, &word)?),
            previous => {
                previous.map_or(Ok(()), |previous| each(&word, previous))?;
                word.clear();
                word.checked_extend_from_slice(head.run.word());
                Some(entry)
            }
        };
        if !head.run.advance()? {
            PeekMut::pop(head);
        }
    }
    pending.map_or(Ok(()), |entry| each(&word, entry))
}
