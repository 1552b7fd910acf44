//! What training takes once words are counted, so that a limit can be refused before the long work.
//!
//! An estimate from above: a place of a word has about three nodes at first, here four; every piece has its text, its place in the
//! dictionary, a sum in each lane and a slot on each thread.

use crate::error::{Error, Result};
use crate::train::unigram::Fit;
use crate::train::unigram::suffixes::{Fragments, is_start};
use crate::train::words::Words;

/// Bytes for each character of a distinct word.
const CHARACTER: u64 = 4 * 4;
/// Bytes for each distinct word besides its text: its place and count, and those in its lane.
const WORD: u64 = 16 + 12;
/// Bytes for each piece besides sums and slots.
const PIECE: u64 = 64;

/// An error where training on these words takes more than `fit` allows.
pub fn check(words: &Words, fragments: &Fragments, seeds: usize, fit: &Fit, threads: usize) -> Result<()> {
    let Some(most) = fit.room.map(|room| room as u64) else { return Ok(()) };
    let chars = words.text().iter().filter(|&&byte| is_start(byte)).count() as u64;
    let pieces = chars.min(seeds as u64);
    let texts = words.bytes() as u64 + fragments.memory();
    let needed = texts
        + words.len() as u64 * WORD
        + chars * CHARACTER
        + pieces * (PIECE + 4 * fit.lanes as u64 + 8 * threads as u64);
    if needed <= most {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    Err(Error::Argument(format!(
        "training on {} distinct words takes about {} MB, max_memory leaves {} MB for it: raise it, lower seed_sentencepiece_size, or train on \
         a sample of the text (input_sentence_size)",
        words.len(),
        megabytes(needed),
        megabytes(most),
    )))
}
