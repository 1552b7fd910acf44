//! Entries of 32 bytes: at most 15 bytes of text and 4 ids.

use super::key::PieceKey;
use super::sets::CacheEntry;
use crate::token_id::TokenId;

/// Most ids of an entry.
pub const IDS: usize = 4;

/// The key's bits that hold the count.
const COUNT_SHIFT: u32 = 61;

/// A piece and its ids. Their count stands in the highest bits of the key; 0 is no entry.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct ShortEntry {
    key: PieceKey,
    ids: [TokenId; IDS],
}

impl ShortEntry {
    /// None if the piece is too long, or the ids are too many.
    #[inline]
    pub(super) fn new(key: PieceKey, ids: &[TokenId]) -> Option<ShortEntry> {
        if !key.is_short() || ids.is_empty() || ids.len() > IDS {
            return None;
        }
        let mut entry = ShortEntry { key, ids: [TokenId(0); IDS] };
        entry.key.high |= (ids.len() as u64) << COUNT_SHIFT;
        entry.ids[..ids.len()].copy_from_slice(ids);
        Some(entry)
    }

    /// The ids, and something behind them.
    #[inline]
    pub(super) fn ids(&self) -> [TokenId; IDS] {
        self.ids
    }

    /// The number of ids if this is the entry of the key, else 0.
    #[inline]
    pub(super) fn count_if(&self, key: PieceKey) -> usize {
        let count = (self.key.high >> COUNT_SHIFT) as usize;
        if self.is_of(&key) { count } else { 0 }
    }
}

impl CacheEntry for ShortEntry {
    type Key = PieceKey;
    const EMPTY: ShortEntry = ShortEntry { key: PieceKey::NONE, ids: [TokenId(0); IDS] };

    fn is_empty(&self) -> bool {
        self.key.high >> COUNT_SHIFT == 0
    }

    #[inline]
    fn is_of(&self, key: &PieceKey) -> bool {
        (self.key.low ^ key.low) | (self.key.high ^ key.high) << (64 - COUNT_SHIFT) == 0
    }

    fn key(&self) -> PieceKey {
        PieceKey { low: self.key.low, high: self.key.high << (64 - COUNT_SHIFT) >> (64 - COUNT_SHIFT) }
    }

    fn hash(&self) -> u32 {
        self.key().hash()
    }
}
