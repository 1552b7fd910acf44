//! Limits how much rewriting can expand a text, so that a damaged or hostile file cannot fill the memory.
//!
//! Real rules expand a byte to at most eleven bytes (U+FDFA in NFKC). The limit is about three times this factor, plus
//! a constant number of bytes for short texts.

use super::output::Output;
use crate::error::{Error, Result};

/// The number of output bytes that the limit allows for each byte of a text.
const GROWTH_FACTOR: usize = 32;

/// The constant number of output bytes that the limit allows in addition for every text.
const EXTRA_BYTES: usize = 1 << 16;

/// Returns the largest number of bytes to which a text of `len` bytes can be rewritten.
#[inline]
pub fn limit(len: usize) -> usize {
    len.saturating_mul(GROWTH_FACTOR).saturating_add(EXTRA_BYTES)
}

/// Returns the error for an output that is longer than its limit.
pub fn growth_error(stage: &str) -> Error {
    Error::Encode(format!(
        "{stage} expands the text to more than {GROWTH_FACTOR} times its length; the tokenizer's rewriting rules are damaged, so \
         get its file again"
    ))
}

/// An output that drops everything after the first `max_len` bytes, and records whether anything was dropped.
pub struct BoundedOutput<'a, O> {
    out: &'a mut O,
    max_len: usize,
    is_over: bool,
}

impl<'a, O: Output> BoundedOutput<'a, O> {
    /// Runs a step that writes to `out`; returns an error if the step writes more than `max_len` bytes.
    pub fn run<T>(max_len: usize, out: &'a mut O, step: impl FnOnce(&mut Self) -> T) -> Result<T> {
        let mut bounded = BoundedOutput { out, max_len, is_over: false };
        let result = step(&mut bounded);
        if bounded.is_over { Err(growth_error("normalization")) } else { Ok(result) }
    }

    #[inline]
    /// Returns true if `len` more bytes fit; otherwise records that the output is too long.
    fn take_room(&mut self, len: usize) -> bool {
        self.is_over |= len > self.max_len.saturating_sub(self.out.written());
        !self.is_over
    }
}

impl<O: Output> Output for BoundedOutput<'_, O> {
    #[inline]
    fn keep(&mut self, input: &[u8], from: usize, to: usize) {
        if self.take_room(to - from) {
            self.out.keep(input, from, to);
        }
    }

    #[inline]
    fn change(&mut self, text: &[u8], at: usize) {
        if self.take_room(text.len()) {
            self.out.change(text, at);
        }
    }

    #[inline]
    fn insert(&mut self, text: &[u8], at: usize) {
        if self.take_room(text.len()) {
            self.out.insert(text, at);
        }
    }

    #[inline]
    fn written(&self) -> usize {
        self.out.written()
    }
}
