//! Decodes characters by the rules of several reference programs. The rules differ, so these functions must stay
//! separate.

use polytok_memory::{self as memory, Collect, Grow};

/// Reports whether a byte is a continuation byte (0x80 to 0xBF), which cannot start a character.
#[inline]
pub const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Reports whether a byte is not a continuation byte, and so can start a character.
#[inline]
pub const fn is_start(byte: u8) -> bool {
    !is_continuation(byte)
}

/// Returns `bytes` as text, or the offset of the first byte that is not UTF-8. Uses a check with vector instructions,
/// because the check of the standard library took more than half of the time of reading a corpus.
#[inline]
pub fn valid(bytes: &[u8]) -> Result<&str, usize> {
    // The fast check does not return the offset, so the standard library's check finds it.
    simdutf8::basic::from_utf8(bytes)
        .map_err(|_| std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len))
}

/// Returns the length of the character at the start of `text` by SentencePiece's rule, which depends on the first byte
/// alone. The result is at most the length of `text`. A stray continuation byte is one character. `text` must not be
/// empty.
#[inline]
pub fn char_len(text: &[u8]) -> usize {
    lead_len(text[0]).min(text.len())
}

/// Returns the length of a character by the high nibble of its first byte (SentencePiece's OneCharLen).
#[inline]
pub fn lead_len(lead: u8) -> usize {
    b"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x02\x02\x03\x04"[(lead >> 4) as usize] as usize
}

/// Decodes the character at the start of `text` strictly, as SentencePiece does; returns the character and its length.
/// If the bytes are not a character, returns `None`, and the caller must skip exactly one byte. `text` must not be
/// empty.
#[inline]
pub fn decode_strict(text: &[u8]) -> Option<(char, usize)> {
    let lead = text[0];
    if lead < 0x80 {
        return Some((lead as char, 1));
    }
    let len = match lead {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    let bytes = text.get(..len)?;
    let mut code = (lead as u32) & (0x7F >> len);
    for &byte in &bytes[1..] {
        if is_start(byte) {
            return None;
        }
        code = code << 6 | (byte & 0x3F) as u32;
    }
    // The comparison of the lengths excludes overlong forms; `char::from_u32` refuses surrogates.
    let smallest_code = [0, 0, 0x80, 0x800, 0x1_0000][len];
    if code < smallest_code {
        return None;
    }
    char::from_u32(code).map(|c| (c, len))
}

/// Decodes strictly the character at the start of four bytes; returns the code point and the length. Reads the four
/// bytes as one number.
#[inline]
pub fn decode_four_bytes(four: [u8; 4]) -> Option<(u32, usize)> {
    let word = u32::from_le_bytes(four);
    if word & 0x80 == 0 {
        return Some((word & 0x7F, 1));
    }
    let (a, b, c, d) = (word & 0x3F, word >> 8 & 0x3F, word >> 16 & 0x3F, word >> 24 & 0x3F);
    if word & 0x00C0_C0F0 == 0x0080_80E0 {
        let code = (a & 0xF) << 12 | b << 6 | c;
        return (code >= 0x800 && code & 0xF800 != 0xD800).then_some((code, 3));
    }
    if word & 0xC0E0 == 0x80C0 {
        let code = (a & 0x1F) << 6 | b;
        return (code >= 0x80).then_some((code, 2));
    }
    if word & 0xC0C0_C0F8 == 0x8080_80F0 {
        let code = (a & 7) << 18 | b << 12 | c << 6 | d;
        return (0x1_0000..0x11_0000).contains(&code).then_some((code, 4));
    }
    None
}

/// Returns the character that `text` consists of; None if `text` is not exactly one character.
pub fn only_char(text: &[u8]) -> Option<char> {
    if text.is_empty() {
        return None;
    }
    decode_strict(text).filter(|&(_, len)| len == text.len()).map(|(char, _)| char)
}

/// Decodes the character at the start of `text` by llama.cpp's rule; returns the code point and the length. Only the
/// lead byte and the continuation bytes are checked, so overlong forms, surrogates and code points above U+10FFFF are
/// accepted. If the bytes are not a character, returns `None`, and the caller must skip one byte. Reference:
/// `unicode_cpt_from_utf8`. `text` must not be empty.
#[inline]
pub fn decode_lenient(text: &[u8]) -> Option<(u32, usize)> {
    let lead = text[0];
    let len = match lead {
        0..0x80 => return Some((lead as u32, 1)),
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0..0xF8 => 4,
        _ => return None,
    };
    let bytes = text.get(1..len)?;
    let append_six_bits = |code: u32, &byte: &u8| is_continuation(byte).then_some(code << 6 | (byte & 0x3F) as u32);
    let code = bytes.iter().try_fold((lead as u32) & (0x7F >> len), append_six_bits)?;
    Some((code, len))
}

/// The character offset of each byte offset of a text. A character starts at every byte that is not a continuation
/// byte. The table has a byte for each byte of the text, so that a conversion is an addition of two numbers from tables,
/// for offsets in any order.
pub struct CharOffsets {
    /// For each byte, the number of characters that start before this byte in its block. Continues after the text,
    /// where every byte starts a character.
    counts: Vec<[u8; WORD_BYTES]>,
    /// The number of characters that start before each block.
    blocks: Vec<u32>,
}

/// The number of bytes whose characters are counted together.
const WORD_BYTES: usize = 8;

/// The number of words of a block. A block has 128 bytes, so the numbers in a block fit in a byte.
const BLOCK_WORDS: usize = 16;

impl CharOffsets {
    /// Counts the characters of a text of less than 4 GiB.
    pub fn new(text: &[u8]) -> CharOffsets {
        let (words, last_bytes) = text.as_chunks();
        // Two more words, so that the byte after the offset after the text is in the table.
        let mut last_words = [[0; WORD_BYTES]; 2];
        last_words.as_flattened_mut()[..last_bytes.len()].copy_from_slice(last_bytes);
        let mut blocks = memory::with_capacity(words.len() / BLOCK_WORDS + 2);
        let (mut block, mut total) = (0, 0);
        let count = |(at, &word): (usize, &[u8; WORD_BYTES])| {
            if at % BLOCK_WORDS == 0 {
                block = total;
                blocks.checked_push(block);
            }
            let starts = start_bits(word);
            // Byte n of the product is the sum of the bytes up to n.
            let sums = starts.wrapping_mul(LOW_BITS);
            let counts = sums - starts + (total - block) as u64 * LOW_BITS;
            total += (sums >> 56) as u32;
            counts.to_le_bytes()
        };
        let counts = words.iter().chain(&last_words).enumerate().map(count).checked_collect();
        CharOffsets { counts, blocks }
    }

    /// Returns the index of the character that contains the byte at `offset`.
    #[inline]
    pub fn char_at(&self, offset: u32) -> u32 {
        self.count_to(offset + 1).saturating_sub(1)
    }

    /// Returns the number of characters that start before byte `offset`.
    #[inline]
    pub fn count_to(&self, offset: u32) -> u32 {
        let offset = offset as usize;
        self.blocks[offset / (BLOCK_WORDS * WORD_BYTES)] + self.counts.as_flattened()[offset] as u32
    }
}

/// The lowest bit of each byte of a word.
const LOW_BITS: u64 = u64::MAX / 255;

/// Returns a word with the lowest bit of each byte set if a character starts at this byte of `word`.
#[inline]
fn start_bits(word: [u8; WORD_BYTES]) -> u64 {
    let word = u64::from_le_bytes(word);
    (!word >> 7 | word >> 6) & LOW_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn characters_are_counted_at_all_offsets(
            text in proptest::collection::vec(prop_oneof![Just(b'a'), Just(0xC3), Just(0xE3), 0x80..0xC0u8], 0..700),
        ) {
            let chars = CharOffsets::new(&text);
            for at in 0..=text.len() {
                let count = text[..at].iter().filter(|&&byte| is_start(byte)).count();
                let is_inside = text.get(at).is_some_and(|&byte| is_continuation(byte));
                prop_assert_eq!(chars.count_to(at as u32) as usize, count);
                prop_assert_eq!(chars.char_at(at as u32) as usize, count.saturating_sub(is_inside as usize));
            }
        }
    }

    #[test]
    fn counts_fit_in_bytes_at_the_borders_of_blocks() {
        for len in [0, 7, 8, 120, 126, 127, 128, 129, 255, 256] {
            let chars = CharOffsets::new(&vec![b'a'; len]);
            assert!((0..=len as u32).all(|at| chars.count_to(at) == at && chars.char_at(at) == at));
        }
    }
}
