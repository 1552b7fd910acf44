//! Finds the characters of a text without branches, because the processor could not predict which tokens end inside of a
//! character.

use polytok_memory::{self as memory, Grow};

/// The number of bytes that are read at a time: the longest character before an offset, and the longest after it.
const WORD_BYTES: usize = size_of::<u64>();
/// The number of bytes before the text.
const PADDING: usize = WORD_BYTES / 2 - 1;
/// The highest bit of each byte.
const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; WORD_BYTES]);

/// A UTF-8 text with zeros before and after it, so that a word can be read at each offset.
#[derive(Debug)]
pub struct KeptText(Vec<u8>);

impl KeptText {
    /// Copies a text, which must be UTF-8.
    pub fn new(text: &[u8]) -> KeptText {
        let mut padded = memory::with_capacity(text.len() + PADDING + WORD_BYTES);
        padded.checked_extend_from_slice(&[0; PADDING]);
        padded.checked_extend_from_slice(text);
        padded.checked_extend_from_slice(&[0; WORD_BYTES]);
        KeptText(padded)
    }

    /// Returns the text.
    pub fn text(&self) -> &[u8] {
        &self.0[PADDING..self.0.len() - WORD_BYTES]
    }

    /// Returns the start of the character that contains byte `at`.
    #[inline]
    pub fn char_start(&self, at: u32) -> u32 {
        self.char_bounds(at).0
    }

    /// Returns the end of the character that contains the byte before `at`.
    #[inline]
    pub fn char_end(&self, at: u32) -> u32 {
        self.char_bounds(at).1
    }

    /// Returns the start of the character that contains byte `at`, and the end of the character that contains the byte
    /// before `at`. Both are `at` if a character starts there.
    #[inline]
    pub fn char_bounds(&self, at: u32) -> (u32, u32) {
        // Byte `PADDING` of the word is byte `at` of the text.
        let word = u64::from_le_bytes(self.0[at as usize..].first_chunk().copied().unwrap_or_default());
        // The highest bit of each byte that can start a character.
        let starts = (!word | word << 1) & HIGH_BITS;
        (at - (starts as u32).leading_zeros() / 8, at + (starts >> (8 * PADDING)).trailing_zeros() / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn characters_are_found_at_all_offsets(text in "[aé世😀]{0,9}") {
            let kept = KeptText::new(text.as_bytes());
            prop_assert_eq!(kept.text(), text.as_bytes());
            for at in 0..=text.len() {
                let start = (0..=at).rev().find(|&at| text.is_char_boundary(at));
                let end = (at..=text.len()).find(|&at| text.is_char_boundary(at));
                prop_assert_eq!(Some(kept.char_start(at as u32) as usize), start);
                prop_assert_eq!(Some(kept.char_end(at as u32) as usize), end);
            }
        }
    }
}
