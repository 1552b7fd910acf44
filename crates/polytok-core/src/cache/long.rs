//! Entries of 64 bytes: up to 32 bytes of text and 7 ids.

use super::key::{PieceKey, fold};
use super::sets::CacheEntry;
use crate::token_id::TokenId;

/// The highest number of bytes of a piece.
pub(crate) const LONGEST: usize = 32;
/// The highest number of ids of an entry.
const IDS: usize = 7;

/// The key of a longer piece. A piece of 16 to 32 bytes is stored as its first and its last sixteen bytes, which can
/// overlap; a shorter piece as its short key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongKey {
    first: u128,
    last: u128,
    len: u8,
    is_part: bool,
}

impl LongKey {
    /// Returns the key of a piece, or `None` if the piece is too long.
    #[inline]
    pub(super) fn new(piece: &[u8], key: PieceKey) -> Option<LongKey> {
        let (first, last) = match (piece.first_chunk(), piece.last_chunk()) {
            (Some(&first), Some(&last)) => (u128::from_le_bytes(first), u128::from_le_bytes(last)),
            _ => (key.low as u128, key.high as u128),
        };
        let is_part = key.is_part();
        (piece.len() <= LONGEST).then_some(LongKey { first, last, len: piece.len() as u8, is_part })
    }

    #[inline]
    pub(super) fn hash(&self) -> u32 {
        let half =
            |number: u128| fold(number as u64 ^ 0x9E6C_63D0_876A_9A99, (number >> 64) as u64 ^ 0xD6E8_FEB8_6659_FD93);
        half(self.first).rotate_left(16) ^ half(self.last) ^ self.len as u32
    }
}

/// A piece and its ids.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct LongEntry {
    first: u128,
    last: u128,
    len: u8,
    is_part: bool,
    /// The number of ids; 0 in an empty entry.
    count: u8,
    ids: [TokenId; IDS],
}

impl LongEntry {
    /// Creates an entry, or returns `None` if it has too many ids.
    pub(super) fn new(LongKey { first, last, len, is_part }: LongKey, ids: &[TokenId]) -> Option<LongEntry> {
        if ids.is_empty() || ids.len() > IDS {
            return None;
        }
        let mut entry = LongEntry { first, last, len, is_part, count: ids.len() as u8, ids: [TokenId(0); IDS] };
        entry.ids[..ids.len()].copy_from_slice(ids);
        Some(entry)
    }

    /// Returns the ids if this is the entry of the key.
    #[inline]
    pub(super) fn ids_if(&self, key: &LongKey) -> Option<&[TokenId]> {
        let ids = self.ids.get(..self.count as usize)?;
        (!ids.is_empty() && self.is_of(key)).then_some(ids)
    }
}

impl CacheEntry for LongEntry {
    type Key = LongKey;
    const EMPTY: LongEntry = LongEntry { first: 0, last: 0, len: 0, is_part: false, count: 0, ids: [TokenId(0); IDS] };

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    fn is_of(&self, key: &LongKey) -> bool {
        self.key() == *key
    }

    #[inline]
    fn key(&self) -> LongKey {
        LongKey { first: self.first, last: self.last, len: self.len, is_part: self.is_part }
    }

    fn hash(&self) -> u32 {
        self.key().hash()
    }
}
