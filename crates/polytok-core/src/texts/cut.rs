//! Splits a block of a file into texts: at line feeds, or at a separator.
//!
//! A text ends before its separator. The data after the last separator is a text only at the end of the file, and only
//! if it is not empty. A carriage return before a line feed belongs to the line. If separators overlap, the leftmost
//! separator counts.

use std::ops::Range;

use memchr::{memchr_iter, memmem};

use super::Texts;
use crate::table::Shared;

/// Splits data into lines. Splits data at line feeds. Returns the texts, and the number of bytes that the texts and
/// line feeds take.
pub fn lines(data: Shared, is_last: bool) -> (Texts, usize) {
    let bytes = (*data).as_ref();
    let (spans, used) = split(bytes.len(), memchr_iter(b'\n', bytes), 1, is_last);
    (Texts::new(data, spans), used)
}

/// Splits data at a separator, which must not be empty. Returns the texts, and the number of bytes that the texts and
/// separators take.
pub fn separated(data: Shared, separator: &[u8], is_last: bool) -> (Texts, usize) {
    let bytes = (*data).as_ref();
    let (spans, used) = split(bytes.len(), memmem::find_iter(bytes, separator), separator.len(), is_last);
    (Texts::new(data, spans), used)
}

/// Returns the end of the first `texts` texts, including their separators, or the end of the data if the data has fewer
/// separators.
pub fn end_of(data: &[u8], separator: &[u8], texts: usize) -> usize {
    let Some(before) = texts.checked_sub(1) else { return 0 };
    let last = match separator {
        // Most blocks have far fewer texts, and separators can be counted without a stop at each separator.
        [byte] if memchr_iter(*byte, data).count() < texts => None,
        [byte] => memchr_iter(*byte, data).nth(before),
        _ => memmem::find_iter(data, separator).nth(before),
    };
    last.map_or(data.len(), |at| at + separator.len())
}

fn split(
    len: usize,
    separators: impl Iterator<Item = usize>,
    width: usize,
    is_last: bool,
) -> (Vec<Range<usize>>, usize) {
    let (mut spans, mut from) = (Vec::new(), 0);
    for at in separators {
        spans.push(from..at);
        from = at + width;
    }
    if is_last && from < len {
        spans.push(from..len);
        from = len;
    }
    (spans, from)
}
