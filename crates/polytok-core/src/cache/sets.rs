//! A table of two-way sets, which all caches use. The table doubles while entries are inserted, up to a limit.
//!
//! A set has a newer and an older entry, in one or two cache lines. An inserted entry becomes the newer entry of its
//! set, and the older entry is lost. The table is doubled when the number of insertions reaches the number of sets, so
//! hardly any entry is lost until the limit is reached. Entries that are known in advance are added in one call, and
//! count as older than all entries inserted before. The type of the entries ([`CacheEntry`]) defines their contents and
//! their keys.

use polytok_memory::{self as memory, Grow};

use crate::huge;
use crate::prefetch::prefetch;

/// The initial number of sets, unless the limit is lower.
const INITIAL_SETS: usize = 1 << 8;

/// The number of entries that are prefetched and then added together.
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
    fn has_key(&self, key: &Self::Key) -> bool;
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

    /// Returns the entry that has the key, or another entry if the key is missing. The code does not branch on which of
    /// the two entries it returns, because the processor could not predict the branch.
    #[inline]
    pub(crate) fn candidate(&self, hash: u32, key: &E::Key) -> Option<&E> {
        let Set(entries) = self.sets.get(self.set_index(hash))?;
        Some(&entries[entries[1].has_key(key) as usize])
    }

    #[inline]
    fn set_index(&self, hash: u32) -> usize {
        hash as usize & self.sets.len().wrapping_sub(1)
    }

    /// Inserts an entry, whose key must not be in the table.
    pub(crate) fn insert(&mut self, entry: E) {
        if self.insertions >= self.sets.len() && self.sets.len() < self.max_sets {
            self.grow();
        }
        self.insertions += 1;
        self.insert_newest(entry);
    }

    /// Removes the entries for which `is_removed` returns true.
    pub(super) fn remove_if(&mut self, is_removed: impl Fn(&E) -> bool) {
        let entries = self.sets.iter_mut().flat_map(|Set(entries)| entries);
        entries.filter(|entry| is_removed(entry)).for_each(|entry| *entry = E::EMPTY);
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
    /// contain some of the added entries.
    pub(super) fn add_older(&mut self, count: usize, mut older_entries: impl Iterator<Item = E>) {
        let set_count = (self.insertions + count).next_power_of_two().max(self.sets.len()).min(self.max_sets);
        let Ok(sets) = memory::run_caught(|| huge::with_capacity(set_count)) else { return };
        let old_sets = std::mem::replace(&mut self.sets, sets);
        // Many of these entries are never looked up, so it is better to lose some of them than to use a larger table.
        self.insertions += count / 2;
        self.sets.checked_resize(set_count, Set([E::EMPTY; 2]));
        // The cache lines of a batch of entries are prefetched before the entries are added.
        let mut batch = memory::with_capacity(INSERT_BATCH_LEN);
        loop {
            batch.extend(older_entries.by_ref().take(INSERT_BATCH_LEN));
            if batch.is_empty() {
                break;
            }
            batch.iter().for_each(|entry| self.prefetch(entry.hash()));
            batch.drain(..).for_each(|entry| self.insert_newest(entry));
        }
        let entries = old_sets.iter().flat_map(|Set([newer, older_entries])| [older_entries, newer]);
        for &entry in entries.filter(|entry| !entry.is_empty()) {
            let key = entry.key();
            if !self.candidate(entry.hash(), &key).is_some_and(|cached_entry| cached_entry.has_key(&key)) {
                self.insert_newest(entry);
            }
        }
    }

    fn insert_newest(&mut self, entry: E) {
        let set_index = self.set_index(entry.hash());
        if let Some(Set([newer, older])) = self.sets.get_mut(set_index) {
            *older = std::mem::replace(newer, entry);
        }
    }

    /// Doubles the number of sets. Each entry keeps its index or moves to the set whose index is higher by the old
    /// number of sets. If memory is refused, the table keeps its size.
    #[cold]
    fn grow(&mut self) {
        let old_count = self.sets.len();
        let new_count = (old_count * 2).max(INITIAL_SETS).min(self.max_sets);
        let Ok(mut sets) = memory::run_caught(|| huge::with_capacity(new_count)) else {
            self.max_sets = old_count;
            return;
        };
        sets.append(&mut self.sets);
        sets.checked_resize(new_count, Set([E::EMPTY; 2]));
        self.sets = sets;
        for at in 0..old_count {
            let Set([newer, older]) = std::mem::replace(&mut self.sets[at], Set([E::EMPTY; 2]));
            [older, newer].into_iter().filter(|entry| !entry.is_empty()).for_each(|entry| self.insert_newest(entry));
        }
    }

    /// Prefetches the cache line of a hash.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u32) {
        prefetch(&self.sets, self.set_index(hash));
    }
}
