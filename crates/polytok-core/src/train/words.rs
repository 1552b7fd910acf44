//! Distinct words and how often each occurs: what every trainer works on.

use std::ops::Range;

use crate::error::{Error, Result};

/// Distinct words with their counts, in an order that whoever made them says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    counts: Vec<u64>,
}

impl Words {
    /// Bytes for each word besides its own.
    pub const EACH: usize = size_of::<usize>() + size_of::<u64>();

    /// None yet, with room for so many of so many bytes together.
    pub fn with_capacity(words: usize, bytes: usize) -> Words {
        let (ends, counts) = (Vec::with_capacity(words), Vec::with_capacity(words));
        Words { bytes: Vec::with_capacity(bytes), ends, counts }
    }

    /// Adds one at the end; that there is none like it yet is the caller's to know.
    pub fn push(&mut self, word: &[u8], count: u64) {
        self.bytes.extend_from_slice(word);
        self.ends.push(self.bytes.len());
        self.counts.push(count);
    }

    /// How many distinct words there are.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The word at an index below [`Words::len`].
    pub fn word(&self, index: usize) -> &[u8] {
        &self.bytes[self.range(index)]
    }

    /// Where the word at an index lies in [`Words::text`].
    pub fn range(&self, index: usize) -> Range<usize> {
        index.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[index]
    }

    /// All distinct words, one behind the other.
    pub fn text(&self) -> &[u8] {
        &self.bytes
    }

    /// How often the word at an index occurs.
    pub fn count(&self, index: usize) -> u64 {
        self.counts[index]
    }

    /// All words with their counts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> {
        (0..self.len()).map(|index| (self.word(index), self.count(index)))
    }

    /// The bytes of all distinct words together.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The sum of the counts; an error where it passes 2^64.
    pub fn total(&self) -> Result<u64> {
        let sum = self.counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        sum.ok_or_else(|| Error::Argument("the counts of all words add up to more than 2^64: scale them down".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_index() {
        let mut words = Words::default();
        words.push(b"ab", 3);
        words.push(b"", 1);
        words.push(b"c", u64::MAX - 4);
        assert_eq!(words.iter().collect::<Vec<_>>(), [(&b"ab"[..], 3), (b"", 1), (b"c", u64::MAX - 4)]);
        assert_eq!((words.len(), words.bytes(), words.total()), (3, 3, Ok(u64::MAX)));
        words.push(b"d", 1);
        assert!(words.total().is_err());
    }
}
