//! Records of variable length, for pieces that are too long for an entry or have too many ids, and their ids.
//!
//! Records are adjacent in one buffer. A table of two-way sets maps a hash of 64 bits to the start of a record; the
//! record is then compared in full. When the buffer is full, all records are removed: most pieces of this length are
//! either deep indentation, which soon repeats, or rare words and sentences, which hardly repeat.

use super::sets::{CacheEntry, Sets};
use crate::hash::hash_bytes;
use crate::huge;
use crate::token_id::TokenId;

/// The highest number of bytes of a piece.
const LONGEST: usize = 1 << 10;
/// The initial size of the buffer in words of four bytes, unless the limit is lower.
const INITIAL_WORDS: usize = 1 << 12;

#[derive(Debug)]
pub(super) struct Records {
    places: Sets<RecordPosition>,
    /// The records. A record consists of its head, the number of its ids, its text, zeros up to the next word, and its
    /// ids.
    words: Vec<u32>,
    /// The largest number of words in the buffer.
    max_words: usize,
}

/// The start of the record that has a hash.
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
    fn is_of(&self, key: &u64) -> bool {
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
        let places = limit / 8;
        Records { places: Sets::new(places), words: Vec::new(), max_words: (limit - places) / size_of::<u32>() }
    }

    /// Returns the number of bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.places.bytes() + self.words.capacity() * size_of::<u32>()
    }

    /// Returns the ids of a piece.
    #[inline]
    pub(super) fn get(&self, piece: &[u8], is_part: bool) -> Option<&[TokenId]> {
        let hash = hash(piece, is_part)?;
        let place = self.places.candidate(hash as u32, &hash).filter(|place| place.is_of(&hash))?;
        let (&[head_of_it, count], rest) = self.words.get(place.at as usize..)?.split_first_chunk()?;
        let (text, ids) = rest.split_at_checked(piece.len().div_ceil(4))?;
        let is_it = head_of_it == head(piece, is_part) && bytemuck::cast_slice(text).starts_with(piece);
        ids.get(..count as usize).filter(|_| is_it).map(TokenId::slice_of)
    }

    /// Inserts the ids of a piece that has no record, if the record fits into the limit.
    pub(super) fn insert(&mut self, piece: &[u8], is_part: bool, ids: &[TokenId]) {
        let words_needed = 2 + piece.len().div_ceil(4) + ids.len();
        let Some(hash) = hash(piece, is_part).filter(|_| words_needed <= self.max_words && !ids.is_empty()) else {
            return;
        };
        if self.words.len() + words_needed > self.max_words {
            self.words.clear();
            self.places.clear();
        }
        self.reserve(words_needed);
        self.places.insert(RecordPosition { hash, at: self.words.len() as u32 });
        self.words.extend([head(piece, is_part), ids.len() as u32]);
        let (full_words, remaining_bytes) = piece.as_chunks();
        self.words.extend(full_words.iter().map(|&word| u32::from_ne_bytes(word)));
        if !remaining_bytes.is_empty() {
            let mut word = [0; 4];
            word[..remaining_bytes.len()].copy_from_slice(remaining_bytes);
            self.words.push(u32::from_ne_bytes(word));
        }
        self.words.extend_from_slice(TokenId::numbers(ids));
    }

    /// Grows the buffer, at least by doubling it, until `words_needed` words fit.
    fn reserve(&mut self, words_needed: usize) {
        let needed = self.words.len() + words_needed;
        if needed > self.words.capacity() {
            let room = (2 * self.words.capacity()).max(INITIAL_WORDS).max(needed).min(self.max_words);
            let mut words = huge::with_capacity(room);
            words.append(&mut self.words);
            self.words = words;
        }
    }

    /// Prefetches the table entry of a piece's record.
    #[inline]
    pub(super) fn prefetch(&self, piece: &[u8], is_part: bool) {
        if let Some(hash) = hash(piece, is_part) {
            self.places.prefetch(hash as u32);
        }
    }
}

/// Returns the first word of a record.
#[inline]
fn head(piece: &[u8], is_part: bool) -> u32 {
    (piece.len() as u32) << 1 | is_part as u32
}

/// Returns the hash of a piece, or `None` if the piece is too long.
#[inline]
fn hash(piece: &[u8], is_part: bool) -> Option<u64> {
    (piece.len() <= LONGEST).then(|| hash_bytes(piece, is_part as u64) | 1 << 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a text can look like a record. Such bytes must not be read as a record if they are at the offset
    /// where a removed record started.
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
        // This record has enough ids that all earlier records are removed; its text follows the two words of its head.
        let text = [&vec![0; at - 2], &forged.words[..]].concat();
        records.insert(bytemuck::cast_slice(&text), false, &vec![TokenId(1); records.max_words - text.len() - 2]);
        assert!(records.words[at..].starts_with(&forged.words));
        assert_eq!(records.get(&piece, false), None);
    }
}
