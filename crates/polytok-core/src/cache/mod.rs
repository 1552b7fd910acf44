//! A bounded cache from piece bytes to ids, one for each encoding that is at work.
//!
//! Pieces repeat: in ordinary text nine of ten were seen before. Short pieces of few ids have 32 bytes each, key and ids side by
//! side, so that a lookup is one cache line; what does not fit there (16 to 32 bytes, or 5 to 7 ids) has 64 bytes. Both are
//! tables of two-way sets (`sets`): a newcomer pushes out the older of two, nothing is chained, and a lookup is two comparisons.
//! What has no room in either, up to 1 KB of text, is a record of its own length (`records`).
//! Tables start small, since a short text shall not pay for big ones, and double while pieces come in, up to the limit.
//! When some thousand came in, the entries of a vocabulary that are their own ids are put there too, for many pieces that were not
//! seen yet are entries.
//! What comes out is what went in or nothing; a limit of 0 keeps nothing.

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

/// Bytes that a cache may take if nobody says otherwise.
pub const DEFAULT_LIMIT: usize = 64 << 20;

/// The cache. Memory is taken at the first insertion.
#[derive(Debug)]
pub struct Cache {
    short: Sets<ShortEntry>,
    long: Sets<LongEntry>,
    records: Records,
    /// A bit for each short piece that is not among the short ones, by its hash; none until there is one.
    many: Vec<u64>,
    /// See `add_entries`.
    has_entries: bool,
}

/// Short pieces of many ids have these many bits, of which few are set.
const MANY: usize = 1 << 16;

/// The entries of a vocabulary are added after one insertion per this number of entries.
const ENTRIES_PER_PIECE: usize = 16;

impl Default for Cache {
    fn default() -> Cache {
        Cache::new(DEFAULT_LIMIT)
    }
}

impl Cache {
    /// An empty cache that takes at most so many bytes.
    pub fn new(limit: usize) -> Cache {
        let (short, long, records) = (Sets::new(limit / 2), Sets::new(limit / 4), Records::new(limit / 4));
        Cache { short, long, records, many: Vec::new(), has_entries: false }
    }

    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        self.short.bytes() + self.long.bytes() + self.records.bytes()
    }

    /// Writes the ids of a short piece to the start of `ids` and says how many they are; 0 if it is not here. Which of the two
    /// entries it is, and how many ids, cannot be foreseen, so neither is a branch.
    #[inline]
    pub fn get(&self, key: PieceKey, hash: u32, ids: &mut [TokenId; IDS]) -> usize {
        let Some(entry) = self.short.candidate(hash, &key) else { return 0 };
        *ids = entry.ids();
        entry.count_if(key)
    }

    /// The ids of a piece of any length that `get` did not find.
    #[inline]
    pub fn get_long(&self, piece: &[u8], key: PieceKey) -> Option<&[TokenId]> {
        if key.is_short() && !self.may_have_many(key) {
            return None;
        }
        let entry = LongKey::new(piece, key).and_then(|key| self.long.candidate(key.hash(), &key)?.ids_if(&key));
        entry.or_else(|| self.records.get(piece, key.is_part()))
    }

    /// Keeps the ids of a piece, if they and it are not too long.
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
            self.many.resize(MANY / 64, 0);
            let bit = key.hash() as usize % MANY;
            self.many[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Whether a short piece may be elsewhere. That is seldom, and the line it would be in is far away.
    #[inline]
    fn may_have_many(&self, key: PieceKey) -> bool {
        let bit = key.hash() as usize % MANY;
        self.many.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Keeps the ids of a piece, and once that pays, all entries of a vocabulary of `count` entries: those that are their own ids.
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

    /// Reports whether it pays to add `count` entries: enough pieces were inserted that more will follow, and many of them are entries.
    #[inline]
    fn entries_pay(&self, count: usize) -> bool {
        !self.has_entries && self.short.insertions() >= count / ENTRIES_PER_PIECE && self.short.has_room_for(count)
    }

    /// Adds at most `count` whole pieces of one id each. Long pieces are skipped.
    #[cold]
    fn add_entries(&mut self, count: usize, entries: impl Iterator<Item = (impl AsRef<[u8]>, TokenId)>) {
        let key = |piece: &[u8]| PieceKey::new(piece, 0, piece.len(), false);
        let entries = entries.filter_map(|(piece, id)| ShortEntry::new(key(piece.as_ref()), &[id]));
        self.short.add_older(count, entries);
        self.has_entries = true;
    }

    /// Asks the processor for the line of a short piece.
    #[inline]
    pub fn prefetch(&self, hash: u32) {
        self.short.prefetch(hash);
    }

    /// The same for a long piece.
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
