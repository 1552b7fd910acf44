//! What each entry is worth: the tokens that the words take, how many more without an entry, how many fewer with another.
//!
//! The words are cut by longest match. Without an entry the cut differs from where the entry stood up to the next place where
//! both have a border, for behind it they see the same text; and so it does with a new one from where it fits. So what one
//! change costs is counted by following the other cut for a few tokens. For a loss this is exact; a gain forgets that a new
//! entry may serve again before the cuts meet, and that another new one may serve better.
//!
//! Cost: a few steps for each token, and for each absent string that fits at a border. Cuts that do not meet within `DETOUR`
//! tokens are compared up to there.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::pool::{NONE, Pool};
use crate::batch::in_threads;
use crate::error::Result;
use crate::train::words::WordCounts;

/// Tokens until a detour is given up.
const DETOUR: u32 = 64;
/// Bytes of words that a thread takes at once, and how often it does so before it is asked whether to go on.
const CHUNK: usize = 1 << 16;
const CHUNKS: usize = 256;

/// Sums over all words.
pub(super) struct Tally {
    pub tokens: i64,
    /// For each string of the pool how many more tokens there would be without it.
    pub loss: Vec<i64>,
    /// And how many fewer with it, for those that are no entries.
    pub gain: Vec<i64>,
}

/// A chosen part of the pool.
pub(super) struct Chosen<'p> {
    pool: &'p Pool<'p>,
    /// For each string the longest entry that it begins with, itself included.
    entry: Vec<u32>,
}

impl<'p> Chosen<'p> {
    pub fn new(pool: &'p Pool<'p>, is_entry: &[bool]) -> Chosen<'p> {
        let mut entry: Vec<u32> = Vec::with_capacity(pool.len());
        for (number, &is_entry) in is_entry.iter().enumerate() {
            entry.push(if is_entry { number as u32 } else { entry[pool.shorter[number] as usize] });
        }
        Chosen { pool, entry }
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

    /// The sums over all words, unless `go_on` has an error.
    pub fn tally(&self, words: &WordCounts, threads: usize, mut go_on: impl FnMut() -> Result<()>) -> Result<Tally> {
        let mut workers: Vec<Worker> = (0..threads).map(|_| Worker::new(self)).collect();
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
        let first = tallies.next().unwrap_or_else(|| Worker::new(self).tally);
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
struct Worker<'c> {
    chosen: &'c Chosen<'c>,
    tally: Tally,
    /// Where the last detour around an entry ended, as a place in the text of all words.
    detour_end: Vec<usize>,
    /// The borders of the word and its tokens.
    borders: Vec<usize>,
    tokens: Vec<u32>,
}

impl<'c> Worker<'c> {
    fn new(chosen: &'c Chosen<'c>) -> Worker<'c> {
        let size = chosen.pool.len();
        let tally = Tally { tokens: 0, loss: vec![0; size], gain: vec![0; size] };
        Worker { chosen, tally, detour_end: vec![0; size], borders: Vec::new(), tokens: Vec::new() }
    }

    fn add(&mut self, words: &WordCounts, index: usize) {
        let (range, count) = (words.range(index), words.count(index) as i64);
        let longest = &self.chosen.pool.longest[range.clone()];
        self.cut(longest);
        self.tally.tokens += count * self.tokens.len() as i64;
        for token in 0..self.tokens.len() {
            self.add_loss(longest, range.start, token, count);
            self.add_gains(longest, token, count);
        }
    }

    /// Cuts a word.
    fn cut(&mut self, longest: &[u32]) {
        self.borders.clear();
        self.tokens.clear();
        let mut at = 0;
        self.borders.push(0);
        while at < longest.len() {
            let entry = self.chosen.entry[longest[at] as usize];
            at += self.chosen.len(entry);
            self.tokens.push(entry);
            self.borders.push(at);
        }
    }

    /// What the token's entry spares here, unless that was counted with a token before.
    #[inline]
    fn add_loss(&mut self, longest: &[u32], start: usize, token: usize, count: i64) {
        let entry = self.tokens[token];
        let at = self.borders[token];
        if self.chosen.pool.is_forced[entry as usize] || start + at < self.detour_end[entry as usize] {
            return;
        }
        let (more, end) = self.detour(longest, token, self.chosen.below(entry), entry);
        self.tally.loss[entry as usize] += count * more;
        self.detour_end[entry as usize] = start + end;
    }

    /// What absent strings would spare that fit here.
    #[inline]
    fn add_gains(&mut self, longest: &[u32], token: usize, count: i64) {
        let entry = self.tokens[token];
        let mut other = longest[self.borders[token]];
        while other != entry {
            let (more, _) = self.detour(longest, token, other, NONE);
            self.tally.gain[other as usize] -= count * more;
            other = self.chosen.pool.shorter[other as usize];
        }
    }

    /// Takes `first` instead of a token and then goes on without `banned` until the cuts meet: how many tokens more this is,
    /// and where they meet.
    #[inline]
    fn detour(&self, longest: &[u32], token: usize, first: u32, banned: u32) -> (i64, usize) {
        let mut at = self.borders[token] + self.chosen.len(first);
        let (mut other, mut taken) = (token + 1, 1);
        loop {
            while self.borders[other] < at {
                other += 1;
            }
            if self.borders[other] == at || taken >= DETOUR {
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
