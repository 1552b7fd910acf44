//! Trains a longest-match vocabulary (like the vocabulary of RWKV). Training chooses entries from all frequent strings
//! of the words, so that longest match yields few tokens.
//!
//! The best choice is hard to find, so training is a local search. The search starts with all `candidates`. Each
//! round removes a fixed fraction of the strings, those whose removal costs the fewest tokens (`tally`), until the
//! requested number remains. Then `rounds` swaps entries: the removed strings that would save the most tokens replace
//! the entries whose removal costs least. A swap is kept only if it lowers the exact number of tokens, so this number
//! never rises. The method is polytok's own; there is no reference to agree with.
//!
//! The result depends only on the counted words, not on their order or on the number of threads: only integers are
//! summed, and ties are decided by length and bytes. Cost: about sixty passes over the distinct words. Worst input: a
//! text of long words that hardly repeat, because the distinct words are then as long as the text.

mod candidates;
mod limits;
mod pool;
mod rounds;
mod shares;
mod tally;

use candidates::{CandidateLimits, EntryCandidate};
use polytok_memory::{self as memory, Collect, Copied};
use pool::StringPool;
use rounds::EntrySearch;

use super::progress::Progress;
use super::words::WordCounts;
use crate::error::{Error, Result};

/// The maximum number of candidates for each requested entry. More candidates do not improve the result.
const CANDIDATES_PER_ENTRY: usize = 12;
/// The maximum total number of bytes of all candidates, so that the number of nodes of the dictionary stays below its
/// limit.
const MAX_CANDIDATE_BYTES: usize = 10_000_000;
/// The default minimum count of a candidate is the number of bytes of text for each entry, divided by this number.
/// Rarer strings save tokens in the training text, but hardly in any other text.
const BYTES_PER_MIN_COUNT: u64 = 40;
/// The maximum number of bytes of all occurrences of words, so that no sum of tokens overflows.
const MAX_BYTES: u128 = 1 << 56;

/// The options of training.
pub struct LongestMatchOptions<'a> {
    /// The number of entries, including the 256 bytes.
    pub entries: usize,
    /// The highest number of characters of an entry.
    pub max_chars: usize,
    /// The highest number of bytes of an entry.
    pub max_bytes: usize,
    /// The minimum count of an entry. `None` selects a minimum count that fits the amount of text.
    pub min_count: Option<u64>,
    /// True if the first bytes of multi-byte characters can be entries.
    pub starts_of_chars: bool,
    /// Entries that the vocabulary must have, of any length.
    pub forced: &'a [&'a [u8]],
    /// The number of threads.
    pub threads: usize,
    /// The number of bytes of memory that training can use. If training needs more, it returns an error before it
    /// starts.
    pub usable_memory: Option<usize>,
}

/// A trained vocabulary.
#[derive(Debug, PartialEq, Eq)]
pub struct TrainedEntries {
    /// The entries, sorted by length and then by bytes; the first 256 are the single bytes. The first entry has id 1.
    pub entries: Vec<Vec<u8>>,
    /// The number of tokens of all words.
    pub tokens: u64,
    /// The minimum count of an entry that training chose.
    pub min_count: u64,
}

/// Trains a vocabulary. Returns an error if the words have too few different strings, or if the counts are too large.
pub fn train(words: &WordCounts, options: &LongestMatchOptions, progress: &mut dyn Progress) -> Result<TrainedEntries> {
    memory::catch(|| {
        limits::check(words, options)?;
        let threads = options.threads.clamp(1, 256);
        let (candidates, min_count) = frequent_strings(words, options, threads, progress)?;
        let texts: Vec<&[u8]> = candidates.iter().map(|candidate| candidate.text).checked_collect();
        let pool = StringPool::new(words, &texts, options.forced, threads)?;
        if pool.len() < options.entries {
            return Err(Error::Argument(format!(
                "the texts have only {} strings that can be entries (bytes, forced entries, and strings that occur at \
                 least {min_count} times); set vocab_size to at most {}, give more text, or lower min_count",
                pool.len(),
                pool.len() + 1
            )));
        }
        let forced_strings = pool.is_forced.iter().filter(|&&is_forced| is_forced).count();
        if forced_strings > options.entries {
            return Err(Error::Argument(format!(
                "{} entries are too few for the 256 bytes and {} forced entries; raise vocab_size, or force fewer entries",
                options.entries,
                forced_strings - 256
            )));
        }
        let (is_entry, tokens) = EntrySearch::new(words, &pool, threads, progress).run(options.entries)?;
        let entries =
            pool.texts.iter().zip(is_entry).filter(|(_, is_entry)| *is_entry).map(|(text, _)| text.checked_to_vec());
        Ok(TrainedEntries { entries: entries.checked_collect(), tokens: tokens as u64, min_count })
    })
}

/// Returns the candidates that save the most tokens, and the minimum count that candidates had to reach.
fn frequent_strings<'w>(
    words: &'w WordCounts,
    options: &LongestMatchOptions,
    threads: usize,
    progress: &mut dyn Progress,
) -> Result<(Vec<EntryCandidate<'w>>, u64)> {
    let default_min_count = choose_min_count(words, options.entries)?;
    let mut min_count = options.min_count.unwrap_or(default_min_count);
    loop {
        let limits = CandidateLimits {
            min_count,
            max_chars: options.max_chars,
            max_bytes: options.max_bytes,
            starts_of_chars: options.starts_of_chars,
            threads,
        };
        let mut candidates = candidates::find_candidates(words, &limits, progress)?;
        if candidates.len() >= options.entries || options.min_count.is_some() || min_count == 2 {
            candidates.sort_unstable_by(|a, b| b.tokens_saved().cmp(&a.tokens_saved()).then(a.text.cmp(b.text)));
            let mut bytes = 0;
            let fits = |candidate: &&EntryCandidate| {
                bytes += candidate.text.len();
                bytes <= MAX_CANDIDATE_BYTES
            };
            candidates.truncate(
                candidates.iter().take_while(fits).take(options.entries.saturating_mul(CANDIDATES_PER_ENTRY)).count(),
            );
            return Ok((candidates, min_count));
        }
        min_count = (min_count / 2).max(2);
    }
}

/// Returns the default minimum count for an amount of text.
fn choose_min_count(words: &WordCounts, entries: usize) -> Result<u64> {
    let bytes: u128 = words.iter().map(|(word, count)| word.len() as u128 * u128::from(count)).sum();
    if bytes > MAX_BYTES {
        return Err(Error::Argument(format!(
            "the words have {bytes} bytes by their counts, more than {MAX_BYTES}; scale the counts down"
        )));
    }
    Ok((bytes as u64 / BYTES_PER_MIN_COUNT / entries.max(1) as u64).max(2))
}

#[cfg(test)]
mod tests;
