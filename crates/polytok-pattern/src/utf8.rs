//! Character boundaries in UTF-8.

/// Reports whether a byte continues a character: 0x80 to 0xBF.
#[inline]
pub(super) fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The offset of the character that ends at `end`, which must not be 0.
#[inline]
pub(super) fn previous_char(text: &[u8], end: usize) -> usize {
    let mut start = end - 1;
    while is_continuation(text[start]) {
        start -= 1;
    }
    start
}
