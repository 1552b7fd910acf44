//! Estimates the memory that training takes after words are counted. If the limit is too low, training returns an error
//! immediately.
//!
//! The estimate is an upper bound of the memory of two stages. The first stage finds substrings: memory holds the
//! words, the fragments and the best substrings. The second stage fits scores, after the fragments are freed. A
//! character of a word has about three nodes (estimated as four); each piece has its text, its entry in the dictionary,
//! a sum in each lane, and a slot on each thread.

use crate::error::{Error, Result};
use crate::train::room::{format_megabytes, limit_leaving};
use crate::train::unigram::cuts::FragmentSizes;

/// The number of bytes for each character of a distinct word.
const CHARACTER_BYTES: u64 = 4 * 4;
/// The number of bytes for the offset and count of a distinct word. In a lane, each word takes another
/// `LANE_WORD_BYTES` bytes.
const WORD_BYTES: u64 = 16;
const LANE_WORD_BYTES: u64 = 12;
/// The number of bytes for the offset, length and weight of a fragment.
const FRAGMENT_BYTES: u64 = 16;
/// The number of bytes for each substring that can become a piece. Sorting takes at most `SORTING_BYTES` bytes on each
/// thread.
const SUBSTRING_BYTES: u64 = 64;
const SORTING_BYTES: u64 = 24 << 20;
/// The number of bytes for each piece, without sums and slots.
const PIECE_BYTES: u64 = 64;

/// Returns an error if training on these words and fragments takes more than `usable_memory` bytes.
pub fn check(
    words: &FragmentSizes,
    fragments: &FragmentSizes,
    seeds: usize,
    usable_memory: usize,
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
    if needed <= usable_memory as u64 {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "training on {} distinct words takes about {} of memory; raise max_memory to {}, lower \
         seed_sentencepiece_size, or train on a sample of the text (input_sentence_size)",
        words.count,
        format_megabytes(needed),
        limit_leaving(needed),
    )))
}
