//! Divides words into shares of similar size, each with its part of a column that has a value for each byte of the
//! words.

use std::ops::Range;

use crate::train::words::WordCounts;

/// Some words and the values of their bytes.
pub(super) struct WordShare<'v, T> {
    pub words: Range<usize>,
    pub values: &'v mut [T],
}

/// The words in about `count` shares.
pub(super) fn of<'v, T>(words: &WordCounts, values: &'v mut [T], count: usize) -> Vec<WordShare<'v, T>> {
    let least = values.len().div_ceil(count.max(1)).max(1);
    let (mut shares, mut rest, mut first, mut done) = (Vec::new(), values, 0, 0);
    for index in 0..words.len() {
        let end = words.range(index).end;
        if end - done >= least || index + 1 == words.len() {
            let (values, after) = rest.split_at_mut(end - done);
            shares.push(WordShare { words: first..index + 1, values });
            (rest, first, done) = (after, index + 1, end);
        }
    }
    shares
}
