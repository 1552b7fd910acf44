//! The policy of all caches: a table of two-way sets that doubles while entries are inserted, up to a limit.
//!
//! A set is the newer and the older of two entries, in one cache line or two. An inserted entry replaces the older one, whatever that
//! is. The table is doubled when the number of insertions reaches the number of sets, so hardly any entry is lost until the limit
//! is reached. Entries that are known beforehand are added all at once, as the oldest. What an entry holds, and what it is found
//! by, is up to its type ([`CacheEntry`]).

use crate::huge;
use crate::prefetch::prefetch;

/// Sets at first, unless the limit is lower.
const FEWEST: usize = 1 << 8;

/// Entries of a block that are added together.
const ADDED: usize = 64;

/// What a set holds two of.
pub(crate) trait CacheEntry: Copy {
    /// What it is found by.
    type Key;
    /// No entry.
    const EMPTY: Self;
    /// Whether this is no entry.
    fn is_empty(&self) -> bool;
    /// Whether this is the entry of the key.
    fn is_of(&self, key: &Self::Key) -> bool;
    /// Its key.
    fn key(&self) -> Self::Key;
    /// The hash of its key.
    fn hash(&self) -> u32;
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Set<E>([E; 2]);

#[derive(Debug)]
pub(crate) struct Sets<E> {
    /// As many as a power of two, or none.
    sets: Vec<Set<E>>,
    most: usize,
    insertions: usize,
}

impl<E: CacheEntry> Sets<E> {
    /// An empty table that takes at most this many bytes.
    pub(crate) fn new(limit: usize) -> Sets<E> {
        let most = limit / size_of::<Set<E>>();
        let most = if most == 0 { 0 } else { 1 << most.ilog2() };
        Sets { sets: Vec::new(), most, insertions: 0 }
    }

    /// Bytes taken.
    pub(crate) fn bytes(&self) -> usize {
        self.sets.capacity() * size_of::<Set<E>>()
    }

    /// The only entry that can be that of the key. Which of the two it is cannot be foreseen, so it is not a branch.
    #[inline]
    pub(crate) fn candidate(&self, hash: u32, key: &E::Key) -> Option<&E> {
        let Set(entries) = self.sets.get(self.place(hash))?;
        Some(&entries[entries[1].is_of(key) as usize])
    }

    #[inline]
    fn place(&self, hash: u32) -> usize {
        hash as usize & self.sets.len().wrapping_sub(1)
    }

    /// Inserts an entry, which must not be present.
    pub(crate) fn insert(&mut self, entry: E) {
        if self.insertions >= self.sets.len() && self.sets.len() < self.most {
            self.grow();
        }
        self.insertions += 1;
        self.put(entry);
    }

    /// Forgets all, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.sets.fill(Set([E::EMPTY; 2]));
        self.insertions = 0;
    }

    /// How many came in.
    pub(super) fn insertions(&self) -> usize {
        self.insertions
    }

    /// Whether there is a set for each of so many entries, at the limit.
    pub(super) fn has_room_for(&self, count: usize) -> bool {
        count <= self.most
    }

    /// Adds entries as if they had come in before all others, at most so many. Some may be there already.
    pub(super) fn add_older(&mut self, count: usize, mut older: impl Iterator<Item = E>) {
        let before = std::mem::take(&mut self.sets);
        let room = (self.insertions + count).next_power_of_two().max(before.len()).min(self.most);
        // Many of them are never asked for, so that losing some is better than the next table soon.
        self.insertions += count / 2;
        self.sets = huge::with_capacity(room);
        self.sets.resize(room, Set([E::EMPTY; 2]));
        // Their lines are asked for in blocks, as those of pieces are.
        let mut block = Vec::with_capacity(ADDED);
        loop {
            block.extend(older.by_ref().take(ADDED));
            if block.is_empty() {
                break;
            }
            block.iter().for_each(|entry| self.prefetch(entry.hash()));
            block.drain(..).for_each(|entry| self.put(entry));
        }
        let entries = before.iter().flat_map(|Set([newer, older])| [older, newer]);
        for &entry in entries.filter(|entry| !entry.is_empty()) {
            let key = entry.key();
            if !self.candidate(entry.hash(), &key).is_some_and(|known| known.is_of(&key)) {
                self.put(entry);
            }
        }
    }

    fn put(&mut self, entry: E) {
        let place = self.place(entry.hash());
        if let Some(Set([newer, older])) = self.sets.get_mut(place) {
            *older = std::mem::replace(newer, entry);
        }
    }

    /// Twice as many sets: the entries of a set stay in it, or go to the one as many places further on as there were sets.
    #[cold]
    fn grow(&mut self) {
        let before = self.sets.len();
        let count = (before * 2).max(FEWEST).min(self.most);
        let mut sets = huge::with_capacity(count);
        sets.append(&mut self.sets);
        sets.resize(count, Set([E::EMPTY; 2]));
        self.sets = sets;
        for at in 0..before {
            let Set([newer, older]) = std::mem::replace(&mut self.sets[at], Set([E::EMPTY; 2]));
            [older, newer].into_iter().filter(|entry| !entry.is_empty()).for_each(|entry| self.put(entry));
        }
    }

    /// Asks the processor for the line of this hash.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u32) {
        prefetch(&self.sets, self.place(hash));
    }
}
