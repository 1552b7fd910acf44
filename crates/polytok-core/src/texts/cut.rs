//! Splits a block of a file into texts: at line feeds, or at a separator.
//!
//! A text does not include the separator that ends it. Data after the last separator is a text only at the end of the
//! file, and only if it is not empty. A carriage return before a line feed is part of the line. If occurrences of the
//! separator overlap, the leftmost occurrence counts.

use std::ops::Range;

use memchr::{memchr_iter, memmem};
use polytok_memory::Grow;

use super::Texts;
use crate::table::Shared;

/// Splits data at line feeds. Returns the lines, and the number of bytes that the lines and their line feeds take.
pub fn split_lines(data: Shared, is_last: bool) -> (Texts, usize) {
    let bytes = (*data).as_ref();
    let (spans, bytes_used) = split(bytes.len(), memchr_iter(b'\n', bytes), 1, is_last);
    (Texts::new(data, spans), bytes_used)
}

/// Splits data at a separator, which must not be empty. Returns the texts, and the number of bytes that the texts and
/// their separators take.
pub fn split_separated(data: Shared, separator: &[u8], is_last: bool) -> (Texts, usize) {
    let bytes = (*data).as_ref();
    let (spans, bytes_used) = split(bytes.len(), memmem::find_iter(bytes, separator), separator.len(), is_last);
    (Texts::new(data, spans), bytes_used)
}

/// Returns the offset of the first byte after `texts` texts and their separators. Returns the length of the data if the
/// data has fewer separators.
pub fn end_of_texts(data: &[u8], separator: &[u8], texts: usize) -> usize {
    let Some(preceding_texts) = texts.checked_sub(1) else { return 0 };
    let last = match separator {
        // Most blocks have fewer than `texts` separators. Counting them first is faster than stopping at each
        // separator.
        [byte] if memchr_iter(*byte, data).count() < texts => None,
        [byte] => memchr_iter(*byte, data).nth(preceding_texts),
        _ => memmem::find_iter(data, separator).nth(preceding_texts),
    };
    last.map_or(data.len(), |at| at + separator.len())
}

fn split(
    len: usize,
    separators: impl Iterator<Item = usize>,
    separator_len: usize,
    is_last: bool,
) -> (Vec<Range<usize>>, usize) {
    let (mut spans, mut from) = (Vec::new(), 0);
    for at in separators {
        spans.checked_push(from..at);
        from = at + separator_len;
    }
    if is_last && from < len {
        spans.checked_push(from..len);
        from = len;
    }
    (spans, from)
}
