//! A bounded cache from the bytes of a piece to its ids. Each thread that encodes has its own cache.
//!
//! Pieces repeat: in ordinary text, nine of ten pieces have occurred before. An entry of the cache takes 32 bytes. The
//! entry of a piece of at most 15 bytes and 4 ids has the key and the ids, so that a lookup reads one cache line. The
//! entry of any other piece has the place of a record of variable length, which has the ids:
//!
//! ```text
//! entry of " the"          | 20 74 68 65 00 ... length 4   | 279, -, -, 3 missing   |
//! entry of an Arabic word  | hash of its 18 bytes, marked  | place, 18 bytes, 6 ids | --> records: | text | 6 ids |
//! ```
//!
//! Entries are in a table of two-way sets (`sets`): a new entry replaces the older of two entries, entries are not
//! chained, and a lookup makes two comparisons. The table starts small, because filling a big table would slow down
//! short texts. It doubles while pieces are inserted, up to the limit. After some thousand insertions, the cache also
//! receives the vocabulary entries whose bytes encode to their own id, because many future pieces are such entries. A
//! lookup returns either the inserted ids or nothing; with a limit of 0 nothing is cached.

mod block;
mod entry;
mod key;
mod record_reads;
mod records;
mod sets;

use crate::token_id::TokenId;
pub use block::{BLOCK_LEN, Block, BlockPiece, CachedPieces};
use entry::Entry;
pub use entry::MAX_ENTRY_IDS;
use key::MAX_HASHED_BYTES;
pub use key::{MAX_KEY_BYTES, PieceKey};
use records::{RecordPlace, Records};
pub(crate) use sets::{CacheEntry, Sets};

/// The default limit for the size of a cache in bytes.
pub const DEFAULT_LIMIT: usize = 64 << 20;

/// The cache. Memory is allocated at the first insertion.
#[derive(Debug)]
pub struct Cache {
    entries: Sets<Entry>,
    records: Records,
    /// Whether `add_entries` was called.
    has_entries: bool,
}

/// The cache adds the entries of the vocabulary when the number of insertions reaches the number of entries divided by
/// this number.
const ENTRIES_PER_INSERTION: usize = 16;

impl Default for Cache {
    fn default() -> Cache {
        Cache::new(DEFAULT_LIMIT)
    }
}

impl Cache {
    /// Creates an empty cache that takes at most `limit` bytes.
    pub fn new(limit: usize) -> Cache {
        Cache { entries: Sets::new(limit / 2), records: Records::new(limit / 2), has_entries: false }
    }

    /// Returns the number of bytes of memory.
    pub fn bytes(&self) -> usize {
        self.entries.bytes() + self.records.bytes()
    }

    /// Writes the ids of a piece to the start of `ids` and returns their number, or 0 if the piece is not cached or has
    /// a record. The code does not branch on the position in the set or on the number of ids, because the processor
    /// could not predict them.
    #[inline]
    pub fn get(&self, key: PieceKey, hash: u32, ids: &mut [TokenId; MAX_ENTRY_IDS]) -> usize {
        let Some(entry) = self.entries.candidate(hash, &key) else { return 0 };
        // A copy of the whole array stays one instruction; the fields of an assigned array would be copied one by one.
        ids.copy_from_slice(entry.ids());
        entry.id_count_for(key)
    }

    /// Returns the ids of a piece from its record. `key` must be complete.
    pub fn get_record(&self, piece: &[u8], key: PieceKey) -> Option<&[TokenId]> {
        self.records.get(self.record_place(key, key.hash())?, piece)
    }

    /// Returns the place of the record for a key. The record can have the text of another long piece.
    #[inline]
    fn record_place(&self, key: PieceKey, hash: u32) -> Option<RecordPlace> {
        let marked_key = key.marked();
        self.entries.candidate(hash, &marked_key)?.record_for(marked_key)
    }

    /// Inserts the ids of a piece, unless the piece or its ids are too long. `key` must be complete.
    #[inline]
    pub fn insert(&mut self, piece: &[u8], key: PieceKey, ids: &[TokenId]) {
        match Entry::with_ids(key, ids) {
            Some(entry) => self.entries.insert(entry),
            None => self.insert_record(piece, key, ids),
        }
    }

    /// Inserts a record and its entry. If the records are full, first removes them and all entries with their places.
    fn insert_record(&mut self, piece: &[u8], key: PieceKey, ids: &[TokenId]) {
        if piece.is_empty() || piece.len() > MAX_HASHED_BYTES || ids.is_empty() {
            return;
        }
        // The key of a short piece has all its bytes.
        let text = if key.is_short() { &[] } else { piece };
        let Some(has_room) = self.records.has_room_for(text, ids) else { return };
        if !has_room {
            self.records.clear();
            self.entries.remove_if(Entry::has_record);
        }
        if let Some(place) = self.records.insert(text, ids) {
            self.entries.insert(Entry::with_record(key, place));
        }
    }

    /// Inserts the ids of a piece. When enough pieces were inserted, also inserts the vocabulary entries that encode to
    /// their own id, up to `entry_count`.
    #[inline]
    pub fn insert_with_entries<E: Iterator<Item = (impl AsRef<[u8]>, TokenId)>>(
        &mut self,
        piece: &[u8],
        key: PieceKey,
        ids: &[TokenId],
        entry_count: usize,
        own_entries: impl FnOnce() -> Option<E>,
    ) {
        self.insert(piece, key, ids);
        if self.should_add_entries(entry_count)
            && let Some(entries) = own_entries()
        {
            self.add_entries(entry_count, entries);
        }
    }

    /// Inserts up to `entry_count` vocabulary entries that encode to their own id, unless they were inserted before or
    /// the cache has no room for all of them.
    pub fn insert_entries<E: Iterator<Item = (impl AsRef<[u8]>, TokenId)>>(
        &mut self,
        entry_count: usize,
        own_entries: impl FnOnce() -> Option<E>,
    ) {
        if !self.has_entries
            && self.entries.has_room_for(entry_count)
            && let Some(entries) = own_entries()
        {
            // The table gets the size that it has if the entries are inserted after other pieces.
            self.add_entries(entry_count + entry_count / ENTRIES_PER_INSERTION, entries);
        }
    }

    /// Reports whether the vocabulary's `entry_count` entries should be inserted now: after enough insertions, many
    /// later pieces will be found among the entries.
    #[inline]
    fn should_add_entries(&self, entry_count: usize) -> bool {
        !self.has_entries
            && self.entries.insertions() >= entry_count / ENTRIES_PER_INSERTION
            && self.entries.has_room_for(entry_count)
    }

    /// Adds at most `entry_count` entries as whole pieces with one id, without long pieces.
    #[cold]
    fn add_entries(&mut self, entry_count: usize, entries: impl Iterator<Item = (impl AsRef<[u8]>, TokenId)>) {
        let piece_key = |piece: &[u8]| PieceKey::new(piece, 0, piece.len(), false);
        let entries = entries.filter_map(|(piece, id)| Entry::with_ids(piece_key(piece.as_ref()), &[id]));
        self.entries.add_older(entry_count, entries);
        self.has_entries = true;
    }

    /// Completes the key of the piece at `text[start..end]`, prefetches the cache line of its entry, and returns the
    /// hash of the key.
    #[inline(always)]
    pub fn complete_and_prefetch(&self, text: &[u8], (start, end): (u32, u32), key: &mut PieceKey) -> u32 {
        if !key.is_short() {
            *key = key.complete(&text[start as usize..end as usize]);
        }
        let hash = key.hash();
        self.entries.prefetch(hash);
        hash
    }
}

#[cfg(test)]
mod tests;
