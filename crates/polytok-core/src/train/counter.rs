//! Counts distinct words, in memory or within a limit.
//!
//! A word is any sequence of bytes. Each occurrence of a word has an ordinal, a number that grows with the position in
//! the input. For each word the counter holds the number of occurrences and the lowest ordinal. Neither number depends
//! on the thread or machine that counts a text, so the counters of several threads can be added up to the same result
//! as that of one thread. With a limit, the counter writes its words as a sorted run when the memory is full, and
//! merges the runs as streams at the end; the result is the same. Cost: one lookup per occurrence. With a limit, each
//! distinct word of a run is also written and read once, and once more each time that `MAX_RUNS` runs are merged into
//! one. Worst input: a text in which no word occurs twice. Then the result is as large as the text, and [`WordCounts`]
//! holds it in memory despite the limit.

mod entry;
mod merge;
pub(crate) mod runs;
mod saved;
mod sequence;
mod table;

use std::sync::Arc;

use entry::WordEntry;
use merge::merge;
use polytok_memory::{self as memory, Grow};
use runs::{RunWriter, WordRun};
use table::WordTable;

use super::progress::Progress;
use super::room::{format_megabytes, limit_leaving};
use super::words::WordCounts;
use crate::cache::PieceKey;
use crate::error::{Error, Result};

pub use entry::Order;
pub use runs::{RunFile, Spill};
pub use saved::{CountsFile, write_counts};
pub use sequence::Sequence;

/// The maximum number of runs that are merged into one run.
const MAX_RUNS: usize = 64;

/// The number of words between two progress reports.
const WORDS_PER_REPORT: u64 = 1 << 12;

/// The memory limit of counting, and the source of files for the words that do not fit.
#[derive(Clone)]
pub struct Limit {
    /// The number of bytes that counted words can take. A single longer word is still counted.
    pub bytes: usize,
    /// Creates the files for words that do not fit.
    pub spill: Arc<dyn Spill>,
}

/// A function that is called with each word and its count.
pub type CountVisitor<'a> = &'a mut dyn FnMut(&[u8], u64) -> Result<()>;

/// Counts distinct words.
#[derive(Default)]
pub struct WordCounter {
    table: WordTable,
    runs: Vec<WordRun>,
    limit: Option<Limit>,
    next_ordinal: u64,
    /// Pairs of texts whose order affects training. They stay in memory, also with a limit.
    pub sequence: Sequence,
}

impl WordCounter {
    /// Creates an empty counter. Without a limit, all words stay in memory.
    pub fn new(limit: Option<Limit>) -> WordCounter {
        WordCounter { limit, ..WordCounter::default() }
    }

    /// Counts a word `times` times. The word's ordinal follows the ordinals of all earlier words.
    pub fn add(&mut self, word: &[u8], times: u64) -> Result<()> {
        let ordinal = self.next_ordinal;
        let next_ordinal = ordinal.checked_add(1);
        self.next_ordinal = next_ordinal
            .ok_or_else(|| Error::Argument("the number of words exceeds 64 bits; give less text".into()))?;
        self.add_at(word, times, ordinal)
    }

    /// Counts a word with an ordinal that the caller chooses. A caller that uses this method must use it for all words.
    pub fn add_at(&mut self, word: &[u8], times: u64, ordinal: u64) -> Result<()> {
        let key = PieceKey::new(word, 0, word.len(), false);
        let hash = self.table.hash(key, word);
        self.add_hashed(word, key, hash, times, ordinal)
    }

    /// Counts every word `text[start..end]` once, with the ordinal `base + start`.
    pub fn add_pieces(&mut self, text: &[u8], pieces: &[(u32, u32)], base: u64) -> Result<()> {
        memory::catch(|| {
            const PREFETCHED_PIECES: usize = 64;
            for pieces in pieces.chunks(PREFETCHED_PIECES) {
                let mut piece_keys = [(PieceKey::default(), 0); PREFETCHED_PIECES];
                for (&(start, end), piece_keys) in pieces.iter().zip(&mut piece_keys) {
                    let key = PieceKey::new(text, start as usize, end as usize, false);
                    let hash = self.table.hash(key, &text[start as usize..end as usize]);
                    self.table.prefetch(hash);
                    *piece_keys = (key, hash);
                }
                for (&(start, end), &(key, hash)) in pieces.iter().zip(&piece_keys) {
                    self.add_hashed(&text[start as usize..end as usize], key, hash, 1, base + start as u64)?;
                }
            }
            Ok(())
        })
    }

    #[inline]
    fn add_hashed(&mut self, word: &[u8], key: PieceKey, hash: u64, times: u64, ordinal: u64) -> Result<()> {
        match self.table.find(key, hash, word) {
            Some((count, first)) => {
                *count = count.checked_add(times).ok_or_else(|| entry::count_overflow(word))?;
                *first = (*first).min(ordinal);
                Ok(())
            }
            None => self.insert(word, key, hash, WordEntry { count: times, ordinal }),
        }
    }

    #[inline(never)]
    fn insert(&mut self, word: &[u8], key: PieceKey, hash: u64, entry: WordEntry) -> Result<()> {
        if entry.count == 0 {
            return Ok(());
        }
        let is_full = |limit: &Limit| self.table.peak_bytes(key, word) > limit.bytes;
        if !self.table.is_empty() && self.limit.as_ref().is_some_and(is_full) {
            self.spill()?;
        }
        self.table.insert(word, key, hash, entry)
    }

    /// Moves the words from memory to a new run.
    fn spill(&mut self) -> Result<()> {
        let Some(limit) = self.limit.clone() else { return Ok(()) };
        let mut writer = RunWriter::new(limit.spill.create()?);
        self.table.drain(Order::Bytes, &mut |word, entry| writer.push(word, entry))?;
        self.runs.checked_push(writer.finish()?);
        self.table.grow_within(limit.bytes);
        if self.runs.len() == MAX_RUNS { merge_runs(&mut self.runs, Order::Bytes, &limit) } else { Ok(()) }
    }

    /// Returns the number of bytes that the words in memory take.
    pub fn memory(&self) -> usize {
        self.table.memory()
    }

    /// Reports whether the counter has no words.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty() && self.runs.is_empty()
    }

    /// Returns the ordinal that the next call of [`WordCounter::add`] uses.
    pub fn next_ordinal(&self) -> u64 {
        self.next_ordinal
    }

    /// Makes `next` the ordinal that the next call of [`WordCounter::add`] uses.
    pub fn skip_to(&mut self, next: u64) {
        self.next_ordinal = self.next_ordinal.max(next);
    }

    /// Adds the counts of another counter, whose ordinals must count from the same position of the input. The caller
    /// must join the sequences of both counters.
    pub fn merge(&mut self, mut other: WordCounter) -> Result<()> {
        memory::catch(|| {
            self.next_ordinal = self.next_ordinal.max(other.next_ordinal);
            self.limit = self.limit.take().or_else(|| other.limit.clone());
            // At this point both counters are in memory. If they take more than half of the limit, the words of `other` are
            // moved to a file.
            let bytes = self.memory() + other.memory();
            if self.limit.as_ref().is_some_and(|limit| bytes > limit.bytes / 2) && !other.table.is_empty() {
                other.limit.clone_from(&self.limit);
                other.spill()?;
            }
            self.runs.checked_extend(other.runs.drain(..));
            other.table.drain(Order::Bytes, &mut |word, WordEntry { count, ordinal }| self.add_at(word, count, ordinal))
        })
    }

    /// Calls `each` for every word with its entry, in the order of the words' bytes. The counter still has all words
    /// afterwards.
    fn stream(&mut self, each: entry::EntryVisitor) -> Result<()> {
        if self.limit.is_none() {
            return self.table.visit(Order::Bytes, each);
        }
        if !self.table.is_empty() {
            self.spill()?;
        }
        self.table = WordTable::default();
        merge(&mut self.runs, Order::Bytes, each)
    }

    /// Calls `each` for every word with its count, in the given order. The counter still has all words afterwards.
    pub fn each(&mut self, order: Order, progress: &mut dyn Progress, each: CountVisitor) -> Result<()> {
        memory::catch(|| {
            let mut reporter = SortReporter { progress, words_done: 0 };
            let mut visit = |word: &[u8], entry: WordEntry| {
                each(word, entry.count)?;
                reporter.count()
            };
            // With a limit, the words are sorted in files, so that memory does not hold a second copy of them.
            match self.limit.clone() {
                None => self.table.visit(order, &mut visit),
                Some(_) if order == Order::Bytes => self.stream(&mut visit),
                Some(limit) => {
                    let mut sorter = WordSorter { limit, order, table: WordTable::default(), runs: Vec::new() };
                    self.stream(&mut |word, entry| sorter.push(word, entry))?;
                    sorter.finish(&mut visit)
                }
            }
        })
    }

    /// Calls `each` for every word with its count, in no particular order, which is faster than a given order. The
    /// order can differ between runs.
    pub fn each_unordered(&mut self, each: CountVisitor) -> Result<()> {
        memory::catch(|| match self.limit {
            None => self.table.each_unordered(each),
            Some(_) => self.stream(&mut |word, entry| each(word, entry.count)),
        })
    }

    /// Returns all distinct words in the given order.
    pub fn into_words(mut self, order: Order, progress: &mut dyn Progress) -> Result<WordCounts> {
        memory::catch(|| self.words(order, None, progress))
    }

    /// Returns all distinct words in the given order, or an error if they take more than `usable_memory` bytes. The
    /// counter still has all words afterwards.
    pub fn words(
        &mut self,
        order: Order,
        usable_memory: Option<usize>,
        progress: &mut dyn Progress,
    ) -> Result<WordCounts> {
        memory::catch(|| {
            let (count, bytes) = self.sizes();
            let (mut words, mut bytes_needed) = (WordCounts::with_capacity(count, bytes), 0);
            self.each(order, progress, &mut |word, count| {
                bytes_needed += word.len() + WordCounts::WORD_OVERHEAD;
                if usable_memory.is_none_or(|usable_memory| bytes_needed <= usable_memory) {
                    words.push(word, count);
                }
                Ok(())
            })?;
            if usable_memory.is_some_and(|usable_memory| bytes_needed > usable_memory) {
                let bytes_needed = bytes_needed as u64;
                return Err(Error::Argument(format!(
                    "the distinct words alone take {} of memory; raise max_memory to more than {}, or give less text",
                    format_megabytes(bytes_needed),
                    limit_leaving(bytes_needed)
                )));
            }
            Ok(words)
        })
    }

    /// Returns the number of words and an upper bound of their total bytes. With a limit, both numbers are unknown, and
    /// the result is (0, 0).
    pub fn sizes(&self) -> (usize, usize) {
        if self.limit.is_none() { self.table.sizes() } else { (0, 0) }
    }

    /// Returns the limit.
    pub fn limit(&self) -> Option<&Limit> {
        self.limit.as_ref()
    }
}

/// Reports the number of words processed so far.
struct SortReporter<'p> {
    progress: &'p mut dyn Progress,
    words_done: u64,
}

impl SortReporter<'_> {
    fn count(&mut self) -> Result<()> {
        self.words_done += 1;
        if self.words_done.is_multiple_of(WORDS_PER_REPORT) {
            self.progress.report("sorting words", self.words_done, 0)
        } else {
            Ok(())
        }
    }
}

/// Merges all runs into one run.
fn merge_runs(runs: &mut Vec<WordRun>, order: Order, limit: &Limit) -> Result<()> {
    let mut writer = RunWriter::new(limit.spill.create()?);
    merge(runs, order, &mut |word, entry| writer.push(word, entry))?;
    *runs = vec![writer.finish()?];
    Ok(())
}

/// Sorts the distinct words of a counter into another order, within the memory limit.
struct WordSorter {
    limit: Limit,
    order: Order,
    table: WordTable,
    runs: Vec<WordRun>,
}

impl WordSorter {
    fn push(&mut self, word: &[u8], entry: WordEntry) -> Result<()> {
        let key = PieceKey::new(word, 0, word.len(), false);
        if !self.table.is_empty() && self.table.peak_bytes(key, word) > self.limit.bytes {
            self.spill()?;
        }
        let hash = self.table.hash(key, word);
        self.table.insert(word, key, hash, entry)
    }

    fn spill(&mut self) -> Result<()> {
        let mut writer = RunWriter::new(self.limit.spill.create()?);
        self.table.drain(self.order, &mut |word, entry| writer.push(word, entry))?;
        self.runs.checked_push(writer.finish()?);
        if self.runs.len() == MAX_RUNS { merge_runs(&mut self.runs, self.order, &self.limit) } else { Ok(()) }
    }

    fn finish(mut self, each: entry::EntryVisitor) -> Result<()> {
        self.spill()?;
        self.table = WordTable::default();
        merge(&mut self.runs, self.order, each)
    }
}

#[cfg(test)]
pub(super) mod tests;
