//! Divides words among threads, into shares of similar size. A column has one value for each byte of the words; each
//! share gets the slice of the column for its words.

use std::ops::Range;

use polytok_memory::Grow;

use crate::train::words::WordCounts;

/// A range of words, and the slice of the column for the bytes of these words.
pub(super) struct WordShare<'v, T> {
    pub words: Range<usize>,
    pub values: &'v mut [T],
}

/// Divides the words into about `count` shares.
pub(super) fn divide<'v, T>(words: &WordCounts, values: &'v mut [T], count: usize) -> Vec<WordShare<'v, T>> {
    let min_len = values.len().div_ceil(count.max(1)).max(1);
    let (mut shares, mut remaining_values, mut first, mut divided) = (Vec::new(), values, 0, 0);
    for index in 0..words.len() {
        let end = words.range(index).end;
        if end - divided >= min_len || index + 1 == words.len() {
            let (values, after) = remaining_values.split_at_mut(end - divided);
            shares.checked_push(WordShare { words: first..index + 1, values });
            (remaining_values, first, divided) = (after, index + 1, end);
        }
    }
    shares
}
