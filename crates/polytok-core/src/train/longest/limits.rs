//! Estimates memory and time, so that training that would exceed a limit is refused before the long work.
//!
//! The estimate of memory is an upper bound: every byte of a distinct word has an id of a string; strings are counted
//! in a table; and the pool has its texts, its dictionary and the sums of each thread. The estimate of time covers
//! unusually long strings: each length takes a pass over the words of at least that length.

use super::{CANDIDATE_BYTES, CANDIDATES, LongestMatchOptions};
use crate::error::{Error, Result};
use crate::train::room::{limit_for, megabytes};
use crate::train::words::WordCounts;

/// The number of bytes of memory for each byte of a distinct word; `WORD` has the further bytes for each word.
const BYTE: u64 = 1 + 4 + 2;
const WORD: u64 = 16;
/// The number of bytes of memory for each byte of the candidates; for each string; and for each string and thread.
const CANDIDATE_BYTE: u64 = 10;
const STRING: u64 = 56;
const SUMS: u64 = 24;

/// Strings of up to `USUAL` characters are always counted. Longer strings can take at most `STEPS` steps.
const USUAL: usize = 256;
const STEPS: u64 = 1 << 32;

/// Returns an error if training on these words exceeds the memory limit, or if strings are so long that training takes
/// too much time.
pub(super) fn check(words: &WordCounts, options: &LongestMatchOptions) -> Result<()> {
    check_length(words, options.max_chars)?;
    let Some(room) = options.room else { return Ok(()) };
    let needed = memory(words, options);
    if needed <= room as u64 {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "training on {} distinct words takes about {} of memory; raise max_memory to {}, or give less text",
        words.len(),
        megabytes(needed),
        limit_for(needed),
    )))
}

fn memory(words: &WordCounts, options: &LongestMatchOptions) -> u64 {
    let bytes = words.bytes() as u64;
    let strings = (options.entries.saturating_mul(CANDIDATES) as u64).min(bytes);
    let pool = (CANDIDATE_BYTES as u64).min(bytes.saturating_mul(options.max_chars as u64)) * CANDIDATE_BYTE;
    bytes * BYTE + words.len() as u64 * WORD + pool + strings * (STRING + SUMS * options.threads as u64)
}

fn check_length(words: &WordCounts, chars: usize) -> Result<()> {
    let long_words = || (0..words.len()).map(|index| words.range(index).len()).filter(|&length| length > USUAL);
    let steps = |length: usize| length as u64 * (length.min(chars).saturating_sub(USUAL)) as u64;
    if long_words().fold(0u64, |sum, length| sum.saturating_add(steps(length))) <= STEPS {
        return Ok(());
    }
    let bytes: usize = long_words().sum();
    Err(Error::Argument(format!(
        "max_piece_length={chars} takes too long, because words of more than {USUAL} bytes have {bytes} bytes in \
         total; set it to at most {}, or use a pattern with shorter words",
        USUAL as u64 + STEPS / bytes as u64,
    )))
}
