//! A priority queue of pairs, as a binary heap. The caller passes the comparison function, because it needs the texts
//! of the pairs.

use polytok_memory::Grow;

/// A queued pair, with the count that it had when the queue last updated it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairEntry {
    pub count: u64,
    pub pair: u32,
}

/// A binary heap in which no entry comes before its parent.
#[derive(Default)]
pub struct SymbolPairQueue {
    heap: Vec<PairEntry>,
}

impl SymbolPairQueue {
    /// Returns the number of bytes of the heap.
    pub fn memory(&self) -> usize {
        self.heap.capacity() * size_of::<PairEntry>()
    }

    /// Adds an entry. `before(a, b)` reports whether `a` comes before `b`.
    pub fn push(&mut self, entry: PairEntry, before: &impl Fn(&PairEntry, &PairEntry) -> bool) {
        self.heap.checked_push(entry);
        let mut at = self.heap.len() - 1;
        while at > 0 && before(&self.heap[at], &self.heap[(at - 1) / 2]) {
            self.heap.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    /// Removes and returns the entry that is first by its current count. A count never rises while its pair is queued.
    pub fn pop(
        &mut self,
        before: &impl Fn(&PairEntry, &PairEntry) -> bool,
        count: impl Fn(u32) -> u64,
    ) -> Option<PairEntry> {
        loop {
            let top = self.heap.first_mut()?;
            let current_count = count(top.pair);
            if top.count == current_count {
                let top = self.heap.swap_remove(0);
                self.sift_down(before);
                return Some(top);
            }
            top.count = current_count;
            self.sift_down(before);
        }
    }

    /// Moves the first entry down until no child comes before it.
    fn sift_down(&mut self, before: &impl Fn(&PairEntry, &PairEntry) -> bool) {
        let mut at = 0;
        loop {
            let Some(mut child) = Some(2 * at + 1).filter(|&child| child < self.heap.len()) else { return };
            if child + 1 < self.heap.len() && before(&self.heap[child + 1], &self.heap[child]) {
                child += 1;
            }
            if !before(&self.heap[child], &self.heap[at]) {
                return;
            }
            self.heap.swap(at, child);
            at = child;
        }
    }
}
