//! The entry of a counted word, and the orders of words.

use std::cmp::Ordering;

use crate::error::{Error, Result};

/// How often a word occurs and where it was seen first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordEntry {
    pub(super) count: u64,
    pub(super) ordinal: u64,
}

/// A callback for each word and its entry.
pub(super) type EachEntry<'a> = &'a mut dyn FnMut(&[u8], WordEntry) -> Result<()>;

/// An order of distinct words. There are no ties, because words are distinct and so are ordinals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By the first occurrence.
    FirstSeen,
    /// The most frequent first; ties by their bytes.
    MostFrequent,
    /// By their bytes.
    Bytes,
}

impl Order {
    /// Compares two words.
    #[inline]
    pub(super) fn compare<W: Ord>(self, one: (W, WordEntry), other: (W, WordEntry)) -> Ordering {
        match self {
            // If a caller gives one ordinal to two words, the words decide.
            Order::FirstSeen => (one.1.ordinal, one.0).cmp(&(other.1.ordinal, other.0)),
            Order::MostFrequent => other.1.count.cmp(&one.1.count).then_with(|| one.0.cmp(&other.0)),
            Order::Bytes => one.0.cmp(&other.0),
        }
    }
}

/// The error for a count that exceeds 64 bits.
#[cold]
pub(super) fn count_overflow(word: &[u8]) -> Error {
    let shown = String::from_utf8_lossy(&word[..word.len().min(40)]).into_owned();
    Error::Argument(format!("the count of the word {shown:?} exceeds 64 bits; scale the counts down"))
}

impl WordEntry {
    /// The sum of two entries of one word.
    pub(super) fn plus(self, other: WordEntry, word: &[u8]) -> Result<WordEntry> {
        let count = self.count.checked_add(other.count).ok_or_else(|| count_overflow(word))?;
        Ok(WordEntry { count, ordinal: self.ordinal.min(other.ordinal) })
    }
}
