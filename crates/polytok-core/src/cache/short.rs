//! Cache entries of 32 bytes, which hold a piece of at most 15 bytes and at most 4 ids.

use super::key::PieceKey;
use super::sets::CacheEntry;
use crate::token_id::TokenId;

/// The largest number of ids of an entry.
pub const MAX_SHORT_IDS: usize = 4;

/// The bit position of the number of ids in the high half of the key.
const COUNT_SHIFT: u32 = 61;

/// A piece and its ids. The highest bits of the key hold the number of ids; 0 means that the entry is empty.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct ShortEntry {
    key: PieceKey,
    ids: [TokenId; MAX_SHORT_IDS],
}

impl ShortEntry {
    /// Creates an entry, or returns `None` if the piece or the list of ids is too long.
    #[inline]
    pub(super) fn new(key: PieceKey, ids: &[TokenId]) -> Option<ShortEntry> {
        if !key.is_short() || ids.is_empty() || ids.len() > MAX_SHORT_IDS {
            return None;
        }
        let mut entry = ShortEntry { key, ids: [TokenId(0); MAX_SHORT_IDS] };
        entry.key.high |= (ids.len() as u64) << COUNT_SHIFT;
        entry.ids[..ids.len()].copy_from_slice(ids);
        Some(entry)
    }

    /// Returns the ids; the items after the last id have no meaning.
    #[inline]
    pub(super) fn ids(&self) -> [TokenId; MAX_SHORT_IDS] {
        self.ids
    }

    /// Returns the number of ids of the entry if the entry has this key, else 0.
    #[inline]
    pub(super) fn id_count_for(&self, key: PieceKey) -> usize {
        let count = (self.key.high >> COUNT_SHIFT) as usize;
        if self.has_key(&key) { count } else { 0 }
    }
}

impl CacheEntry for ShortEntry {
    type Key = PieceKey;
    const EMPTY: ShortEntry = ShortEntry { key: PieceKey::NONE, ids: [TokenId(0); MAX_SHORT_IDS] };

    fn is_empty(&self) -> bool {
        self.key.high >> COUNT_SHIFT == 0
    }

    #[inline]
    fn has_key(&self, key: &PieceKey) -> bool {
        (self.key.low ^ key.low) | (self.key.high ^ key.high) << (64 - COUNT_SHIFT) == 0
    }

    fn key(&self) -> PieceKey {
        PieceKey { low: self.key.low, high: self.key.high << (64 - COUNT_SHIFT) >> (64 - COUNT_SHIFT) }
    }

    fn hash(&self) -> u32 {
        self.key().hash()
    }
}
