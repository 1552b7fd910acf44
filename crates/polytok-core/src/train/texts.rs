//! Texts to counted words: cut at special tokens, normalized, split; the same for any number of threads.
//!
//! Special tokens the caller gives are cut out and not counted; what stands between two is a text of its own. Without a split a
//! text is one word. Bytes that are no UTF-8 stand alone: what U+FFFD would stand for is a word, and what is around it are texts.
//!
//! Threads take parts of texts from one queue and each counts for itself. A word's ordinal is its place in all texts, so
//! who counted it does not matter. A long text is cut where a few neighbouring characters tell that a piece ends (`split/rule.rs`). A
//! text may also come in parts: pieces that are certain before the rest is known are counted, and only what follows them is kept. That
//! goes where the split is one pattern that is read as a stream; otherwise the whole text is kept. Cost: linear.

mod places;
mod queue;
mod rules;

use std::sync::Arc;

use super::counter::{Limit, WordCounter};
use super::progress::Progress;
use crate::error::Result;
use crate::utf8::is_start;
use places::AHEAD;
use queue::{Job, work_off};

pub use rules::TextRules;

/// Texts of a run that one thread takes at once, in bytes; longer texts are cut into parts of this size.
const RUN: usize = 1 << 18;

/// Counts the words of texts.
pub struct TextCounter {
    rules: Arc<TextRules>,
    counters: Vec<WordCounter>,
    limit: Option<Limit>,
    /// The first ordinal behind all texts.
    next: u64,
    /// What is kept of a text whose end is not known yet.
    open: Vec<u8>,
    /// It is not tried again before it is so long.
    patience: usize,
}

impl TextCounter {
    /// Nothing is counted yet. The limit is that of all threads together.
    pub fn new(rules: TextRules, threads: usize, limit: Option<Limit>) -> TextCounter {
        let threads = threads.max(1);
        let share = limit.clone().map(|limit| Limit { bytes: limit.bytes / threads, ..limit });
        let counters = (0..threads).map(|_| WordCounter::new(share.clone())).collect();
        TextCounter { rules: Arc::new(rules), counters, limit, next: 0, open: Vec::new(), patience: 0 }
    }

    /// Counts texts.
    pub fn push(&mut self, texts: &[&[u8]], progress: &mut dyn Progress) -> Result<()> {
        if !self.open.is_empty() {
            self.push_part(&[], true, progress)?;
        }
        let rules = Arc::clone(&self.rules);
        let mut jobs = Vec::new();
        let (mut from, mut bytes) = (0, 0);
        for (at, text) in texts.iter().enumerate() {
            if text.len() > 2 * RUN && rules.is_stream() {
                self.queue_run(&rules, &texts[from..at], &mut jobs)?;
                self.queue_long(&rules, text, &mut jobs)?;
                (from, bytes) = (at + 1, 0);
                continue;
            }
            bytes += text.len() + 1;
            if bytes >= RUN {
                self.queue_run(&rules, &texts[from..=at], &mut jobs)?;
                (from, bytes) = (at + 1, 0);
            }
        }
        self.queue_run(&rules, &texts[from..], &mut jobs)?;
        work_off(&rules, jobs, &mut self.counters, progress)
    }

    /// Short texts, as one job.
    fn queue_run<'t>(&mut self, rules: &TextRules, texts: &'t [&'t [u8]], jobs: &mut Vec<Job<'t>>) -> Result<()> {
        if texts.is_empty() {
            return Ok(());
        }
        jobs.push(Job::Texts { texts, base: self.next });
        for text in texts {
            self.next = rules.behind(self.next, text.len())?;
        }
        Ok(())
    }

    /// A long text, in parts.
    fn queue_long<'t>(&mut self, rules: &TextRules, text: &'t [u8], jobs: &mut Vec<Job<'t>>) -> Result<()> {
        let base = self.next;
        self.next = rules.behind(base, text.len())?;
        queue_parts(rules, text, text.len(), base, jobs);
        Ok(())
    }

    /// Counts a part of a text; the others come next, until one `is_last`.
    pub fn push_part(&mut self, part: &[u8], is_last: bool, progress: &mut dyn Progress) -> Result<()> {
        let mut text = std::mem::take(&mut self.open);
        text.extend_from_slice(part);
        if is_last {
            self.patience = 0;
            return if text.is_empty() { Ok(()) } else { self.push(&[&text], progress) };
        }
        if !self.rules.is_stream() || text.len() < self.patience {
            self.open = text;
            return Ok(());
        }
        let rules = Arc::clone(&self.rules);
        let base = self.next;
        let mut jobs = Vec::new();
        let sure = rules.sure(&text)?;
        queue_parts(&rules, &text, sure, base, &mut jobs);
        work_off(&rules, jobs, &mut self.counters, progress)?;
        self.next = base + sure as u64;
        text.drain(..sure);
        // A text that cannot be cut for long is not read again and again.
        self.patience = 2 * text.len();
        self.open = text;
        Ok(())
    }

    /// Bytes taken in memory by what was counted.
    pub fn memory(&self) -> usize {
        self.counters.iter().map(WordCounter::memory).sum::<usize>() + self.open.capacity()
    }

    /// What was counted, and a text that is still open as if it ended here.
    pub fn finish(mut self, progress: &mut dyn Progress) -> Result<WordCounter> {
        self.push_part(&[], true, progress)?;
        let mut all = WordCounter::new(self.limit.clone());
        for counter in self.counters {
            all.merge(counter)?;
        }
        all.skip_to(self.next);
        Ok(all)
    }
}

/// The words of a text that begin before `to`, where one ends, in parts that are cut where that can be told.
fn queue_parts<'t>(rules: &TextRules, text: &'t [u8], to: usize, base: u64, jobs: &mut Vec<Job<'t>>) {
    let mut from = 0;
    while from < to {
        let place = rules.place(&text[..to], from + RUN).unwrap_or(to);
        let behind = if place < to {
            (place..=place + AHEAD).rfind(|&at| is_start(text[at])).unwrap_or(place)
        } else {
            text.len()
        };
        jobs.push(Job::Part { text: &text[from..behind], to: place - from, base: base + from as u64 });
        from = place;
    }
}

#[cfg(test)]
mod tests;
