//! Decodes characters by the rules of several reference programs. The rules differ, so these functions must stay
//! separate.

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

/// A converter of byte offsets to character offsets. A character starts at every byte that is not a continuation byte.
/// If an offset is near the offset of the previous call, the converter counts the characters between these two offsets.
/// Otherwise it counts from the start of the offset's block of 256 bytes; a table, built at the first use, has the
/// number of characters before each block.
pub struct CharCounter<'a> {
    text: &'a [u8],
    /// The byte offset of the previous call.
    at: usize,
    /// The number of characters before `at`.
    char_count: usize,
    /// The number of characters before each block; empty before the first use.
    blocks: Vec<usize>,
}

/// The number of bytes of a block.
const BLOCK_BYTES: usize = 256;

impl CharCounter<'_> {
    /// Returns a counter at the start of a text.
    pub fn new(text: &[u8]) -> CharCounter<'_> {
        CharCounter { text, at: 0, char_count: 0, blocks: Vec::new() }
    }

    /// Returns the index of the character that contains the byte at `offset`.
    pub fn char_at(&mut self, offset: usize) -> usize {
        let is_inside = self.text.get(offset).is_some_and(|&byte| is_continuation(byte));
        self.count_to(offset).saturating_sub(is_inside as usize)
    }

    /// Returns the number of characters that start before byte `offset`. The offsets of successive calls can rise or
    /// fall.
    pub fn count_to(&mut self, offset: usize) -> usize {
        if self.at.abs_diff(offset) > BLOCK_BYTES {
            if self.blocks.is_empty() {
                let add = |chars: &mut usize, block| Some(std::mem::replace(chars, *chars + count_starts(block)));
                self.blocks = self.text.chunks(BLOCK_BYTES).scan(0, add).collect();
            }
            let block = (offset / BLOCK_BYTES).min(self.blocks.len() - 1);
            (self.at, self.char_count) = (block * BLOCK_BYTES, self.blocks[block]);
        }
        if offset >= self.at {
            self.char_count += match self.text[self.at..].first_chunk() {
                Some(&bytes) if offset - self.at <= 8 => count_starts_of_eight(bytes, offset - self.at),
                _ => count_starts(&self.text[self.at..offset]),
            };
        } else {
            self.char_count -= count_starts(&self.text[offset..self.at]);
        }
        self.at = offset;
        self.char_count
    }
}

/// Counts the characters that start in the first `len` of eight bytes, without a loop.
#[inline]
fn count_starts_of_eight(bytes: [u8; 8], len: usize) -> usize {
    const LOW_BITS: u64 = u64::MAX / 255;
    let bytes = u64::from_le_bytes(bytes);
    let starts = (!bytes >> 7 | bytes >> 6) & LOW_BITS;
    // The shift removes the bits of the bytes after the first `len` bytes.
    let counted_starts = starts.checked_shl(64 - 8 * len as u32).unwrap_or_default();
    (counted_starts.wrapping_mul(LOW_BITS) >> 56) as usize
}

/// Counts the characters that start in `bytes`.
fn count_starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| is_start(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn characters_are_counted_at_offsets_in_any_order(
            text in proptest::collection::vec(prop_oneof![Just(b'a'), Just(0xC3), Just(0xE3), 0x80..0xC0u8], 0..700),
            steps in proptest::collection::vec(prop_oneof![4 => 0..12usize, 1 => 0..700usize], 0..60),
        ) {
            let mut counter = CharCounter::new(&text);
            let mut at = 0;
            for step in steps {
                at = (at + step) % (text.len() + 1);
                prop_assert_eq!(counter.count_to(at), count_starts(&text[..at]));
            }
        }
    }
}
