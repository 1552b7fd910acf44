//! Records of variable length. A record holds a piece that is too long for a cache entry or has too many ids, and the
//! ids of the piece.
//!
//! Records are adjacent in one buffer. A table of two-way sets maps a hash of 64 bits to the start of a record; the
//! record is then compared in full. When the buffer is full, all records are removed. This loses little: most pieces of
//! this length are either deep indentation, which is soon inserted again, or rare words and sentences, which hardly
//! repeat.

use super::sets::{CacheEntry, Sets};
use crate::hash::hash_bytes;
use crate::huge;
use crate::token_id::TokenId;

/// The largest length of a piece in bytes.
const MAX_RECORD_BYTES: usize = 1 << 10;
/// The initial size of the buffer in words of four bytes, unless the limit is lower.
const INITIAL_WORDS: usize = 1 << 12;

#[derive(Debug)]
pub(super) struct Records {
    positions: Sets<RecordPosition>,
    /// The records. A record consists of its head, the number of its ids, its text, zeros up to the next word, and its
    /// ids.
    words: Vec<u32>,
    /// The largest number of words in the buffer.
    max_words: usize,
}

/// The hash of a piece, and the index in `words` at which the record of the piece starts.
#[derive(Clone, Copy, Debug)]
struct RecordPosition {
    /// The hash; 0 in an empty entry.
    hash: u64,
    at: u32,
}

impl CacheEntry for RecordPosition {
    type Key = u64;
    const EMPTY: RecordPosition = RecordPosition { hash: 0, at: 0 };

    fn is_empty(&self) -> bool {
        self.hash == 0
    }

    #[inline]
    fn has_key(&self, key: &u64) -> bool {
        self.hash == *key
    }

    fn key(&self) -> u64 {
        self.hash
    }

    fn hash(&self) -> u32 {
        self.hash as u32
    }
}

impl Records {
    /// Creates an empty table that takes at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Records {
        let position_bytes = limit / 8;
        Records {
            positions: Sets::new(position_bytes),
            words: Vec::new(),
            max_words: (limit - position_bytes) / size_of::<u32>(),
        }
    }

    /// Returns the number of bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.positions.bytes() + self.words.capacity() * size_of::<u32>()
    }

    /// Returns the ids of a piece.
    #[inline]
    pub(super) fn get(&self, piece: &[u8], is_part: bool) -> Option<&[TokenId]> {
        let hash = hash_piece(piece, is_part)?;
        let position = self.positions.candidate(hash as u32, &hash).filter(|position| position.has_key(&hash))?;
        let (&[stored_head, count], record) = self.words.get(position.at as usize..)?.split_first_chunk()?;
        let (text, ids) = record.split_at_checked(piece.len().div_ceil(4))?;
        let is_same_piece = stored_head == record_head(piece, is_part) && bytemuck::cast_slice(text).starts_with(piece);
        ids.get(..count as usize).filter(|_| is_same_piece).map(TokenId::slice_of)
    }

    /// Inserts a record for a piece that has none, unless the record is larger than the limit.
    pub(super) fn insert(&mut self, piece: &[u8], is_part: bool, ids: &[TokenId]) {
        let words_needed = 2 + piece.len().div_ceil(4) + ids.len();
        let Some(hash) = hash_piece(piece, is_part).filter(|_| words_needed <= self.max_words && !ids.is_empty())
        else {
            return;
        };
        if self.words.len() + words_needed > self.max_words {
            self.words.clear();
            self.positions.clear();
        }
        self.reserve(words_needed);
        self.positions.insert(RecordPosition { hash, at: self.words.len() as u32 });
        self.words.extend([record_head(piece, is_part), ids.len() as u32]);
        let (full_words, remaining_bytes) = piece.as_chunks();
        self.words.extend(full_words.iter().map(|&word| u32::from_ne_bytes(word)));
        if !remaining_bytes.is_empty() {
            let mut word = [0; 4];
            word[..remaining_bytes.len()].copy_from_slice(remaining_bytes);
            self.words.push(u32::from_ne_bytes(word));
        }
        self.words.extend_from_slice(TokenId::numbers(ids));
    }

    /// Grows the buffer so that `words_needed` more words fit; the size at least doubles, but does not exceed the
    /// limit.
    fn reserve(&mut self, words_needed: usize) {
        let total_words = self.words.len() + words_needed;
        if total_words > self.words.capacity() {
            let capacity = (2 * self.words.capacity()).max(INITIAL_WORDS).max(total_words).min(self.max_words);
            let mut words = huge::with_capacity(capacity);
            words.append(&mut self.words);
            self.words = words;
        }
    }

    /// Prefetches the table entry of a piece's record.
    #[inline]
    pub(super) fn prefetch(&self, piece: &[u8], is_part: bool) {
        if let Some(hash) = hash_piece(piece, is_part) {
            self.positions.prefetch(hash as u32);
        }
    }
}

/// Returns the first word of a record.
#[inline]
fn record_head(piece: &[u8], is_part: bool) -> u32 {
    (piece.len() as u32) << 1 | is_part as u32
}

/// Returns the hash of a piece, or `None` if the piece is too long.
#[inline]
fn hash_piece(piece: &[u8], is_part: bool) -> Option<u64> {
    (piece.len() <= MAX_RECORD_BYTES).then(|| hash_bytes(piece, is_part as u64) | 1 << 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a piece can look like a record. They must not be read as a record, even if they are at the offset
    /// at which a removed record started.
    #[test]
    fn a_text_is_not_read_as_a_record() {
        let (piece, ids, limit) = ([b'a'; 40], [1, 2, 3].map(TokenId), 1 << 14);
        let mut forged = Records::new(limit);
        forged.insert(&piece, false, &[TokenId(6); 3]);
        let mut records = Records::new(limit);
        records.insert(&[b'b'; 40], false, &[TokenId(1)]);
        let at = records.words.len();
        records.insert(&piece, false, &ids);
        assert_eq!(records.get(&piece, false), Some(&ids[..]));
        // This record is so large that all earlier records are removed. Its text follows the two words of its head.
        let text = [&vec![0; at - 2], &forged.words[..]].concat();
        records.insert(bytemuck::cast_slice(&text), false, &vec![TokenId(1); records.max_words - text.len() - 2]);
        assert!(records.words[at..].starts_with(&forged.words));
        assert_eq!(records.get(&piece, false), None);
    }
}
