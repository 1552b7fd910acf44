//! The value of each entry: the number of tokens of the words, how many more they take without an entry, and how many
//! fewer with another one.
//!
//! Longest match divides the words into tokens. Without an entry, the tokens differ only from the place of the entry to
//! the next place where both ways have a token boundary, because the text after it is the same. A new entry changes
//! them in the same way, from the place where it matches. So the cost of one change is counted by following the other
//! way for a few tokens. A loss is exact. A gain ignores that a new entry can match again before the ways meet, and
//! that another new entry can be better.
//!
//! Cost: a few steps for each token, and for each absent string that matches at a token boundary. Ways that do not meet
//! within `DETOUR` tokens are compared up to there.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::pool::{NONE, StringPool};
use crate::batch::in_threads;
use crate::error::Result;
use crate::train::words::WordCounts;

/// The most tokens of a detour.
const DETOUR: u32 = 64;
/// Bytes of words that a thread takes at once, and the number of such chunks between two progress reports.
const CHUNK: usize = 1 << 16;
const CHUNKS: usize = 256;

/// Sums over all words.
pub(super) struct Tally {
    pub tokens: i64,
    /// For each entry of the pool, how many more tokens the words take without it.
    pub loss: Vec<i64>,
    /// For each other string, how many fewer tokens they take with it.
    pub gain: Vec<i64>,
}

/// A chosen part of the pool.
pub(super) struct ChosenEntries<'p> {
    pool: &'p StringPool<'p>,
    /// For each string, the longest entry that it begins with, including itself.
    entry: Vec<u32>,
}

impl<'p> ChosenEntries<'p> {
    pub fn new(pool: &'p StringPool<'p>, is_entry: &[bool]) -> ChosenEntries<'p> {
        let mut entry: Vec<u32> = Vec::with_capacity(pool.len());
        for (number, &is_entry) in is_entry.iter().enumerate() {
            entry.push(if is_entry { number as u32 } else { entry[pool.shorter[number] as usize] });
        }
        ChosenEntries { pool, entry }
    }

    #[inline]
    fn len(&self, number: u32) -> usize {
        self.pool.texts[number as usize].len()
    }

    /// The next shorter entry.
    #[inline]
    fn below(&self, entry: u32) -> u32 {
        self.entry[self.pool.shorter[entry as usize] as usize]
    }

    /// The sums over all words, unless `go_on` returns an error.
    pub fn tally(&self, words: &WordCounts, threads: usize, mut go_on: impl FnMut() -> Result<()>) -> Result<Tally> {
        let mut workers: Vec<TallyWorker> = (0..threads).map(|_| TallyWorker::new(self)).collect();
        for chunks in chunks(words).chunks(CHUNKS) {
            go_on()?;
            let next = AtomicUsize::new(0);
            in_threads(threads, workers.iter_mut(), |worker| {
                while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    chunk.clone().for_each(|index| worker.add(words, index));
                }
            });
        }
        let mut tallies = workers.into_iter().map(|worker| worker.tally);
        let first = tallies.next().unwrap_or_else(|| TallyWorker::new(self).tally);
        Ok(tallies.fold(first, Tally::plus))
    }
}

impl Tally {
    fn plus(mut self, other: Tally) -> Tally {
        self.tokens += other.tokens;
        self.loss.iter_mut().zip(&other.loss).for_each(|(sum, more)| *sum += more);
        self.gain.iter_mut().zip(&other.gain).for_each(|(sum, more)| *sum += more);
        self
    }
}

/// The words in parts of similar size.
fn chunks(words: &WordCounts) -> Vec<Range<usize>> {
    let (mut chunks, mut first, mut done) = (Vec::new(), 0, 0);
    for index in 0..words.len() {
        let end = words.range(index).end;
        if end - done >= CHUNK || index + 1 == words.len() {
            chunks.push(first..index + 1);
            (first, done) = (index + 1, end);
        }
    }
    chunks
}

/// One thread's sums.
struct TallyWorker<'c> {
    chosen: &'c ChosenEntries<'c>,
    tally: Tally,
    /// The end of the last detour around each entry, as a position in the text of all words.
    detour_end: Vec<usize>,
    /// The token boundaries of the word, and its tokens.
    boundaries: Vec<usize>,
    tokens: Vec<u32>,
}

impl<'c> TallyWorker<'c> {
    fn new(chosen: &'c ChosenEntries<'c>) -> TallyWorker<'c> {
        let size = chosen.pool.len();
        let tally = Tally { tokens: 0, loss: vec![0; size], gain: vec![0; size] };
        TallyWorker { chosen, tally, detour_end: vec![0; size], boundaries: Vec::new(), tokens: Vec::new() }
    }

    fn add(&mut self, words: &WordCounts, index: usize) {
        let (range, count) = (words.range(index), words.count(index) as i64);
        let longest = &self.chosen.pool.longest[range.clone()];
        self.tokenize(longest);
        self.tally.tokens += count * self.tokens.len() as i64;
        for token in 0..self.tokens.len() {
            self.add_loss(longest, range.start, token, count);
            self.add_gains(longest, token, count);
        }
    }

    /// Divides a word into tokens.
    fn tokenize(&mut self, longest: &[u32]) {
        self.boundaries.clear();
        self.tokens.clear();
        let mut at = 0;
        self.boundaries.push(0);
        while at < longest.len() {
            let entry = self.chosen.entry[longest[at] as usize];
            at += self.chosen.len(entry);
            self.tokens.push(entry);
            self.boundaries.push(at);
        }
    }

    /// Adds the tokens that an entry saves here, unless they were counted with an earlier token.
    #[inline]
    fn add_loss(&mut self, longest: &[u32], start: usize, token: usize, count: i64) {
        let entry = self.tokens[token];
        let at = self.boundaries[token];
        if self.chosen.pool.is_forced[entry as usize] || start + at < self.detour_end[entry as usize] {
            return;
        }
        let (more, end) = self.detour(longest, token, self.chosen.below(entry), entry);
        self.tally.loss[entry as usize] += count * more;
        self.detour_end[entry as usize] = start + end;
    }

    /// Adds the tokens that absent strings would save here.
    #[inline]
    fn add_gains(&mut self, longest: &[u32], token: usize, count: i64) {
        let entry = self.tokens[token];
        let mut other = longest[self.boundaries[token]];
        while other != entry {
            let (more, _) = self.detour(longest, token, other, NONE);
            self.tally.gain[other as usize] -= count * more;
            other = self.chosen.pool.shorter[other as usize];
        }
    }

    /// Replaces a token by `first` and continues without `banned` until both ways meet. Returns how many more tokens
    /// this takes, and where they meet.
    #[inline]
    fn detour(&self, longest: &[u32], token: usize, first: u32, banned: u32) -> (i64, usize) {
        let mut at = self.boundaries[token] + self.chosen.len(first);
        let (mut other, mut taken) = (token + 1, 1);
        loop {
            while self.boundaries[other] < at {
                other += 1;
            }
            if self.boundaries[other] == at || taken >= DETOUR {
                return (i64::from(taken) - (other - token) as i64, at);
            }
            let mut entry = self.chosen.entry[longest[at] as usize];
            if entry == banned {
                entry = self.chosen.below(entry);
            }
            at += self.chosen.len(entry);
            taken += 1;
        }
    }
}
