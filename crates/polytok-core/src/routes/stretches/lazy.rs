//! Tables of stretches that are made when enough text came by: many programs load a tokenizer to encode a few lines.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Stretches;
use crate::lazy::Lazy;
use crate::model::bpe::Bpe;
use crate::normalize::Escape;
use crate::post::Fallback;
use crate::vocab::Vocab;

/// Bytes of text after which the tables pay: making them takes as long as rewriting some hundred kilobytes.
const PAYS: usize = 1 << 17;

/// The tables, once they pay and if there can be any.
#[derive(Default)]
pub struct LazyStretches {
    escape: Option<Escape>,
    read: AtomicUsize,
    made: Lazy<Option<Stretches>>,
}

impl LazyStretches {
    /// For texts of which nothing is rewritten but this; None where more is.
    pub fn of(escape: Option<Escape>) -> LazyStretches {
        LazyStretches { escape, ..LazyStretches::default() }
    }

    /// What is done to texts, if that is all.
    pub fn escape(&self) -> Option<Escape> {
        self.escape
    }

    /// The tables for a text of so many bytes; None where it must be rewritten first.
    #[inline]
    pub fn get(&self, bytes: usize, bpe: &Bpe, vocab: &Vocab, fallback: &Fallback) -> Option<&Stretches> {
        let escape = self.escape?;
        match self.made.peek() {
            Some(made) => made.as_ref(),
            None if self.read.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) < PAYS => None,
            None => self.made.get(|| Stretches::compile(escape, bpe, vocab, fallback)).as_ref(),
        }
    }

    /// As if all texts that there will be had come by.
    #[cfg(test)]
    pub fn hurry(&self) {
        self.read.store(PAYS, Ordering::Relaxed);
    }
}
