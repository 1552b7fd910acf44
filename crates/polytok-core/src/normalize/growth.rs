//! Limits how much rewriting can expand a text, so that a damaged or hostile file cannot fill the memory.
//!
//! Real rules expand a byte to at most eleven (U+FDFA in NFKC). The limit is three times that, with some room for short
//! texts.

use super::output::Output;
use crate::error::{Error, Result};

/// The most bytes per byte of text.
const TIMES: usize = 32;

/// The most bytes beyond that, for any text.
const ROOM: usize = 1 << 16;

/// The most bytes that a text of `len` bytes can become.
#[inline]
pub fn limit(len: usize) -> usize {
    len.saturating_mul(TIMES).saturating_add(ROOM)
}

/// The error for an output beyond the limit.
pub fn too_long(what: &str) -> Error {
    Error::Encode(format!(
        "{what} makes more than {TIMES} times as much of the text: the tokenizer's rules for rewriting cannot be meant like this"
    ))
}

/// An output that takes no more than `most` bytes.
pub struct Bounded<'a, O> {
    out: &'a mut O,
    most: usize,
    is_over: bool,
}

impl<'a, O: Output> Bounded<'a, O> {
    /// Runs a step that writes to `out`; an error if it writes more than fits.
    pub fn run<T>(most: usize, out: &'a mut O, step: impl FnOnce(&mut Self) -> T) -> Result<T> {
        let mut bounded = Bounded { out, most, is_over: false };
        let result = step(&mut bounded);
        if bounded.is_over { Err(too_long("normalization")) } else { Ok(result) }
    }

    #[inline]
    fn takes(&mut self, len: usize) -> bool {
        self.is_over |= len > self.most.saturating_sub(self.out.written());
        !self.is_over
    }
}

impl<O: Output> Output for Bounded<'_, O> {
    #[inline]
    fn keep(&mut self, input: &[u8], from: usize, to: usize) {
        if self.takes(to - from) {
            self.out.keep(input, from, to);
        }
    }

    #[inline]
    fn change(&mut self, text: &[u8], at: usize) {
        if self.takes(text.len()) {
            self.out.change(text, at);
        }
    }

    #[inline]
    fn insert(&mut self, text: &[u8], at: usize) {
        if self.takes(text.len()) {
            self.out.insert(text, at);
        }
    }

    #[inline]
    fn written(&self) -> usize {
        self.out.written()
    }
}
