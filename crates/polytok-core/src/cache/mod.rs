//! A bounded cache from the bytes of a piece to its ids. Each thread that encodes has its own cache.
//!
//! Pieces repeat: in ordinary text, nine of ten pieces have occurred before. A short piece with few ids takes 32 bytes,
//! its key and ids adjacent, so that a lookup reads one cache line. A longer piece (16 to 32 bytes, or 5 to 7 ids)
//! takes 64 bytes. Short and long pieces are in tables of two-way sets (`sets`): a new entry replaces the older of two
//! entries, entries are not chained, and a lookup makes two comparisons. Pieces that are too long for both tables, up
//! to 1 KB of text, are records of variable length (`records`). Tables start small, so that a short text does not pay
//! for big tables, and double while pieces are inserted, up to the limit. After some thousand insertions, the
//! vocabulary's entries whose bytes encode to their own id are inserted too, because many pieces that were not seen yet
//! are entries. A lookup returns either the inserted ids or nothing; with a limit of 0 nothing is cached.

mod block;
mod key;
mod long;
mod records;
mod sets;
mod short;

use crate::token_id::TokenId;
pub use block::{BLOCK, Block, BlockPiece};
pub use key::{KEY, PieceKey};
pub use short::IDS;

pub(crate) use long::LONGEST;
use long::{LongEntry, LongKey};
use records::Records;
pub(crate) use sets::{CacheEntry, Sets};
use short::ShortEntry;

/// The number of bytes that a cache can take by default.
pub const DEFAULT_LIMIT: usize = 64 << 20;

/// The cache. Memory is allocated at the first insertion.
#[derive(Debug)]
pub struct Cache {
    short: Sets<ShortEntry>,
    long: Sets<LongEntry>,
    records: Records,
    /// A bit for each short piece that has too many ids for `short`; the hash of the piece selects the bit. Empty until
    /// such a piece is inserted.
    many: Vec<u64>,
    /// Whether `add_entries` was called.
    has_entries: bool,
}

/// The number of bits in `many`. Only a few bits are set.
const MANY_BITS: usize = 1 << 16;

/// The entries of a vocabulary are added after a number of insertions: the number of entries divided by this number.
const ENTRIES_PER_PIECE: usize = 16;

impl Default for Cache {
    fn default() -> Cache {
        Cache::new(DEFAULT_LIMIT)
    }
}

impl Cache {
    /// Creates an empty cache that takes at most `limit` bytes.
    pub fn new(limit: usize) -> Cache {
        let (short, long, records) = (Sets::new(limit / 2), Sets::new(limit / 4), Records::new(limit / 4));
        Cache { short, long, records, many: Vec::new(), has_entries: false }
    }

    /// Returns the number of bytes of memory.
    pub fn bytes(&self) -> usize {
        self.short.bytes() + self.long.bytes() + self.records.bytes()
    }

    /// Writes the ids of a short piece to the start of `ids` and returns their number, or 0 if the piece is not cached.
    /// The code does not branch on the position in the set or on the number of ids, because the processor could not
    /// predict them.
    #[inline]
    pub fn get(&self, key: PieceKey, hash: u32, ids: &mut [TokenId; IDS]) -> usize {
        let Some(entry) = self.short.candidate(hash, &key) else { return 0 };
        *ids = entry.ids();
        entry.count_if(key)
    }

    /// Returns the ids of a piece of any length that `get` did not find.
    #[inline]
    pub fn get_long(&self, piece: &[u8], key: PieceKey) -> Option<&[TokenId]> {
        if key.is_short() && !self.may_have_many(key) {
            return None;
        }
        let entry = LongKey::new(piece, key).and_then(|key| self.long.candidate(key.hash(), &key)?.ids_if(&key));
        entry.or_else(|| self.records.get(piece, key.is_part()))
    }

    /// Inserts the ids of a piece, unless the piece or its ids are too long.
    #[inline]
    pub fn insert(&mut self, piece: &[u8], key: PieceKey, ids: &[TokenId]) {
        if let Some(entry) = ShortEntry::new(key, ids) {
            return self.short.insert(entry);
        }
        match LongKey::new(piece, key).and_then(|long| LongEntry::new(long, ids)) {
            Some(entry) => self.long.insert(entry),
            None => self.records.insert(piece, key.is_part(), ids),
        }
        if key.is_short() {
            self.many.resize(MANY_BITS / 64, 0);
            let bit = key.hash() as usize % MANY_BITS;
            self.many[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Reports whether a short piece can be in another table. A short piece is rarely in another table, and reading
    /// that table would cost a cache miss.
    #[inline]
    fn may_have_many(&self, key: PieceKey) -> bool {
        let bit = key.hash() as usize % MANY_BITS;
        self.many.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Inserts the ids of a piece. Also inserts the vocabulary's `count` entries that encode to their own id, once
    /// enough pieces were inserted for this to pay.
    #[inline]
    pub fn remember<E: Iterator<Item = (impl AsRef<[u8]>, TokenId)>>(
        &mut self,
        piece: &[u8],
        key: PieceKey,
        ids: &[TokenId],
        count: usize,
        own_entries: impl FnOnce() -> Option<E>,
    ) {
        self.insert(piece, key, ids);
        if self.entries_pay(count)
            && let Some(entries) = own_entries()
        {
            self.add_entries(count, entries);
        }
    }

    /// Reports whether inserting `count` entries pays: after enough insertions, more will follow, and many of the
    /// pieces are entries.
    #[inline]
    fn entries_pay(&self, count: usize) -> bool {
        !self.has_entries && self.short.insertions() >= count / ENTRIES_PER_PIECE && self.short.has_room_for(count)
    }

    /// Adds at most `count` whole pieces of one id each, and skips long pieces.
    #[cold]
    fn add_entries(&mut self, count: usize, entries: impl Iterator<Item = (impl AsRef<[u8]>, TokenId)>) {
        let key = |piece: &[u8]| PieceKey::new(piece, 0, piece.len(), false);
        let entries = entries.filter_map(|(piece, id)| ShortEntry::new(key(piece.as_ref()), &[id]));
        self.short.add_older(count, entries);
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
