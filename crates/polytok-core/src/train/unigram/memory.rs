//! What training takes once words are counted, so that a limit can be refused before the long work.
//!
//! An estimate from above: a place of a word has about three nodes at first, here four; every piece has its text, its place in the
//! dictionary, a sum in each lane and a slot on each thread.

use crate::error::{Error, Result};
use crate::train::unigram::cuts::Sizes;

/// Bytes for each character of a distinct word.
const CHARACTER: u64 = 4 * 4;
/// Bytes for each distinct word besides its text: its place and count, and those in its lane.
const WORD: u64 = 16 + 12;
/// Bytes for each fragment besides its text: its place, length and weight.
const FRAGMENT: u64 = 16;
/// Bytes for each piece besides sums and slots.
const PIECE: u64 = 64;

/// An error where training on these words and fragments takes more than `room` bytes.
pub fn check(words: &Sizes, fragments: &Sizes, seeds: usize, room: usize, lanes: usize, threads: usize) -> Result<()> {
    let pieces = words.chars.min(seeds as u64);
    let needed = words.bytes
        + words.count * WORD
        + words.chars * CHARACTER
        + fragments.bytes
        + fragments.count * FRAGMENT
        + pieces * (PIECE + 4 * lanes as u64 + 8 * threads as u64);
    let most = room as u64;
    if needed <= most {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    Err(Error::Argument(format!(
        "training on {} distinct words takes about {} MB, max_memory leaves {} MB for it: raise it, lower seed_sentencepiece_size, or train on \
         a sample of the text (input_sentence_size)",
        words.count,
        megabytes(needed),
        megabytes(most),
    )))
}
