//! Estimates the memory and time of training. If the estimate exceeds a limit, training returns an error immediately.
//!
//! The estimate of memory is an upper bound. It includes the id of a string for every byte of the distinct words, the
//! table in which strings are counted, and the pool of candidates with its texts, its dictionary and the sums of each
//! thread. The estimate of time is about unusually long strings: training takes one pass for each length, over the
//! words of at least this length.

use super::{CANDIDATES_PER_ENTRY, LongestMatchOptions, MAX_CANDIDATE_BYTES};
use crate::error::{Error, Result};
use crate::train::room::{format_megabytes, limit_leaving};
use crate::train::words::WordCounts;

/// The number of bytes of memory for each byte of a distinct word. Each word takes another `MEMORY_PER_WORD` bytes.
const MEMORY_PER_TEXT_BYTE: u64 = 1 + 4 + 2;
const MEMORY_PER_WORD: u64 = 16;
/// The number of bytes of memory for each byte of a candidate (`MEMORY_PER_CANDIDATE_BYTE`), for each string
/// (`MEMORY_PER_STRING`), and for each string in each thread (`MEMORY_PER_STRING_AND_THREAD`).
const MEMORY_PER_CANDIDATE_BYTE: u64 = 10;
const MEMORY_PER_STRING: u64 = 56;
const MEMORY_PER_STRING_AND_THREAD: u64 = 24;

/// Strings of up to `USUAL_CHARS` characters can always be counted. Counting longer strings must not take more than
/// `MAX_STEPS` steps.
const USUAL_CHARS: usize = 256;
const MAX_STEPS: u64 = 1 << 32;

/// Returns an error if training on these words exceeds the memory limit, or if strings are so long that training takes
/// too much time.
pub(super) fn check(words: &WordCounts, options: &LongestMatchOptions) -> Result<()> {
    check_length(words, options.max_chars)?;
    let Some(usable_memory) = options.usable_memory else { return Ok(()) };
    let needed = memory(words, options);
    if needed <= usable_memory as u64 {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "training on {} distinct words takes about {} of memory; raise max_memory to {}, or give less text",
        words.len(),
        format_megabytes(needed),
        limit_leaving(needed),
    )))
}

fn memory(words: &WordCounts, options: &LongestMatchOptions) -> u64 {
    let bytes = words.bytes() as u64;
    let strings = (options.entries.saturating_mul(CANDIDATES_PER_ENTRY) as u64).min(bytes);
    let pool =
        (MAX_CANDIDATE_BYTES as u64).min(bytes.saturating_mul(options.max_chars as u64)) * MEMORY_PER_CANDIDATE_BYTE;
    bytes * MEMORY_PER_TEXT_BYTE
        + words.len() as u64 * MEMORY_PER_WORD
        + pool
        + strings * (MEMORY_PER_STRING + MEMORY_PER_STRING_AND_THREAD * options.threads as u64)
}

fn check_length(words: &WordCounts, chars: usize) -> Result<()> {
    let long_words = || (0..words.len()).map(|index| words.range(index).len()).filter(|&length| length > USUAL_CHARS);
    let steps = |length: usize| length as u64 * (length.min(chars).saturating_sub(USUAL_CHARS)) as u64;
    if long_words().fold(0u64, |sum, length| sum.saturating_add(steps(length))) <= MAX_STEPS {
        return Ok(());
    }
    let bytes: usize = long_words().sum();
    Err(Error::Argument(format!(
        "max_piece_length={chars} takes too long, because words of more than {USUAL_CHARS} bytes have {bytes} bytes in \
         total; set it to at most {}, or use a pattern with shorter words",
        USUAL_CHARS as u64 + MAX_STEPS / bytes as u64,
    )))
}
