//! Counts the tokens of all words, the tokens that each entry saves, and the tokens that each other string would save
//! if it were an entry.
//!
//! Longest match divides the words into tokens. If an entry is removed, tokens change only from the position of the
//! entry to the next token boundary that the old and the new segmentation share, because both continue in the same way
//! from there. A new entry changes the tokens in the same way, from the position where it matches. So the effect of a
//! change is counted by following the new segmentation for a few tokens, which are called a *detour*. The loss that is
//! computed for the removal of an entry is exact. The gain that is computed for a new entry ignores that the entry can
//! match another time within the detour, and that another new entry can match there too.
//!
//! Cost: a few steps for each token, and for each absent string that matches at a token boundary. A detour ends after
//! `MAX_DETOUR` tokens even if the two segmentations have not met.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use polytok_memory::{self as memory, Collect, Grow};

use super::pool::{NONE, StringPool};
use crate::batch::in_threads;
use crate::error::Result;
use crate::train::words::WordCounts;

/// The highest number of tokens of a detour.
const MAX_DETOUR: u32 = 64;
/// The number of bytes of words that one thread processes at a time, as a chunk. Progress is reported every
/// `CHUNKS_PER_REPORT` chunks.
const CHUNK_BYTES: usize = 1 << 16;
const CHUNKS_PER_REPORT: usize = 256;

/// Sums over all words.
pub(super) struct Tally {
    pub tokens: i64,
    /// For each entry, the number of additional tokens that all words would have without the entry.
    pub removal_costs: Vec<i64>,
    /// For each string that is not an entry, the number of tokens that all words would save with the string as an
    /// entry.
    pub addition_savings: Vec<i64>,
}

/// The current entries among the strings of the pool.
pub(super) struct ChosenEntries<'p> {
    pool: &'p StringPool<'p>,
    /// For each string, the longest entry that is equal to the string or to a prefix of it.
    longest_entry: Vec<u32>,
}

impl<'p> ChosenEntries<'p> {
    pub fn new(pool: &'p StringPool<'p>, is_entry: &[bool]) -> ChosenEntries<'p> {
        let mut longest_entry: Vec<u32> = memory::with_capacity(pool.len());
        for (number, &is_entry) in is_entry.iter().enumerate() {
            longest_entry.checked_push(if is_entry {
                number as u32
            } else {
                longest_entry[pool.shorter[number] as usize]
            });
        }
        ChosenEntries { pool, longest_entry }
    }

    #[inline]
    fn len(&self, number: u32) -> usize {
        self.pool.texts[number as usize].len()
    }

    /// Returns the longest other entry that is a prefix of an entry.
    #[inline]
    fn shorter_entry(&self, longest_entry: u32) -> u32 {
        self.longest_entry[self.pool.shorter[longest_entry as usize] as usize]
    }

    /// Computes the tally of all words. Returns the error if `check_progress` returns an error.
    pub fn tally(
        &self,
        words: &WordCounts,
        threads: usize,
        mut check_progress: impl FnMut() -> Result<()>,
    ) -> Result<Tally> {
        let mut workers: Vec<TallyWorker> = (0..threads).map(|_| TallyWorker::new(self)).checked_collect();
        for chunks in chunk_ranges(words).chunks(CHUNKS_PER_REPORT) {
            check_progress()?;
            let next = AtomicUsize::new(0);
            in_threads(threads, workers.iter_mut(), |worker| {
                while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    chunk.clone().for_each(|index| worker.add(words, index));
                }
            });
        }
        let mut tallies = workers.into_iter().map(|worker| worker.tally);
        let first = tallies.next().unwrap_or_else(|| TallyWorker::new(self).tally);
        Ok(tallies.fold(first, Tally::add_up))
    }
}

impl Tally {
    fn add_up(mut self, other: Tally) -> Tally {
        self.tokens += other.tokens;
        self.removal_costs.iter_mut().zip(&other.removal_costs).for_each(|(sum, other_value)| *sum += other_value);
        self.addition_savings
            .iter_mut()
            .zip(&other.addition_savings)
            .for_each(|(sum, other_value)| *sum += other_value);
        self
    }
}

/// Divides the words into chunks of similar size.
fn chunk_ranges(words: &WordCounts) -> Vec<Range<usize>> {
    let (mut chunks, mut first, mut chunk_start) = (Vec::new(), 0, 0);
    for index in 0..words.len() {
        let end = words.range(index).end;
        if end - chunk_start >= CHUNK_BYTES || index + 1 == words.len() {
            chunks.checked_push(first..index + 1);
            (first, chunk_start) = (index + 1, end);
        }
    }
    chunks
}

/// The sums of one thread.
struct TallyWorker<'c> {
    entries: &'c ChosenEntries<'c>,
    tally: Tally,
    /// For each entry, the position in the text of all words where its last detour ended.
    detour_end: Vec<usize>,
    /// The token boundaries and the tokens of the current word.
    boundaries: Vec<usize>,
    tokens: Vec<u32>,
}

impl<'c> TallyWorker<'c> {
    fn new(entries: &'c ChosenEntries<'c>) -> TallyWorker<'c> {
        let size = entries.pool.len();
        let tally = Tally { tokens: 0, removal_costs: memory::zeroed(size), addition_savings: memory::zeroed(size) };
        TallyWorker { entries, tally, detour_end: memory::zeroed(size), boundaries: Vec::new(), tokens: Vec::new() }
    }

    fn add(&mut self, words: &WordCounts, index: usize) {
        let (range, count) = (words.range(index), words.count(index) as i64);
        let longest = &self.entries.pool.longest[range.clone()];
        self.tokenize(longest);
        self.tally.tokens += count * self.tokens.len() as i64;
        for token in 0..self.tokens.len() {
            self.add_removal_cost(longest, range.start, token, count);
            self.add_addition_savings(longest, token, count);
        }
    }

    /// Divides a word into tokens by longest match.
    fn tokenize(&mut self, longest: &[u32]) {
        self.boundaries.clear();
        self.tokens.clear();
        let mut at = 0;
        self.boundaries.checked_push(0);
        while at < longest.len() {
            let entry = self.entries.longest_entry[longest[at] as usize];
            at += self.entries.len(entry);
            self.tokens.checked_push(entry);
            self.boundaries.checked_push(at);
        }
    }

    /// Adds the number of tokens that an entry saves at `token`, unless a detour of an earlier token has included it.
    #[inline]
    fn add_removal_cost(&mut self, longest: &[u32], start: usize, token: usize, count: i64) {
        let entry = self.tokens[token];
        let at = self.boundaries[token];
        if self.entries.pool.is_forced[entry as usize] || start + at < self.detour_end[entry as usize] {
            return;
        }
        let (extra_tokens, end) = self.follow_detour(longest, token, self.entries.shorter_entry(entry), entry);
        self.tally.removal_costs[entry as usize] += count * extra_tokens;
        self.detour_end[entry as usize] = start + end;
    }

    /// Adds, for each absent string that matches at `token`, the number of tokens that it would save there.
    #[inline]
    fn add_addition_savings(&mut self, longest: &[u32], token: usize, count: i64) {
        let entry = self.tokens[token];
        let mut other = longest[self.boundaries[token]];
        while other != entry {
            let (extra_tokens, _) = self.follow_detour(longest, token, other, NONE);
            self.tally.addition_savings[other as usize] -= count * extra_tokens;
            other = self.entries.pool.shorter[other as usize];
        }
    }

    /// Replaces a token by `first`, and follows longest match without the entry `banned_entry` until the old and the
    /// new segmentation meet. Returns the number of additional tokens of this detour, and the position where it ends.
    #[inline]
    fn follow_detour(&self, longest: &[u32], token: usize, first_entry: u32, banned_entry: u32) -> (i64, usize) {
        let mut at = self.boundaries[token] + self.entries.len(first_entry);
        let (mut other, mut detour_tokens) = (token + 1, 1);
        loop {
            while self.boundaries[other] < at {
                other += 1;
            }
            if self.boundaries[other] == at || detour_tokens >= MAX_DETOUR {
                return (i64::from(detour_tokens) - (other - token) as i64, at);
            }
            let mut entry = self.entries.longest_entry[longest[at] as usize];
            if entry == banned_entry {
                entry = self.entries.shorter_entry(entry);
            }
            at += self.entries.len(entry);
            detour_tokens += 1;
        }
    }
}
