//! Counts distinct words, in memory or within a limit.
//!
//! A word is any bytes. It comes with an ordinal, which tells where it was seen first: the sum of the counts and the least of the
//! ordinals do not depend on who counted what, so that counters of several threads, or of several machines, add up to the
//! one that a single thread makes. With a limit, what was counted is written as a sorted run when the memory is used
//! up, and the runs are merged as streams at the end: the result is the same. Cost: one lookup a word; with a
//! limit, each run is written and read once more for every factor of [`MOST_RUNS`]. Worst input: no word occurs twice; the
//! result then is as large as the text, as [`WordCounts`] is in memory whatever the limit.

mod entry;
mod merge;
pub(crate) mod runs;
mod saved;
mod sequence;
mod table;

use std::sync::Arc;

use super::progress::Progress;
use super::room::{limit_for, megabytes};
use super::words::WordCounts;
use crate::cache::Key;
use crate::error::{Error, Result};
use entry::Entry;
use merge::merge;
use runs::{Run, RunWriter};
use table::Table;

pub use entry::Order;
pub use runs::{RunFile, Spill};
pub use saved::{CountsFile, write_counts};
pub use sequence::Sequence;

/// Runs that are merged at once; with more of them some are merged first.
const MOST_RUNS: usize = 64;

/// Words between two reports.
const EACH: u64 = 1 << 12;

/// How much memory counting may take, and where the rest goes.
#[derive(Clone)]
pub struct Limit {
    /// Bytes. A word that is longer is held nevertheless.
    pub bytes: usize,
    /// Makes files.
    pub spill: Arc<dyn Spill>,
}

/// Is called with each word and its count.
pub type EachCount<'a> = &'a mut dyn FnMut(&[u8], u64) -> Result<()>;

/// Distinct words while they are counted.
#[derive(Default)]
pub struct WordCounter {
    table: Table,
    runs: Vec<Run>,
    limit: Option<Limit>,
    next: u64,
    /// What else is to be known of the texts, in their order; it is held in memory.
    pub sequence: Sequence,
}

impl WordCounter {
    /// Nothing is counted yet. Without a limit everything stays in memory.
    pub fn new(limit: Option<Limit>) -> WordCounter {
        WordCounter { limit, ..WordCounter::default() }
    }

    /// Counts a word so many times, behind all that was counted before.
    pub fn add(&mut self, word: &[u8], times: u64) -> Result<()> {
        let ordinal = self.next;
        let next = ordinal.checked_add(1);
        self.next = next.ok_or_else(|| Error::Argument("more words were counted than 64 bits number".into()))?;
        self.add_at(word, times, ordinal)
    }

    /// Counts a word that was seen at an ordinal of the caller's, who then tells all of them.
    pub fn add_at(&mut self, word: &[u8], times: u64, ordinal: u64) -> Result<()> {
        let key = Key::new(word, 0, word.len(), false);
        let hash = self.table.hash(key, word);
        self.add_hashed(word, key, hash, times, ordinal)
    }

    /// Counts the words `text[start..end]` once each; the ordinal of each is `base` and its start.
    pub fn add_pieces(&mut self, text: &[u8], pieces: &[(u32, u32)], base: u64) -> Result<()> {
        const AHEAD: usize = 64;
        for pieces in pieces.chunks(AHEAD) {
            let mut hashed = [(Key::default(), 0); AHEAD];
            for (&(start, end), hashed) in pieces.iter().zip(&mut hashed) {
                let key = Key::new(text, start as usize, end as usize, false);
                let hash = self.table.hash(key, &text[start as usize..end as usize]);
                self.table.prefetch(hash);
                *hashed = (key, hash);
            }
            for (&(start, end), &(key, hash)) in pieces.iter().zip(&hashed) {
                self.add_hashed(&text[start as usize..end as usize], key, hash, 1, base + start as u64)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn add_hashed(&mut self, word: &[u8], key: Key, hash: u64, times: u64, ordinal: u64) -> Result<()> {
        match self.table.find(key, hash, word) {
            Some((count, first)) => {
                *count = count.checked_add(times).ok_or_else(|| entry::too_many(word))?;
                *first = (*first).min(ordinal);
                Ok(())
            }
            None => self.insert(word, key, hash, Entry { count: times, ordinal }),
        }
    }

    #[inline(never)]
    fn insert(&mut self, word: &[u8], key: Key, hash: u64, entry: Entry) -> Result<()> {
        if entry.count == 0 {
            return Ok(());
        }
        let is_full = |limit: &Limit| self.table.needed(key, word) > limit.bytes;
        if !self.table.is_empty() && self.limit.as_ref().is_some_and(is_full) {
            self.spill()?;
        }
        self.table.insert(word, key, hash, entry)
    }

    /// Writes what is in memory as a run.
    fn spill(&mut self) -> Result<()> {
        let Some(limit) = self.limit.clone() else { return Ok(()) };
        let mut writer = RunWriter::new(limit.spill.create()?);
        self.table.drain(Order::Bytes, &mut |word, entry| writer.push(word, entry))?;
        self.runs.push(writer.finish()?);
        self.table.grow_within(limit.bytes);
        if self.runs.len() == MOST_RUNS { gather(&mut self.runs, Order::Bytes, &limit) } else { Ok(()) }
    }

    /// Bytes taken in memory.
    pub fn memory(&self) -> usize {
        self.table.memory()
    }

    /// Nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty() && self.runs.is_empty()
    }

    /// The first ordinal behind all that was counted by [`WordCounter::add`].
    pub fn next_ordinal(&self) -> u64 {
        self.next
    }

    /// Says that ordinals before `next` are taken.
    pub fn skip_to(&mut self, next: u64) {
        self.next = self.next.max(next);
    }

    /// Adds another's counts, whose ordinals are of the same scale. Their sequences are the caller's to join.
    pub fn merge(&mut self, mut other: WordCounter) -> Result<()> {
        self.next = self.next.max(other.next);
        self.limit = self.limit.take().or_else(|| other.limit.clone());
        // Both are in memory at once: half of the limit is what the two may take before one goes.
        let taken = self.memory() + other.memory();
        if self.limit.as_ref().is_some_and(|limit| taken > limit.bytes / 2) && !other.table.is_empty() {
            other.limit.clone_from(&self.limit);
            other.spill()?;
        }
        self.runs.append(&mut other.runs);
        other.table.drain(Order::Bytes, &mut |word, Entry { count, ordinal }| self.add_at(word, count, ordinal))
    }

    /// Calls `each` for every word once, in the order of their bytes. All stay counted.
    fn stream(&mut self, each: entry::Each) -> Result<()> {
        if self.limit.is_none() {
            return self.table.visit(Order::Bytes, each);
        }
        if !self.table.is_empty() {
            self.spill()?;
        }
        self.table = Table::default();
        merge(&mut self.runs, Order::Bytes, each)
    }

    /// Calls `each` for every word once with its count, in an order. All stay counted.
    pub fn each(&mut self, order: Order, progress: &mut dyn Progress, each: EachCount) -> Result<()> {
        let mut reporter = Reporter { progress, done: 0 };
        let mut one = |word: &[u8], entry: Entry| {
            each(word, entry.count)?;
            reporter.one()
        };
        // Within a limit all goes through files, so that what was counted is not in memory twice.
        match self.limit.clone() {
            None => self.table.visit(order, &mut one),
            Some(_) if order == Order::Bytes => self.stream(&mut one),
            Some(limit) => {
                let mut sorter = Sorter { limit, order, table: Table::default(), runs: Vec::new() };
                self.stream(&mut |word, entry| sorter.push(word, entry))?;
                sorter.finish(&mut one)
            }
        }
    }

    /// The same in any order, which may be another in each run, for less work.
    pub fn each_unordered(&mut self, each: EachCount) -> Result<()> {
        match self.limit {
            None => self.table.each_unordered(each),
            Some(_) => self.stream(&mut |word, entry| each(word, entry.count)),
        }
    }

    /// All words, each once.
    pub fn into_words(mut self, order: Order, progress: &mut dyn Progress) -> Result<WordCounts> {
        self.words(order, None, progress)
    }

    /// The same, if they take no more than so many bytes; all stay counted.
    pub fn words(&mut self, order: Order, room: Option<usize>, progress: &mut dyn Progress) -> Result<WordCounts> {
        let (count, bytes) = self.sizes();
        let (mut words, mut needed) = (WordCounts::with_capacity(count, bytes), 0);
        self.each(order, progress, &mut |word, count| {
            needed += word.len() + WordCounts::WORD_OVERHEAD;
            if room.is_none_or(|room| needed <= room) {
                words.push(word, count);
            }
            Ok(())
        })?;
        if room.is_some_and(|room| needed > room) {
            let needed = needed as u64;
            return Err(Error::Argument(format!(
                "the distinct words alone take {} of memory: raise max_memory above {}, or give less text",
                megabytes(needed),
                limit_for(needed)
            )));
        }
        Ok(words)
    }

    /// How many words there are, and at the most so many bytes of them; nothing within a limit, where nobody knows.
    pub fn sizes(&self) -> (usize, usize) {
        if self.limit.is_none() { self.table.sizes() } else { (0, 0) }
    }

    /// The limit.
    pub fn limit(&self) -> Option<&Limit> {
        self.limit.as_ref()
    }
}

struct Reporter<'p> {
    progress: &'p mut dyn Progress,
    done: u64,
}

impl Reporter<'_> {
    fn one(&mut self) -> Result<()> {
        self.done += 1;
        if self.done.is_multiple_of(EACH) { self.progress.report("sorting words", self.done, 0) } else { Ok(()) }
    }
}

/// Makes one run of many.
fn gather(runs: &mut Vec<Run>, order: Order, limit: &Limit) -> Result<()> {
    let mut writer = RunWriter::new(limit.spill.create()?);
    merge(runs, order, &mut |word, entry| writer.push(word, entry))?;
    *runs = vec![writer.finish()?];
    Ok(())
}

/// Brings distinct words into another order within a limit.
struct Sorter {
    limit: Limit,
    order: Order,
    table: Table,
    runs: Vec<Run>,
}

impl Sorter {
    fn push(&mut self, word: &[u8], entry: Entry) -> Result<()> {
        let key = Key::new(word, 0, word.len(), false);
        if !self.table.is_empty() && self.table.needed(key, word) > self.limit.bytes {
            self.spill()?;
        }
        let hash = self.table.hash(key, word);
        self.table.insert(word, key, hash, entry)
    }

    fn spill(&mut self) -> Result<()> {
        let mut writer = RunWriter::new(self.limit.spill.create()?);
        self.table.drain(self.order, &mut |word, entry| writer.push(word, entry))?;
        self.runs.push(writer.finish()?);
        if self.runs.len() == MOST_RUNS { gather(&mut self.runs, self.order, &self.limit) } else { Ok(()) }
    }

    fn finish(mut self, each: entry::Each) -> Result<()> {
        self.spill()?;
        self.table = Table::default();
        merge(&mut self.runs, self.order, each)
    }
}

#[cfg(test)]
mod tests;
