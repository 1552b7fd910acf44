//! Limits how much rewriting can expand a text, so that a damaged or hostile file cannot fill the memory.
//!
//! Real rules expand a byte to at most eleven bytes (U+FDFA in NFKC). The limit is about three times that factor, and a
//! constant number of bytes for short texts.

use super::output::Output;
use crate::error::{Error, Result};

/// The number of output bytes that the limit allows for each byte of a text.
const TIMES: usize = 32;

/// The number of output bytes that the limit allows every text in addition.
const ROOM: usize = 1 << 16;

/// Returns the largest number of bytes to which a text of `len` bytes can be rewritten.
#[inline]
pub fn limit(len: usize) -> usize {
    len.saturating_mul(TIMES).saturating_add(ROOM)
}

/// Returns the error for an output that is longer than its limit.
pub fn too_much_growth(stage: &str) -> Error {
    Error::Encode(format!(
        "{stage} expands the text to more than {TIMES} times its length; the tokenizer's rewriting rules are damaged, so \
         get its file again"
    ))
}

/// An output that drops everything after the first `max_len` bytes, and records whether anything was dropped.
pub struct Bounded<'a, O> {
    out: &'a mut O,
    max_len: usize,
    is_over: bool,
}

impl<'a, O: Output> Bounded<'a, O> {
    /// Runs a step that writes to `out`; returns an error if the step writes more than `max_len` bytes.
    pub fn run<T>(max_len: usize, out: &'a mut O, step: impl FnOnce(&mut Self) -> T) -> Result<T> {
        let mut bounded = Bounded { out, max_len, is_over: false };
        let result = step(&mut bounded);
        if bounded.is_over { Err(too_much_growth("normalization")) } else { Ok(result) }
    }

    #[inline]
    /// Reports whether `len` more bytes fit.
    fn fits(&mut self, len: usize) -> bool {
        self.is_over |= len > self.max_len.saturating_sub(self.out.written());
        !self.is_over
    }
}

impl<O: Output> Output for Bounded<'_, O> {
    #[inline]
    fn keep(&mut self, input: &[u8], from: usize, to: usize) {
        if self.fits(to - from) {
            self.out.keep(input, from, to);
        }
    }

    #[inline]
    fn change(&mut self, text: &[u8], at: usize) {
        if self.fits(text.len()) {
            self.out.change(text, at);
        }
    }

    #[inline]
    fn insert(&mut self, text: &[u8], at: usize) {
        if self.fits(text.len()) {
            self.out.insert(text, at);
        }
    }

    #[inline]
    fn written(&self) -> usize {
        self.out.written()
    }
}
