//! A vocabulary for longest match (RWKV's kind): of all strings that occur often enough in the words, so many that longest match
//! cuts the words into as few tokens as it can be made to.
//!
//! To find the best choice is hard; this is a local search from above. It starts with all [`candidates`] and drops the cheapest
//! share again and again, by what each one's absence would cost on its own ([`tally`]), until only so many are left;
//! then [`rounds`] swap: the absent strings that would spare the most come in, the cheapest entries go, and it is kept if the
//! tokens fall. The method is polytok's own. Where the tokens were counted a swap is exact, so the total never rises.
//!
//! The result depends on the counted words alone, not on their order nor on the number of threads: sums are of integers, and ties
//! are settled by length and bytes. Cost: about sixty passes over the distinct words. Worst
//! input: words so long that hardly one repeats, and then it is sixty passes over the text.

mod candidates;
mod limits;
mod pool;
mod rounds;
mod shares;
mod tally;

use candidates::{Candidate, Limits};
use pool::Pool;
use rounds::Search;

use super::progress::Progress;
use super::words::WordCounts;
use crate::error::{Error, Result};

/// More candidates than so many for each entry do not make the result better.
const CANDIDATES: usize = 12;
/// Bytes of all candidates together: as many nodes their dictionary can have at most, which has room for more.
const CANDIDATE_BYTES: usize = 10_000_000;
/// An entry must occur once in so many times the bytes that an entry has of the text, unless the caller says how often.
/// Strings that are rarer serve the words at hand but hardly any other text.
const RARITY: u64 = 40;
/// No sum of tokens can be larger than the bytes of all words times this.
const MOST_BYTES: u128 = 1 << 56;

/// What is asked for.
pub struct Options<'a> {
    /// How many entries, the 256 bytes among them.
    pub entries: usize,
    /// The most characters of an entry.
    pub chars: usize,
    /// The most bytes of an entry.
    pub bytes: usize,
    /// How often a string must occur to become an entry; `None` leaves it to the amount of text.
    pub min_count: Option<u64>,
    /// Whether the first bytes of long characters may be entries.
    pub parts_of_chars: bool,
    /// Entries that there must be, of whatever length.
    pub forced: &'a [&'a [u8]],
    /// How many threads work.
    pub threads: usize,
    /// How many bytes training may take; it is not begun where it takes more.
    pub room: Option<usize>,
}

/// A vocabulary.
#[derive(Debug, PartialEq, Eq)]
pub struct Trained {
    /// The entries by length and then by bytes, the 256 bytes first. Their ids begin at 1.
    pub entries: Vec<Vec<u8>>,
    /// The tokens of all words.
    pub tokens: u64,
    /// How often a string had to occur.
    pub min_count: u64,
}

/// Chooses the entries. An error if the words do not have so many strings, or the counts are too large.
pub fn train(words: &WordCounts, options: &Options, progress: &mut dyn Progress) -> Result<Trained> {
    limits::check(words, options)?;
    let threads = options.threads.clamp(1, 256);
    let (found, min_count) = frequent(words, options, threads, progress)?;
    let texts: Vec<&[u8]> = found.iter().map(|candidate| candidate.text).collect();
    let pool = Pool::new(words, &texts, options.forced, threads)?;
    if pool.len() < options.entries {
        return Err(Error::Argument(format!(
            "the texts have no more than {} strings that may be entries (bytes, forced entries, and what occurs {min_count} \
             times or more): the largest vocab_size is {}, unless there is more text or a lower min_count",
            pool.len(),
            pool.len() + 1
        )));
    }
    let forced = pool.is_forced.iter().filter(|&&is_forced| is_forced).count();
    if forced > options.entries {
        return Err(Error::Argument(format!(
            "{} entries have no room for the 256 bytes and {} forced entries",
            options.entries,
            forced - 256
        )));
    }
    let (is_entry, tokens) = Search::new(words, &pool, threads, progress).run(options.entries)?;
    let entries = pool.texts.iter().zip(is_entry).filter(|(_, is_entry)| *is_entry).map(|(text, _)| text.to_vec());
    Ok(Trained { entries: entries.collect(), tokens: tokens as u64, min_count })
}

/// The most useful candidates, and how often each occurs at least.
fn frequent<'w>(
    words: &'w WordCounts,
    options: &Options,
    threads: usize,
    progress: &mut dyn Progress,
) -> Result<(Vec<Candidate<'w>>, u64)> {
    let usual = usual_min_count(words, options.entries)?;
    let mut min_count = options.min_count.unwrap_or(usual);
    loop {
        let limits = Limits {
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
            let fits = |candidate: &&Candidate| {
                bytes += candidate.text.len();
                bytes <= CANDIDATE_BYTES
            };
            found.truncate(found.iter().take_while(fits).take(options.entries.saturating_mul(CANDIDATES)).count());
            return Ok((found, min_count));
        }
        min_count = (min_count / 2).max(2);
    }
}

/// So that strings that are rarer would hardly be chosen.
fn usual_min_count(words: &WordCounts, entries: usize) -> Result<u64> {
    let bytes: u128 = words.iter().map(|(word, count)| word.len() as u128 * u128::from(count)).sum();
    if bytes > MOST_BYTES {
        return Err(Error::Argument(format!(
            "the words have {bytes} bytes, times their counts: scale the counts down"
        )));
    }
    Ok((bytes as u64 / RARITY / entries.max(1) as u64).max(2))
}

#[cfg(test)]
mod tests;
