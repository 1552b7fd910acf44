//! Cache entries of 64 bytes, which hold a piece of up to 32 bytes and up to 7 ids.

use super::key::{PieceKey, multiply_and_fold};
use super::sets::CacheEntry;
use crate::token_id::TokenId;

/// The largest length of a piece in bytes.
pub(crate) const MAX_LONG_BYTES: usize = 32;
/// The largest number of ids of an entry.
const MAX_LONG_IDS: usize = 7;

/// The key of a longer piece. A piece of 16 to 32 bytes is stored as its first sixteen bytes and its last sixteen
/// bytes, which can overlap. A shorter piece is stored as the halves of its `PieceKey`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongKey {
    first_bytes: u128,
    last_bytes: u128,
    len: u8,
    is_part: bool,
}

impl LongKey {
    /// Returns the key of a piece, or `None` if the piece is too long.
    #[inline]
    pub(super) fn new(piece: &[u8], key: PieceKey) -> Option<LongKey> {
        let (first_bytes, last_bytes) = match (piece.first_chunk(), piece.last_chunk()) {
            (Some(&first), Some(&last)) => (u128::from_le_bytes(first), u128::from_le_bytes(last)),
            _ => {
                let (low, high) = key.halves();
                (low as u128, high as u128)
            }
        };
        let is_part = key.is_part();
        (piece.len() <= MAX_LONG_BYTES).then_some(LongKey { first_bytes, last_bytes, len: piece.len() as u8, is_part })
    }

    #[inline]
    pub(super) fn hash(&self) -> u32 {
        let hash_half = |number: u128| {
            multiply_and_fold(number as u64 ^ 0x9E6C_63D0_876A_9A99, (number >> 64) as u64 ^ 0xD6E8_FEB8_6659_FD93)
        };
        hash_half(self.first_bytes).rotate_left(16) ^ hash_half(self.last_bytes) ^ self.len as u32
    }
}

/// A piece and its ids.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct LongEntry {
    first_bytes: u128,
    last_bytes: u128,
    len: u8,
    is_part: bool,
    /// The number of ids; 0 in an empty entry.
    id_count: u8,
    ids: [TokenId; MAX_LONG_IDS],
}

impl LongEntry {
    /// Creates an entry, or returns `None` if the piece has no ids or too many ids.
    pub(super) fn new(
        LongKey { first_bytes, last_bytes, len, is_part }: LongKey,
        ids: &[TokenId],
    ) -> Option<LongEntry> {
        if ids.is_empty() || ids.len() > MAX_LONG_IDS {
            return None;
        }
        let mut entry = LongEntry {
            first_bytes,
            last_bytes,
            len,
            is_part,
            id_count: ids.len() as u8,
            ids: [TokenId(0); MAX_LONG_IDS],
        };
        entry.ids[..ids.len()].copy_from_slice(ids);
        Some(entry)
    }

    /// Returns the ids of the entry if the entry has this key.
    #[inline]
    pub(super) fn ids_for(&self, key: &LongKey) -> Option<&[TokenId]> {
        let ids = self.ids.get(..self.id_count as usize)?;
        (!ids.is_empty() && self.has_key(key)).then_some(ids)
    }
}

impl CacheEntry for LongEntry {
    type Key = LongKey;
    const EMPTY: LongEntry = LongEntry {
        first_bytes: 0,
        last_bytes: 0,
        len: 0,
        is_part: false,
        id_count: 0,
        ids: [TokenId(0); MAX_LONG_IDS],
    };

    fn is_empty(&self) -> bool {
        self.id_count == 0
    }

    #[inline]
    fn has_key(&self, key: &LongKey) -> bool {
        self.key() == *key
    }

    #[inline]
    fn key(&self) -> LongKey {
        LongKey { first_bytes: self.first_bytes, last_bytes: self.last_bytes, len: self.len, is_part: self.is_part }
    }

    fn hash(&self) -> u32 {
        self.key().hash()
    }
}
