//! Trains a vocabulary for longest match (RWKV's kind). From all frequent strings of the words it chooses the entries
//! with which longest match gives few tokens.
//!
//! The best choice is hard to find; this is a local search from above. It starts with all [`candidates`]. In each round
//! it removes the share of strings whose absence costs least ([`tally`]), until the requested number remains. Then
//! [`rounds`] swap: the absent strings that save most tokens replace the cheapest entries, and the swap stays if the
//! number of tokens falls. The method is polytok's own. A swap is judged by an exact count of tokens, so the total
//! never rises.
//!
//! The result depends only on the counted words, not on their order or on the number of threads: sums are of integers,
//! and length and bytes decide ties. Cost: about sixty passes over the distinct words. Worst input: words so long that
//! hardly any repeats; then it is sixty passes over the text.

mod candidates;
mod limits;
mod pool;
mod rounds;
mod shares;
mod tally;

use candidates::{CandidateLimits, EntryCandidate};
use pool::StringPool;
use rounds::EntrySearch;

use super::progress::Progress;
use super::words::WordCounts;
use crate::error::{Error, Result};

/// The most candidates for each entry; more do not improve the result.
const CANDIDATES: usize = 12;
/// The most bytes of all candidates together. This bounds the nodes of their dictionary, which has room for more.
const CANDIDATE_BYTES: usize = 10_000_000;
/// Divides the bytes of the text per entry, which gives the minimum count unless the caller sets one. Rarer strings
/// help with these words but with hardly any other text.
const RARITY: u64 = 40;
/// The most bytes of all words by their counts, so that no sum of tokens overflows.
const MOST_BYTES: u128 = 1 << 56;

/// The options of training.
pub struct LongestMatchOptions<'a> {
    /// The number of entries, including the 256 bytes.
    pub entries: usize,
    /// The most characters of an entry.
    pub chars: usize,
    /// The most bytes of an entry.
    pub bytes: usize,
    /// The minimum count of an entry; `None` derives it from the amount of text.
    pub min_count: Option<u64>,
    /// Whether the first bytes of long characters can be entries.
    pub parts_of_chars: bool,
    /// Entries that the vocabulary must have, of any length.
    pub forced: &'a [&'a [u8]],
    /// The number of threads.
    pub threads: usize,
    /// The bytes of memory that training can take; if it needs more, it does not start.
    pub room: Option<usize>,
}

/// A vocabulary.
#[derive(Debug, PartialEq, Eq)]
pub struct Trained {
    /// The entries by length and then by bytes, the 256 bytes first. Their ids start at 1.
    pub entries: Vec<Vec<u8>>,
    /// The number of tokens of all words.
    pub tokens: u64,
    /// The minimum count of a string.
    pub min_count: u64,
}

/// Chooses the entries. An error if the words have too few strings, or the counts are too large.
pub fn train(words: &WordCounts, options: &LongestMatchOptions, progress: &mut dyn Progress) -> Result<Trained> {
    limits::check(words, options)?;
    let threads = options.threads.clamp(1, 256);
    let (found, min_count) = frequent(words, options, threads, progress)?;
    let texts: Vec<&[u8]> = found.iter().map(|candidate| candidate.text).collect();
    let pool = StringPool::new(words, &texts, options.forced, threads)?;
    if pool.len() < options.entries {
        return Err(Error::Argument(format!(
            "the texts have only {} strings that can be entries (bytes, forced entries, and strings that occur at least \
             {min_count} times); set vocab_size to at most {}, give more text, or lower min_count",
            pool.len(),
            pool.len() + 1
        )));
    }
    let forced = pool.is_forced.iter().filter(|&&is_forced| is_forced).count();
    if forced > options.entries {
        return Err(Error::Argument(format!(
            "{} entries have no room for the 256 bytes and {} forced entries; raise vocab_size, or force fewer entries",
            options.entries,
            forced - 256
        )));
    }
    let (is_entry, tokens) = EntrySearch::new(words, &pool, threads, progress).run(options.entries)?;
    let entries = pool.texts.iter().zip(is_entry).filter(|(_, is_entry)| *is_entry).map(|(text, _)| text.to_vec());
    Ok(Trained { entries: entries.collect(), tokens: tokens as u64, min_count })
}

/// The most useful candidates, and their minimum count.
fn frequent<'w>(
    words: &'w WordCounts,
    options: &LongestMatchOptions,
    threads: usize,
    progress: &mut dyn Progress,
) -> Result<(Vec<EntryCandidate<'w>>, u64)> {
    let usual = usual_min_count(words, options.entries)?;
    let mut min_count = options.min_count.unwrap_or(usual);
    loop {
        let limits = CandidateLimits {
            min_count,
            chars: options.chars,
            bytes: options.bytes,
            parts_of_chars: options.parts_of_chars,
            threads,
        };
        let mut found = candidates::candidates(words, &limits, progress)?;
        if found.len() >= options.entries || options.min_count.is_some() || min_count == 2 {
            found.sort_unstable_by(|a, b| b.worth().cmp(&a.worth()).then(a.text.cmp(b.text)));
            let mut bytes = 0;
            let fits = |candidate: &&EntryCandidate| {
                bytes += candidate.text.len();
                bytes <= CANDIDATE_BYTES
            };
            found.truncate(found.iter().take_while(fits).take(options.entries.saturating_mul(CANDIDATES)).count());
            return Ok((found, min_count));
        }
        min_count = (min_count / 2).max(2);
    }
}

/// The minimum count by the amount of text; rarer strings would hardly be chosen.
fn usual_min_count(words: &WordCounts, entries: usize) -> Result<u64> {
    let bytes: u128 = words.iter().map(|(word, count)| word.len() as u128 * u128::from(count)).sum();
    if bytes > MOST_BYTES {
        return Err(Error::Argument(format!(
            "the words have {bytes} bytes by their counts, which is too many; scale the counts down"
        )));
    }
    Ok((bytes as u64 / RARITY / entries.max(1) as u64).max(2))
}

#[cfg(test)]
mod tests;
