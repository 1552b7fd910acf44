//! Counts the words of texts. Texts are divided at special tokens, normalized and split into words. The result is the
//! same for any number of threads.
//!
//! Special tokens are not counted. The text between two special tokens is counted as a separate text. Without a split,
//! the whole text is one word. Invalid bytes that a UTF-8 decoder would replace by one U+FFFD are a word; the text
//! before them and the text after them are separate texts.
//!
//! The threads take parts of texts from one queue, and each thread has its own counter. A word's ordinal is its
//! position in the concatenation of all texts, so the result does not depend on the thread that counts a word. A long
//! text is divided at positions where the characters on both sides prove that a piece ends (`split/rule.rs`). A text
//! can also arrive in parts: pieces that cannot change any more are counted, and only the text after these pieces is
//! buffered. This requires a split that consists of one pattern and that can be read as a stream; otherwise the whole
//! text is buffered. Cost: linear.

mod boundaries;
mod queue;
mod rules;

use std::sync::Arc;

use boundaries::AHEAD;
use polytok_memory::{self as memory, Collect, Grow};
use queue::{CountingJob, run_jobs};

use super::counter::{Limit, WordCounter};
use super::progress::Progress;
use crate::error::Result;
use crate::utf8::is_start;

pub use rules::TextRules;

/// The number of bytes of text in one job of a thread. Longer texts are divided into parts of this size.
const JOB_BYTES: usize = 1 << 18;

/// Counts the words of texts.
pub struct TextCounter {
    rules: Arc<TextRules>,
    counters: Vec<WordCounter>,
    limit: Option<Limit>,
    /// The ordinal of the next text.
    next_ordinal: u64,
    /// The uncounted end of a text that is not complete yet.
    open_text: Vec<u8>,
    /// The length of `open_text` at which it is next searched for complete pieces.
    next_search_len: usize,
}

impl TextCounter {
    /// Creates an empty counter. All threads share the limit.
    pub fn new(rules: TextRules, threads: usize, limit: Option<Limit>) -> TextCounter {
        let threads = threads.max(1);
        let share = limit.clone().map(|limit| Limit { bytes: limit.bytes / threads, ..limit });
        let counters = (0..threads).map(|_| WordCounter::new(share.clone())).checked_collect();
        TextCounter {
            rules: Arc::new(rules),
            counters,
            limit,
            next_ordinal: 0,
            open_text: Vec::new(),
            next_search_len: 0,
        }
    }

    /// Counts the words of texts.
    pub fn push(&mut self, texts: &[&[u8]], progress: &mut dyn Progress) -> Result<()> {
        memory::catch(|| {
            if !self.open_text.is_empty() {
                self.push_part(&[], true, progress)?;
            }
            let rules = Arc::clone(&self.rules);
            let mut jobs = Vec::new();
            let (mut from, mut bytes) = (0, 0);
            for (at, text) in texts.iter().enumerate() {
                if text.len() > 2 * JOB_BYTES && rules.is_stream() {
                    self.queue_texts(&rules, &texts[from..at], &mut jobs)?;
                    self.queue_long_text(&rules, text, &mut jobs)?;
                    (from, bytes) = (at + 1, 0);
                    continue;
                }
                bytes += text.len() + 1;
                if bytes >= JOB_BYTES {
                    self.queue_texts(&rules, &texts[from..=at], &mut jobs)?;
                    (from, bytes) = (at + 1, 0);
                }
            }
            self.queue_texts(&rules, &texts[from..], &mut jobs)?;
            run_jobs(&rules, jobs, &mut self.counters, progress)
        })
    }

    /// Queues short texts as one job.
    fn queue_texts<'t>(
        &mut self,
        rules: &TextRules,
        texts: &'t [&'t [u8]],
        jobs: &mut Vec<CountingJob<'t>>,
    ) -> Result<()> {
        if texts.is_empty() {
            return Ok(());
        }
        jobs.checked_push(CountingJob::Texts { texts, base: self.next_ordinal });
        for text in texts {
            self.next_ordinal = rules.next_ordinal(self.next_ordinal, text.len())?;
        }
        Ok(())
    }

    /// Queues a long text as several jobs.
    fn queue_long_text<'t>(
        &mut self,
        rules: &TextRules,
        text: &'t [u8],
        jobs: &mut Vec<CountingJob<'t>>,
    ) -> Result<()> {
        let base = self.next_ordinal;
        self.next_ordinal = rules.next_ordinal(base, text.len())?;
        queue_parts(rules, text, text.len(), base, jobs);
        Ok(())
    }

    /// Counts a part of a text. Later calls add the next parts of the text; `is_last` is true for the last part.
    pub fn push_part(&mut self, part: &[u8], is_last: bool, progress: &mut dyn Progress) -> Result<()> {
        memory::catch(|| {
            let mut text = std::mem::take(&mut self.open_text);
            text.checked_extend_from_slice(part);
            if is_last {
                self.next_search_len = 0;
                return if text.is_empty() { Ok(()) } else { self.push(&[&text], progress) };
            }
            if !self.rules.is_stream() || text.len() < self.next_search_len {
                self.open_text = text;
                return Ok(());
            }
            let rules = Arc::clone(&self.rules);
            let base = self.next_ordinal;
            let mut jobs = Vec::new();
            let end = rules.certain_end(&text)?;
            queue_parts(&rules, &text, end, base, &mut jobs);
            run_jobs(&rules, jobs, &mut self.counters, progress)?;
            self.next_ordinal = base + end as u64;
            text.drain(..end);
            // Doubling the length keeps the cost linear if no position is certain to be the end of a piece.
            self.next_search_len = 2 * text.len();
            self.open_text = text;
            Ok(())
        })
    }

    /// Returns the number of bytes of the open text that are not counted yet.
    pub fn open_bytes(&self) -> usize {
        self.open_text.len()
    }

    /// Returns the number of bytes of memory that the counters and the open text take.
    pub fn memory(&self) -> usize {
        self.counters.iter().map(WordCounter::memory).sum::<usize>() + self.open_text.capacity()
    }

    /// Ends the open text, and returns the counts of all texts.
    pub fn finish(mut self, progress: &mut dyn Progress) -> Result<WordCounter> {
        memory::catch(|| {
            self.push_part(&[], true, progress)?;
            let mut counts = WordCounter::new(self.limit.clone());
            for counter in self.counters {
                counts.merge(counter)?;
            }
            counts.skip_to(self.next_ordinal);
            Ok(counts)
        })
    }
}

/// Queues the words of a text that begin before `to`, in several parts. A word must end at `to`.
fn queue_parts<'t>(rules: &TextRules, text: &'t [u8], to: usize, base: u64, jobs: &mut Vec<CountingJob<'t>>) {
    let mut from = 0;
    while from < to {
        let boundary = rules.boundary(&text[..to], from + JOB_BYTES).unwrap_or(to);
        let after = if boundary < to {
            (boundary..=boundary + AHEAD).rfind(|&at| is_start(text[at])).unwrap_or(boundary)
        } else {
            text.len()
        };
        jobs.checked_push(CountingJob::Part {
            text: &text[from..after],
            to: boundary - from,
            base: base + from as u64,
        });
        from = boundary;
    }
}

#[cfg(test)]
mod tests;
