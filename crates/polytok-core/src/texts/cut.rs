//! A block of a file into texts: at line feeds, or at a separator.
//!
//! A text ends before its separator. What follows the last separator is a text only at the end of the file, and only if it is not
//! empty. A carriage return before a line feed stays with its line. Separators that overlap each other are found from left to right.

use std::ops::Range;

use memchr::{memchr_iter, memmem};

use super::Texts;
use crate::table::Shared;

/// Cuts into lines; also tells how many bytes were used up.
pub fn lines(data: Shared, is_last: bool) -> (Texts, usize) {
    let bytes = (*data).as_ref();
    let (spans, used) = cut(bytes.len(), memchr_iter(b'\n', bytes), 1, is_last);
    (Texts::new(data, spans), used)
}

/// Cuts at a separator, which must not be empty; also tells how many bytes were used up.
pub fn separated(data: Shared, separator: &[u8], is_last: bool) -> (Texts, usize) {
    let bytes = (*data).as_ref();
    let (spans, used) = cut(bytes.len(), memmem::find_iter(bytes, separator), separator.len(), is_last);
    (Texts::new(data, spans), used)
}

/// Where the first so many texts end, of which each has the separator behind it; the end if there are not so many.
pub fn end_of(data: &[u8], separator: &[u8], texts: usize) -> usize {
    let Some(before) = texts.checked_sub(1) else { return 0 };
    let last = match separator {
        // Counting does not stop at each, and most blocks have far fewer.
        &[byte] if memchr_iter(byte, data).count() < texts => None,
        &[byte] => memchr_iter(byte, data).nth(before),
        _ => memmem::find_iter(data, separator).nth(before),
    };
    last.map_or(data.len(), |at| at + separator.len())
}

fn cut(len: usize, separators: impl Iterator<Item = usize>, width: usize, is_last: bool) -> (Vec<Range<usize>>, usize) {
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
