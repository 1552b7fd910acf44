//! Character boundaries in UTF-8.

/// Reports whether a byte is a continuation byte (0x80 to 0xBF).
#[inline]
pub(super) fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Returns the offset of the character that ends at `end`; `end` must not be 0.
#[inline]
pub(super) fn previous_char(text: &[u8], end: usize) -> usize {
    let mut start = end - 1;
    while is_continuation(text[start]) {
        start -= 1;
    }
    start
}
