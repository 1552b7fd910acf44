//! The notions of "character" that the reference programs use. They differ; do not unify them.

/// Whether a byte can only stand within a character: 0x80 to 0xBF.
#[inline]
pub const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Whether a character can begin at a byte, as far as the byte tells: every byte that is not a continuation byte.
#[inline]
pub const fn is_start(byte: u8) -> bool {
    !is_continuation(byte)
}

/// Text as the standard has it, or where it ceases to be that. Many bytes are checked at a time: where text is not ASCII the
/// standard library's check, of 1 GB/s, was more than half of the cost of reading a corpus.
#[inline]
pub fn valid(bytes: &[u8]) -> Result<&str, usize> {
    // Which byte is wrong it does not tell.
    simdutf8::basic::from_utf8(bytes)
        .map_err(|_| std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len))
}

/// SentencePiece's lead-byte walker: the length of the character at the start of `text`, decided by its first byte
/// alone and clipped to what is there. A stray continuation byte is one character. `text` must not be empty.
#[inline]
pub fn char_len(text: &[u8]) -> usize {
    lead_len(text[0]).min(text.len())
}

/// The length that a first byte announces, by its high nibble (SentencePiece's OneCharLen).
#[inline]
pub fn lead_len(lead: u8) -> usize {
    b"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x02\x02\x03\x04"[(lead >> 4) as usize] as usize
}

/// Strict decoding of the character at the start of `text` as SentencePiece does it: `Some((code point, bytes))`, or
/// `None` where the bytes are no character, and then exactly one byte is to be consumed. `text` must not be empty.
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
    // Overlong forms and surrogates: the length must be the shortest, and char::from_u32 refuses the rest.
    let shortest = [0, 0, 0x80, 0x800, 0x1_0000][len];
    if code < shortest {
        return None;
    }
    char::from_u32(code).map(|c| (c, len))
}

/// The same for a character with bytes behind it, all of which are looked at together: its code point and length.
#[inline]
pub fn decode_four(four: [u8; 4]) -> Option<(u32, usize)> {
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

/// The character that `text` is; None if it is none, or several.
pub fn only_char(text: &[u8]) -> Option<char> {
    if text.is_empty() {
        return None;
    }
    decode_strict(text).filter(|&(_, len)| len == text.len()).map(|(char, _)| char)
}

/// llama.cpp's decoding of the character at the start of `text`, by its lead byte and continuation bytes alone, so that overlong
/// forms, surrogates and numbers above U+10FFFF pass: `Some((number, bytes))`, or `None`, and then one byte is to be consumed.
/// Reference: `unicode_cpt_from_utf8`. `text` must not be empty.
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
    let continued = |code: u32, &byte: &u8| is_continuation(byte).then_some(code << 6 | (byte & 0x3F) as u32);
    let code = bytes.iter().try_fold((lead as u32) & (0x7F >> len), continued)?;
    Some((code, len))
}

/// Turns byte offsets into character offsets. A character begins at every byte that is not a continuation byte. Steps to a
/// place nearby count what lies between; a longer one takes the count of its block from a table, which is made for the first.
pub struct CharCounter<'a> {
    text: &'a [u8],
    at: usize,
    chars: usize,
    /// The characters before each block.
    blocks: Vec<usize>,
}

/// Bytes of a block.
const BLOCK: usize = 256;

impl CharCounter<'_> {
    /// A counter at the start of a text.
    pub fn new(text: &[u8]) -> CharCounter<'_> {
        CharCounter { text, at: 0, chars: 0, blocks: Vec::new() }
    }

    /// The number of the character that byte `offset` belongs to.
    pub fn char_at(&mut self, offset: usize) -> usize {
        let is_inside = self.text.get(offset).is_some_and(|&byte| is_continuation(byte));
        self.count_to(offset).saturating_sub(is_inside as usize)
    }

    /// The number of characters that begin before byte `offset`; offsets may also fall back.
    pub fn count_to(&mut self, offset: usize) -> usize {
        if self.at.abs_diff(offset) > BLOCK {
            if self.blocks.is_empty() {
                let add = |chars: &mut usize, block| Some(std::mem::replace(chars, *chars + begins(block)));
                self.blocks = self.text.chunks(BLOCK).scan(0, add).collect();
            }
            let block = (offset / BLOCK).min(self.blocks.len() - 1);
            (self.at, self.chars) = (block * BLOCK, self.blocks[block]);
        }
        if offset >= self.at {
            self.chars += match self.text[self.at..].first_chunk() {
                Some(&bytes) if offset - self.at <= 8 => begins_of_eight(bytes, offset - self.at),
                _ => begins(&self.text[self.at..offset]),
            };
        } else {
            self.chars -= begins(&self.text[offset..self.at]);
        }
        self.at = offset;
        self.chars
    }
}

/// The same of the first `len` of eight bytes, without a loop.
#[inline]
fn begins_of_eight(bytes: [u8; 8], len: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    let bytes = u64::from_le_bytes(bytes);
    let beginnings = (!bytes >> 7 | bytes >> 6) & ONES;
    // Those of the other bytes are shifted out.
    let counted = beginnings.checked_shl(64 - 8 * len as u32).unwrap_or_default();
    (counted.wrapping_mul(ONES) >> 56) as usize
}

fn begins(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| is_start(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn characters_are_counted_wherever_one_goes(
            text in proptest::collection::vec(prop_oneof![Just(b'a'), Just(0xC3), Just(0xE3), 0x80..0xC0u8], 0..700),
            steps in proptest::collection::vec(prop_oneof![4 => 0..12usize, 1 => 0..700usize], 0..60),
        ) {
            let mut counter = CharCounter::new(&text);
            let mut at = 0;
            for step in steps {
                at = (at + step) % (text.len() + 1);
                prop_assert_eq!(counter.count_to(at), begins(&text[..at]));
            }
        }
    }
}
