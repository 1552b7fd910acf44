//! Counted stretches of text that no piece crosses: all that pieces are made of, and small enough to repeat.
//!
//! A sentence is cut wherever no valid piece has the two characters side by side: before words, at digits, between scripts.
//! So the units are fewer and shorter than words, and pairs of symbols in them are the pairs of the whole text. Cost: one
//! step for each character, one lookup for each unit.

use std::sync::Arc;

use super::alphabet::CharCounts;
use super::corpus::Sink;
use super::validity::Validity;
use crate::error::Result;
use crate::train::counter::{Order, WordCounter};
use crate::train::progress::Progress;
use crate::train::words::Words;

/// Counts the units of sentences.
pub struct Units {
    validity: Arc<Validity>,
    counter: WordCounter,
}

impl Units {
    /// Nothing is counted yet.
    pub fn new(validity: Arc<Validity>, counter: WordCounter) -> Units {
        Units { validity, counter }
    }
}

impl Sink for Units {
    fn sentence(&mut self, sentence: &str, times: u64, ordinal: u64) -> Result<()> {
        let mut start = 0;
        let mut before = None;
        for (at, c) in sentence.char_indices() {
            if before.is_some_and(|before| !self.validity.may_join(before, c)) {
                self.counter.add_at(&sentence.as_bytes()[start..at], times, ordinal + start as u64)?;
                start = at;
            }
            before = Some(c);
        }
        self.counter.add_at(&sentence.as_bytes()[start..], times, ordinal + start as u64)
    }
}

/// All units of several threads, each once.
pub fn gathered(sinks: Vec<Units>, progress: &mut dyn Progress) -> Result<Words> {
    let mut all = WordCounter::default();
    for sink in sinks {
        if all.is_empty() { all = sink.counter } else { all.merge(sink.counter)? }
    }
    all.into_words(Order::Bytes, progress)
}

/// How often each character occurs in them.
pub fn characters(words: &Words) -> Result<CharCounts> {
    let mut counts = CharCounts::default();
    for (word, times) in words.iter() {
        counts.add(&String::from_utf8_lossy(word), times)?;
    }
    Ok(counts)
}
