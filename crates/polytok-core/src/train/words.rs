//! Distinct words and their counts, the input of every trainer.

use std::ops::Range;

use polytok_memory::{self as memory, Grow};

use crate::error::{Error, Result};

/// A list of distinct words with their counts, in an order that the builder of the list chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordCounts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    counts: Vec<u64>,
}

impl WordCounts {
    /// The number of bytes of memory that each word needs in addition to its text.
    pub const WORD_OVERHEAD: usize = size_of::<usize>() + size_of::<u64>();

    /// Creates an empty list with capacity for `words` words that have `bytes` bytes in total.
    pub fn with_capacity(words: usize, bytes: usize) -> WordCounts {
        let (ends, counts) = (memory::with_capacity(words), memory::with_capacity(words));
        WordCounts { bytes: memory::with_capacity(bytes), ends, counts }
    }

    /// Appends a word. The caller makes sure that the list does not contain it yet.
    pub fn push(&mut self, word: &[u8], count: u64) {
        self.bytes.checked_extend_from_slice(word);
        self.ends.checked_push(self.bytes.len());
        self.counts.checked_push(count);
    }

    /// Returns the number of distinct words.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Reports whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the word at an index below [`WordCounts::len`].
    pub fn word(&self, index: usize) -> &[u8] {
        &self.bytes[self.range(index)]
    }

    /// Returns the range of a word in [`WordCounts::text`].
    pub fn range(&self, index: usize) -> Range<usize> {
        index.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[index]
    }

    /// Returns the concatenation of all distinct words.
    pub fn text(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of times that a word occurs.
    pub fn count(&self, index: usize) -> u64 {
        self.counts[index]
    }

    /// Iterates over all words with their counts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> {
        (0..self.len()).map(|index| (self.word(index), self.count(index)))
    }

    /// Returns the total number of bytes of all distinct words.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the sum of the counts, or an error if the sum exceeds 64 bits.
    pub fn total(&self) -> Result<u64> {
        let sum = self.counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        sum.ok_or_else(|| Error::Argument("the sum of all word counts exceeds 64 bits; scale the counts down".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_index() {
        let mut words = WordCounts::default();
        words.push(b"ab", 3);
        words.push(b"", 1);
        words.push(b"c", u64::MAX - 4);
        assert_eq!(words.iter().collect::<Vec<_>>(), [(&b"ab"[..], 3), (b"", 1), (b"c", u64::MAX - 4)]);
        assert_eq!((words.len(), words.bytes(), words.total()), (3, 3, Ok(u64::MAX)));
        words.push(b"d", 1);
        assert!(words.total().is_err());
    }
}
