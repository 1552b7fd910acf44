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
