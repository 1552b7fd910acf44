//! Pairs, the best first: a binary heap whose order is told from outside, where the texts are.

/// A pair that waits, and how often it occurred when it was put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairEntry {
    pub count: u64,
    pub pair: u32,
}

/// The heap: no entry goes before the one at half of its index.
#[derive(Default)]
pub struct Queue {
    heap: Vec<PairEntry>,
}

impl Queue {
    /// Bytes taken.
    pub fn memory(&self) -> usize {
        self.heap.capacity() * size_of::<PairEntry>()
    }

    pub fn push(&mut self, entry: PairEntry, before: &impl Fn(&PairEntry, &PairEntry) -> bool) {
        self.heap.push(entry);
        let mut at = self.heap.len() - 1;
        while at > 0 && before(&self.heap[at], &self.heap[(at - 1) / 2]) {
            self.heap.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    /// The first entry by the counts as they are now, which are never more than they were.
    pub fn pop(
        &mut self,
        before: &impl Fn(&PairEntry, &PairEntry) -> bool,
        count: impl Fn(u32) -> u64,
    ) -> Option<PairEntry> {
        loop {
            let top = self.heap.first_mut()?;
            let now = count(top.pair);
            if top.count == now {
                let top = self.heap.swap_remove(0);
                self.sink(before);
                return Some(top);
            }
            top.count = now;
            self.sink(before);
        }
    }

    /// Brings the first entry to its place.
    fn sink(&mut self, before: &impl Fn(&PairEntry, &PairEntry) -> bool) {
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
