//! Cache entries of 32 bytes, which hold a piece of at most 15 bytes and at most 4 ids.

use super::key::PieceKey;
use super::sets::CacheEntry;
use crate::token_id::TokenId;

/// The largest number of ids of an entry.
pub const MAX_SHORT_IDS: usize = 4;

/// The bit position of the code of the number of ids in the last id.
const CODE_SHIFT: u32 = 30;

/// A piece and its ids. An empty entry has the key `PieceKey::NONE`, which no piece has.
///
/// An entry with fewer than `MAX_SHORT_IDS` ids stores the number of missing ids in the highest bits of the last id. If
/// no id is missing, these bits of the last id are 0. So a lookup copies all ids without a change, and compares whole
/// keys.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct ShortEntry {
    key: PieceKey,
    ids: [TokenId; MAX_SHORT_IDS],
}

impl ShortEntry {
    /// Creates an entry, or returns `None` if the piece, the list of ids, or the last of four ids is too large.
    #[inline]
    pub(super) fn new(key: PieceKey, ids: &[TokenId]) -> Option<ShortEntry> {
        let missing_ids = MAX_SHORT_IDS.checked_sub(ids.len())?;
        if !key.is_short() || ids.is_empty() || ids.get(MAX_SHORT_IDS - 1).is_some_and(|id| id.0 >> CODE_SHIFT != 0) {
            return None;
        }
        let mut entry = ShortEntry { key, ids: [TokenId((missing_ids as u32) << CODE_SHIFT); MAX_SHORT_IDS] };
        entry.ids[..ids.len()].copy_from_slice(ids);
        Some(entry)
    }

    /// Returns the ids; the items after the last id have no meaning.
    #[inline]
    pub(super) fn ids(&self) -> &[TokenId; MAX_SHORT_IDS] {
        &self.ids
    }

    /// Returns the number of ids of the entry if the entry has this key, else 0.
    #[inline]
    pub(super) fn id_count_for(&self, key: PieceKey) -> usize {
        let missing_ids = (self.ids[MAX_SHORT_IDS - 1].0 >> CODE_SHIFT) as usize;
        if self.has_key(&key) { MAX_SHORT_IDS - missing_ids } else { 0 }
    }
}

impl CacheEntry for ShortEntry {
    type Key = PieceKey;
    const EMPTY: ShortEntry = ShortEntry { key: PieceKey::NONE, ids: [TokenId(0); MAX_SHORT_IDS] };

    fn is_empty(&self) -> bool {
        self.key == PieceKey::NONE
    }

    #[inline]
    fn has_key(&self, key: &PieceKey) -> bool {
        self.key == *key
    }

    fn key(&self) -> PieceKey {
        self.key
    }

    fn hash(&self) -> u32 {
        self.key.hash()
    }
}
