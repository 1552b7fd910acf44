//! A table of two-way sets, which all caches use. The table doubles while entries are inserted, up to a limit.
//!
//! A set has a newer and an older entry, in one or two cache lines. An inserted entry replaces the older one. The table
//! is doubled when the number of insertions reaches the number of sets, so hardly any entry is lost until the limit is
//! reached. Entries that are known in advance are added in one call, as the oldest entries. The type of the entries
//! ([`CacheEntry`]) defines their contents and their keys.

use crate::huge;
use crate::prefetch::prefetch;

/// The initial number of sets, unless the limit is lower.
const INITIAL_SETS: usize = 1 << 8;

/// The number of entries that are added together.
const INSERT_BATCH_LEN: usize = 64;

/// An entry of a set.
pub(crate) trait CacheEntry: Copy {
    /// The type of the entry's key.
    type Key;
    /// The empty entry.
    const EMPTY: Self;
    /// Reports whether this entry is empty.
    fn is_empty(&self) -> bool;
    /// Reports whether this entry has the key.
    fn is_of(&self, key: &Self::Key) -> bool;
    /// Returns the entry's key.
    fn key(&self) -> Self::Key;
    /// Returns the hash of the entry's key.
    fn hash(&self) -> u32;
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Set<E>([E; 2]);

#[derive(Debug)]
pub(crate) struct Sets<E> {
    /// The sets; the number of sets is a power of two, or 0.
    sets: Vec<Set<E>>,
    /// The largest number of sets.
    max_sets: usize,
    insertions: usize,
}

impl<E: CacheEntry> Sets<E> {
    /// Creates an empty table that takes at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Sets<E> {
        let max_sets = limit / size_of::<Set<E>>();
        let max_sets = if max_sets == 0 { 0 } else { 1 << max_sets.ilog2() };
        Sets { sets: Vec::new(), max_sets, insertions: 0 }
    }

    /// Returns the number of bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.sets.capacity() * size_of::<Set<E>>()
    }

    /// Returns the only entry that can have the key. The code does not branch on which of the two entries it returns,
    /// because the processor could not predict the branch.
    #[inline]
    pub(crate) fn candidate(&self, hash: u32, key: &E::Key) -> Option<&E> {
        let Set(entries) = self.sets.get(self.place(hash))?;
        Some(&entries[entries[1].is_of(key) as usize])
    }

    #[inline]
    fn place(&self, hash: u32) -> usize {
        hash as usize & self.sets.len().wrapping_sub(1)
    }

    /// Inserts an entry. Its key must not be in the table.
    pub(crate) fn insert(&mut self, entry: E) {
        if self.insertions >= self.sets.len() && self.sets.len() < self.max_sets {
            self.grow();
        }
        self.insertions += 1;
        self.put(entry);
    }

    /// Removes all entries, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.sets.fill(Set([E::EMPTY; 2]));
        self.insertions = 0;
    }

    /// Returns the number of insertions.
    pub(super) fn insertions(&self) -> usize {
        self.insertions
    }

    /// Reports whether the table can grow to `count` sets within the limit.
    pub(super) fn has_room_for(&self, count: usize) -> bool {
        count <= self.max_sets
    }

    /// Adds at most `count` entries as if they had been inserted before all other entries. The table can already
    /// contain some of these entries.
    pub(super) fn add_older(&mut self, count: usize, mut older: impl Iterator<Item = E>) {
        let before = std::mem::take(&mut self.sets);
        let room = (self.insertions + count).next_power_of_two().max(before.len()).min(self.max_sets);
        // Many of these entries are never looked up, so losing some of them is better than a larger table.
        self.insertions += count / 2;
        self.sets = huge::with_capacity(room);
        self.sets.resize(room, Set([E::EMPTY; 2]));
        // The cache lines of the new entries are prefetched block by block, as the cache lines of pieces are.
        let mut block = Vec::with_capacity(INSERT_BATCH_LEN);
        loop {
            block.extend(older.by_ref().take(INSERT_BATCH_LEN));
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

    /// Doubles the number of sets. Each entry keeps its index or moves to the set whose index is higher by the old
    /// number of sets.
    #[cold]
    fn grow(&mut self) {
        let before = self.sets.len();
        let count = (before * 2).max(INITIAL_SETS).min(self.max_sets);
        let mut sets = huge::with_capacity(count);
        sets.append(&mut self.sets);
        sets.resize(count, Set([E::EMPTY; 2]));
        self.sets = sets;
        for at in 0..before {
            let Set([newer, older]) = std::mem::replace(&mut self.sets[at], Set([E::EMPTY; 2]));
            [older, newer].into_iter().filter(|entry| !entry.is_empty()).for_each(|entry| self.put(entry));
        }
    }

    /// Prefetches the cache line of a hash.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u32) {
        prefetch(&self.sets, self.place(hash));
    }
}
