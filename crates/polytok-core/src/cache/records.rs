//! Records of variable length. A record holds the ids of a piece for which an entry has no room, and the text of the
//! piece if its key has only a hash of the text.
//!
//! Records are adjacent in one buffer, and an entry of the cache has the place of each record. When the buffer is full,
//! all records are removed. This loses little: in most texts few pieces have records.

use polytok_memory::{self as memory, Grow};

use crate::huge;
use crate::prefetch::prefetch;
use crate::token_id::TokenId;

/// The initial size of the buffer in words of four bytes, unless the limit is lower.
const INITIAL_WORDS: usize = 1 << 12;

/// The number of words of a cache line of the processor.
const LINE_WORDS: usize = 16;

#[derive(Debug)]
pub(super) struct Records {
    /// The records. A record consists of its text, zeros up to the next word, and its ids.
    words: Vec<u32>,
    /// The largest number of words in the buffer.
    max_words: usize,
}

/// The index in `words` at which a record starts, and the lengths of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordPlace {
    pub(super) at: u32,
    /// The number of bytes of the text; 0 if the record has no text.
    pub(super) text_len: u32,
    pub(super) id_count: u32,
}

impl Records {
    /// Creates an empty buffer that takes at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Records {
        Records { words: Vec::new(), max_words: limit / size_of::<u32>() }
    }

    /// Returns the number of bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u32>()
    }

    /// Returns the ids of the record at a place that `insert` returned, unless the record has another text than
    /// `piece`.
    #[inline]
    pub(super) fn get(&self, RecordPlace { at, text_len, id_count }: RecordPlace, piece: &[u8]) -> Option<&[TokenId]> {
        let (text, ids) = self.words.get(at as usize..)?.split_at_checked((text_len as usize).div_ceil(4))?;
        let ids = ids.get(..id_count as usize)?;
        let text = bytemuck::cast_slice(text).get(..text_len as usize)?;
        (text.is_empty() || is_same_text(text, piece)).then_some(TokenId::slice_of(ids))
    }

    /// Prefetches the cache lines of a record of a few ids.
    #[inline]
    pub(super) fn prefetch(&self, RecordPlace { at, .. }: RecordPlace) {
        prefetch(&self.words, at as usize);
        prefetch(&self.words, at as usize + LINE_WORDS);
    }

    /// Reports whether the buffer can hold a record now, or `None` if the record is larger than the limit.
    pub(super) fn has_room_for(&self, text: &[u8], ids: &[TokenId]) -> Option<bool> {
        let free_words = self.max_words.checked_sub(word_count(text, ids))?;
        Some(self.words.len() <= free_words)
    }

    /// Inserts a record, for which there must be room, and returns its place; None if memory is refused.
    pub(super) fn insert(&mut self, text: &[u8], ids: &[TokenId]) -> Option<RecordPlace> {
        self.reserve(word_count(text, ids))?;
        let at = self.words.len() as u32;
        let (full_words, remaining_bytes) = text.as_chunks();
        self.words.extend(full_words.iter().map(|&word| u32::from_ne_bytes(word)));
        if !remaining_bytes.is_empty() {
            let mut word = [0; 4];
            word[..remaining_bytes.len()].copy_from_slice(remaining_bytes);
            self.words.checked_push(u32::from_ne_bytes(word));
        }
        self.words.checked_extend_from_slice(TokenId::numbers(ids));
        Some(RecordPlace { at, text_len: text.len() as u32, id_count: ids.len() as u32 })
    }

    /// Removes all records, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.words.clear();
    }

    /// Grows the buffer so that `words_needed` more words fit; the size at least doubles, but does not exceed the
    /// limit. Returns None if memory is refused.
    fn reserve(&mut self, words_needed: usize) -> Option<()> {
        let total_words = self.words.len() + words_needed;
        if total_words > self.words.capacity() {
            let capacity = (2 * self.words.capacity()).max(INITIAL_WORDS).max(total_words).min(self.max_words);
            let mut words = memory::run_caught(|| huge::with_capacity(capacity)).ok()?;
            words.append(&mut self.words);
            self.words = words;
        }
        Some(())
    }
}

/// Returns the number of words of a record.
fn word_count(text: &[u8], ids: &[TokenId]) -> usize {
    text.len().div_ceil(4) + ids.len()
}

/// Reports whether two texts are equal. Texts of 16 to 32 bytes, which are the most frequent, are compared without a
/// call.
#[inline]
fn is_same_text(left: &[u8], right: &[u8]) -> bool {
    let windows = |text: &[u8]| Some((*text.first_chunk::<16>()?, *text.last_chunk::<16>()?));
    left.len() == right.len() && if left.len() <= 32 { windows(left) == windows(right) } else { left == right }
}
