//! GPT-2's table: a visible character for every byte, so that byte-level vocabularies can be written as text.
//!
//! Reference: `bytes_to_unicode` of GPT-2's encoder. The bytes that are visible characters in Latin-1 (`!` to `~`,
//! U+00A1 to U+00AC, U+00AE to U+00FF) map to the characters with the same code points. The other 68 bytes map, in
//! ascending order, to U+0100 to U+0143. A conversion in either direction is one table lookup.

use polytok_memory::{self as memory, Grow, GrowText};

/// The number of bytes that are not visible characters in Latin-1.
const OTHER_BYTE_COUNT: usize = 68;

/// The code point of the character for the first byte that is not visible in Latin-1.
const FIRST_OTHER_CODE: u32 = 0x100;

/// Reports whether the byte is a visible character in Latin-1.
const fn is_visible_in_latin1(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF)
}

const OTHER_BYTES: [u8; OTHER_BYTE_COUNT] = {
    let mut others = [0; OTHER_BYTE_COUNT];
    let (mut byte, mut count) = (0, 0);
    while byte < 256 {
        if !is_visible_in_latin1(byte as u8) {
            others[count] = byte as u8;
            count += 1;
        }
        byte += 1;
    }
    others
};

const CHARS: [char; 256] = {
    let mut chars = ['\0'; 256];
    let mut byte = 0;
    while byte < 256 {
        chars[byte] = byte as u8 as char;
        byte += 1;
    }
    let mut other = 0;
    while other < OTHER_BYTE_COUNT {
        if let Some(c) = char::from_u32(FIRST_OTHER_CODE + other as u32) {
            chars[OTHER_BYTES[other] as usize] = c;
        }
        other += 1;
    }
    chars
};

/// Returns the character of `byte` in the table.
#[inline]
pub fn char_of(byte: u8) -> char {
    CHARS[byte as usize]
}

/// Returns the byte that the table maps to `c`; None if the table does not contain `c`.
#[inline]
pub fn byte_of(c: char) -> Option<u8> {
    match c as u32 {
        code @ 0..FIRST_OTHER_CODE => Some(code as u8).filter(|&byte| is_visible_in_latin1(byte)),
        code => OTHER_BYTES.get((code - FIRST_OTHER_CODE) as usize).copied(),
    }
}

/// Converts characters of the table to bytes; None if any character is not in the table.
pub fn to_bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = memory::with_capacity(text.len());
    read_bytes(text, &mut bytes).then_some(bytes)
}

/// Writes to `bytes` the bytes of the characters of `text`; returns false if any character is not in the table.
pub fn read_bytes(text: &str, bytes: &mut Vec<u8>) -> bool {
    bytes.clear();
    text.chars().all(|c| byte_of(c).map(|byte| bytes.checked_push(byte)).is_some())
}

/// Converts bytes to their characters.
pub fn to_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    bytes.iter().for_each(|&byte| text.checked_push_char(char_of(byte)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_visible_character() {
        let all: Vec<u8> = (0..=255).collect();
        let text = to_text(&all);
        assert_eq!(to_bytes(&text), Some(all));
        assert!(text.chars().all(|c| !c.is_whitespace() && !c.is_control()));
        assert_eq!(to_text(" \n\u{A0}\u{AD}é!".as_bytes()), "ĠĊÂłÂŃÃ©!");
    }

    #[test]
    fn other_characters_have_no_byte() {
        for c in [' ', '\n', '\u{7F}', '\u{A0}', '\u{AD}', '\u{144}', '世', '😀'] {
            assert_eq!(byte_of(c), None);
        }
        assert_eq!(to_bytes("a b"), None);
        assert_eq!(char_of(b' '), 'Ġ');
        assert_eq!(byte_of('\u{143}'), Some(0xAD));
    }
}
