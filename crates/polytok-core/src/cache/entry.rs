//! Cache entries of 32 bytes: the key of a piece, and its ids or the place of its record.

use super::key::PieceKey;
use super::records::RecordPlace;
use super::sets::CacheEntry;
use crate::token_id::TokenId;

/// The largest number of ids of an entry.
pub const MAX_ENTRY_IDS: usize = 4;

/// The bit position of the code of the number of ids in the last id.
const CODE_SHIFT: u32 = 30;

/// A piece and its ids. An empty entry has the key `PieceKey::NONE`, which no piece has.
///
/// An entry with fewer than `MAX_ENTRY_IDS` ids stores the number of missing ids in the highest bits of the last id. If
/// no id is missing, these bits of the last id are 0. So a lookup copies all ids without a change, and compares whole
/// keys. An entry with the place of a record has a marked key, so that a lookup of ids does not find it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Entry {
    key: PieceKey,
    ids: [TokenId; MAX_ENTRY_IDS],
}

impl Entry {
    /// Creates an entry with ids, or returns `None` if the piece, the list of ids, or the last of four ids is too
    /// large.
    #[inline]
    pub(super) fn with_ids(key: PieceKey, ids: &[TokenId]) -> Option<Entry> {
        let missing_ids = MAX_ENTRY_IDS.checked_sub(ids.len())?;
        if !key.is_short() || ids.is_empty() || ids.get(MAX_ENTRY_IDS - 1).is_some_and(|id| id.0 >> CODE_SHIFT != 0) {
            return None;
        }
        let mut entry = Entry { key, ids: [TokenId((missing_ids as u32) << CODE_SHIFT); MAX_ENTRY_IDS] };
        entry.ids[..ids.len()].copy_from_slice(ids);
        Some(entry)
    }

    /// Creates an entry with the place of a record.
    pub(super) fn with_record(key: PieceKey, RecordPlace { at, text_len, id_count }: RecordPlace) -> Entry {
        Entry { key: key.marked(), ids: [at, text_len, id_count, 0].map(TokenId) }
    }

    /// Returns the ids; the items after the last id have no meaning.
    #[inline]
    pub(super) fn ids(&self) -> &[TokenId; MAX_ENTRY_IDS] {
        &self.ids
    }

    /// Returns the number of ids of the entry if the entry has this key, else 0.
    #[inline]
    pub(super) fn id_count_for(&self, key: PieceKey) -> usize {
        let missing_ids = (self.ids[MAX_ENTRY_IDS - 1].0 >> CODE_SHIFT) as usize;
        if self.has_key(&key) { MAX_ENTRY_IDS - missing_ids } else { 0 }
    }

    /// Returns the place of the record if the entry has this marked key.
    #[inline]
    pub(super) fn record_for(&self, marked_key: PieceKey) -> Option<RecordPlace> {
        let [TokenId(at), TokenId(text_len), TokenId(id_count), _] = self.ids;
        self.has_key(&marked_key).then_some(RecordPlace { at, text_len, id_count })
    }

    #[inline]
    pub(super) fn has_record(&self) -> bool {
        self.key.is_marked()
    }
}

impl CacheEntry for Entry {
    type Key = PieceKey;
    const EMPTY: Entry = Entry { key: PieceKey::NONE, ids: [TokenId(0); MAX_ENTRY_IDS] };

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
        self.key.unmarked().hash()
    }
}
