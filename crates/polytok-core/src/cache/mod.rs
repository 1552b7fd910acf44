//! A bounded cache from the bytes of a piece to its ids. Each thread that encodes has its own cache.
//!
//! Pieces repeat: in ordinary text, nine of ten pieces have occurred before. A short piece with few ids takes 32 bytes.
//! Its key and its ids are adjacent, so that a lookup reads one cache line. A longer piece (16 to 32 bytes, or 5 to 7
//! ids) takes 64 bytes. Short and long pieces are in tables of two-way sets (`sets`): a new entry replaces the older of
//! two entries, entries are not chained, and a lookup makes two comparisons. Pieces that are too long for both tables,
//! up to 1 KB of text, are records of variable length (`records`). Tables start small, because filling big tables would
//! slow down short texts. They double while pieces are inserted, up to the limit. After some thousand insertions, the
//! cache also receives the vocabulary entries whose bytes encode to their own id, because many future pieces are such
//! entries. A lookup returns either the inserted ids or nothing; with a limit of 0 nothing is cached.

mod block;
mod key;
mod long;
mod records;
mod sets;
mod short;

use crate::token_id::TokenId;
pub use block::{BLOCK_LEN, Block, BlockPiece};
pub use key::{MAX_KEY_BYTES, PieceKey};
pub use short::MAX_SHORT_IDS;

pub(crate) use long::MAX_LONG_BYTES;
use long::{LongEntry, LongKey};
use records::Records;
pub(crate) use sets::{CacheEntry, Sets};
use short::ShortEntry;

/// The default limit for the size of a cache in bytes.
pub const DEFAULT_LIMIT: usize = 64 << 20;

/// The cache. Memory is allocated at the first insertion.
#[derive(Debug)]
pub struct Cache {
    short: Sets<ShortEntry>,
    long: Sets<LongEntry>,
    records: Records,
    /// The bits of short pieces that have too many ids for `short`; the hash of a piece selects its bit. Empty until
    /// such a piece is inserted.
    many_id_bits: Vec<u64>,
    /// Whether `add_entries` was called.
    has_entries: bool,
}

/// The number of bits in `many_id_bits`. Only a few bits are set.
const MANY_ID_BIT_COUNT: usize = 1 << 16;

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
        let (short, long, records) = (Sets::new(limit / 2), Sets::new(limit / 4), Records::new(limit / 4));
        Cache { short, long, records, many_id_bits: Vec::new(), has_entries: false }
    }

    /// Returns the number of bytes of memory.
    pub fn bytes(&self) -> usize {
        self.short.bytes() + self.long.bytes() + self.records.bytes()
    }

    /// Writes the ids of a short piece to the start of `ids` and returns their number, or 0 if the piece is not cached.
    /// The code does not branch on the position in the set or on the number of ids, because the processor could not
    /// predict them.
    #[inline]
    pub fn get(&self, key: PieceKey, hash: u32, ids: &mut [TokenId; MAX_SHORT_IDS]) -> usize {
        let Some(entry) = self.short.candidate(hash, &key) else { return 0 };
        // A copy of the whole array stays one instruction; the fields of an assigned array would be copied one by one.
        ids.copy_from_slice(entry.ids());
        entry.id_count_for(key)
    }

    /// Returns the ids of a piece of any length that `get` did not find.
    #[inline]
    pub fn get_long(&self, piece: &[u8], key: PieceKey) -> Option<&[TokenId]> {
        if key.is_short() && !self.may_have_many_ids(key) {
            return None;
        }
        let long_ids = LongKey::new(piece, key).and_then(|key| self.long.candidate(key.hash(), &key)?.ids_for(&key));
        long_ids.or_else(|| self.records.get(piece, key.is_part()))
    }

    /// Inserts the ids of a piece, unless the piece or its ids are too long.
    #[inline]
    pub fn insert(&mut self, piece: &[u8], key: PieceKey, ids: &[TokenId]) {
        if let Some(entry) = ShortEntry::new(key, ids) {
            return self.short.insert(entry);
        }
        match LongKey::new(piece, key).and_then(|long_key| LongEntry::new(long_key, ids)) {
            Some(entry) => self.long.insert(entry),
            None => self.records.insert(piece, key.is_part(), ids),
        }
        if key.is_short() {
            self.many_id_bits.resize(MANY_ID_BIT_COUNT / 64, 0);
            let bit = key.hash() as usize % MANY_ID_BIT_COUNT;
            self.many_id_bits[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Reports whether a short piece can be in a table other than `short`. Such pieces are rare, and reading another
    /// table for every missing piece would cost cache misses.
    #[inline]
    fn may_have_many_ids(&self, key: PieceKey) -> bool {
        let bit = key.hash() as usize % MANY_ID_BIT_COUNT;
        self.many_id_bits.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
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
            && self.short.has_room_for(entry_count)
            && let Some(entries) = own_entries()
        {
            self.add_entries(entry_count, entries);
        }
    }

    /// Reports whether the vocabulary's `entry_count` entries should be inserted now: after enough insertions, many
    /// later pieces will be found among the entries.
    #[inline]
    fn should_add_entries(&self, entry_count: usize) -> bool {
        !self.has_entries
            && self.short.insertions() >= entry_count / ENTRIES_PER_INSERTION
            && self.short.has_room_for(entry_count)
    }

    /// Adds at most `entry_count` entries as whole pieces with one id, without long entries.
    #[cold]
    fn add_entries(&mut self, entry_count: usize, entries: impl Iterator<Item = (impl AsRef<[u8]>, TokenId)>) {
        let piece_key = |piece: &[u8]| PieceKey::new(piece, 0, piece.len(), false);
        let entries = entries.filter_map(|(piece, id)| ShortEntry::new(piece_key(piece.as_ref()), &[id]));
        self.short.add_older(entry_count, entries);
        self.has_entries = true;
    }

    /// Prefetches the cache line of a short piece.
    #[inline]
    pub fn prefetch(&self, hash: u32) {
        self.short.prefetch(hash);
    }

    /// Prefetches the cache line of a long piece.
    #[inline]
    pub fn prefetch_long(&self, piece: &[u8], key: PieceKey) {
        match LongKey::new(piece, key) {
            Some(key) => self.long.prefetch(key.hash()),
            None => self.records.prefetch(piece, key.is_part()),
        }
    }
}

#[cfg(test)]
mod tests;
