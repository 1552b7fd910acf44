//! What is known of a word, and the orders that words are wanted in.

use std::cmp::Ordering;

use crate::error::{Error, Result};

/// How often a word occurs and where it was seen first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) count: u64,
    pub(super) ordinal: u64,
}

/// Is called with each word.
pub(super) type Each<'a> = &'a mut dyn FnMut(&[u8], Entry) -> Result<()>;

/// An order of distinct words; none leaves a tie, as neither two words nor two ordinals are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By the place where each was seen first.
    FirstSeen,
    /// The most frequent first, those of one count by their bytes.
    MostFrequent,
    /// By their bytes.
    Bytes,
}

impl Order {
    /// Which of two words comes first.
    #[inline]
    pub(super) fn compare<W: Ord>(self, one: (W, Entry), other: (W, Entry)) -> Ordering {
        match self {
            // Ordinals that a caller gave twice are told apart by the words.
            Order::FirstSeen => (one.1.ordinal, one.0).cmp(&(other.1.ordinal, other.0)),
            Order::MostFrequent => other.1.count.cmp(&one.1.count).then_with(|| one.0.cmp(&other.0)),
            Order::Bytes => one.0.cmp(&other.0),
        }
    }
}

/// The error for a count that no longer fits.
#[cold]
pub(super) fn too_many(word: &[u8]) -> Error {
    let shown = String::from_utf8_lossy(&word[..word.len().min(40)]).into_owned();
    Error::Argument(format!("the word {shown:?} is counted more than 2^64 times: scale the counts down"))
}

impl Entry {
    /// Both together.
    pub(super) fn with(self, other: Entry, word: &[u8]) -> Result<Entry> {
        let count = self.count.checked_add(other.count).ok_or_else(|| too_many(word))?;
        Ok(Entry { count, ordinal: self.ordinal.min(other.ordinal) })
    }
}
