//! The entry of a counted word, and the orders of words.

use std::cmp::Ordering;

use crate::error::{Error, Result};

/// The count of a word, and the ordinal of its first occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordEntry {
    pub(super) count: u64,
    pub(super) ordinal: u64,
}

/// A function that is called with each word and its entry.
pub(super) type EntryVisitor<'a> = &'a mut dyn FnMut(&[u8], WordEntry) -> Result<()>;

/// An order of distinct words. Two words never compare as equal, because words and ordinals are distinct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Words in the order of first occurrence.
    FirstSeen,
    /// Words in the order of falling count; words with the same count in the order of their bytes.
    MostFrequent,
    /// Words in the order of their bytes.
    Bytes,
}

impl Order {
    /// Compares two words.
    #[inline]
    pub(super) fn compare<W: Ord>(self, one: (W, WordEntry), other: (W, WordEntry)) -> Ordering {
        match self {
            // If a caller chooses the same ordinal for two words, the bytes of the words decide.
            Order::FirstSeen => (one.1.ordinal, one.0).cmp(&(other.1.ordinal, other.0)),
            Order::MostFrequent => other.1.count.cmp(&one.1.count).then_with(|| one.0.cmp(&other.0)),
            Order::Bytes => one.0.cmp(&other.0),
        }
    }
}

/// Returns the error for a count that exceeds 64 bits.
#[cold]
pub(super) fn count_overflow(word: &[u8]) -> Error {
    let word_start = String::from_utf8_lossy(&word[..word.len().min(40)]).into_owned();
    Error::Argument(format!("the count of the word {word_start:?} exceeds 64 bits; scale the counts down"))
}

impl WordEntry {
    /// Returns the sum of two entries of the same word.
    pub(super) fn plus(self, other: WordEntry, word: &[u8]) -> Result<WordEntry> {
        let count = self.count.checked_add(other.count).ok_or_else(|| count_overflow(word))?;
        Ok(WordEntry { count, ordinal: self.ordinal.min(other.ordinal) })
    }
}
