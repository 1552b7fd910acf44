//! Estimates the memory that training takes after words are counted, so that a limit that is too low is refused before
//! the long work.
//!
//! The estimate is an upper bound of two stages. In the first, memory holds the words, the fragments and the best
//! substrings. Then the fragments are freed. In the second, a character of a word has about three nodes at first,
//! estimated as four; each piece has its text, its entry in the dictionary, a sum in each lane and a slot on each
//! thread.

use crate::error::{Error, Result};
use crate::train::room::{limit_for, megabytes};
use crate::train::unigram::cuts::FragmentSizes;

/// The number of bytes for each character of a distinct word.
const CHARACTER_BYTES: u64 = 4 * 4;
/// The number of bytes for the offset and count of a distinct word. `LANE_WORD_BYTES` is the number of bytes in the
/// word's lane.
const WORD_BYTES: u64 = 16;
const LANE_WORD_BYTES: u64 = 12;
/// The number of bytes for the offset, length and weight of a fragment.
const FRAGMENT_BYTES: u64 = 16;
/// The number of bytes for each substring that can become a piece. `SORTING_BYTES` is the number of bytes that each
/// thread sorts.
const SUBSTRING_BYTES: u64 = 64;
const SORTING_BYTES: u64 = 24 << 20;
/// The number of bytes for each piece, without sums and slots.
const PIECE_BYTES: u64 = 64;

/// Returns an error if training on these words and fragments takes more than `room` bytes.
pub fn check(
    words: &FragmentSizes,
    fragments: &FragmentSizes,
    seeds: usize,
    room: usize,
    lanes: usize,
    threads: usize,
) -> Result<()> {
    let pieces = words.chars.min(seeds as u64);
    let threads = threads as u64;
    let sorting = SORTING_BYTES.min(words.chars * 16) * threads;
    let bytes_for_substrings = fragments.bytes + fragments.count * FRAGMENT_BYTES + pieces * SUBSTRING_BYTES + sorting;
    let bytes_for_fitting = words.count * LANE_WORD_BYTES
        + words.chars * CHARACTER_BYTES
        + pieces * (PIECE_BYTES + 4 * lanes as u64 + 8 * threads);
    let needed = words.bytes + words.count * WORD_BYTES + bytes_for_substrings.max(bytes_for_fitting);
    if needed <= room as u64 {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "training on {} distinct words takes about {} of memory; raise max_memory to {}, lower \
         seed_sentencepiece_size, or train on a sample of the text (input_sentence_size)",
        words.count,
        megabytes(needed),
        limit_for(needed),
    )))
}
