//! Maps the bytes of a rewritten text to the text before the rewriting, run by run. Most bytes of a rewritten text are
//! in long runs: of kept characters, or of characters of equal length that are each rewritten to one byte.

use std::cell::Cell;

use polytok_memory::{self as memory, Grow};

use super::output::{Output, Span};
use crate::utf8::char_len;

/// A run of bytes whose spans have equal distances.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The offset of the first byte in the rewritten text.
    start: u32,
    /// The span of the first byte in the text before the rewriting.
    first: Span,
    /// The distance from the span of a byte to the span of the next byte; 0 if all bytes have the same span.
    step: u32,
}

impl Run {
    fn span_start(&self, at: u32) -> u32 {
        self.first.0 + self.step * (at - self.start)
    }

    fn span_end(&self, last: u32) -> u32 {
        self.first.1 + self.step * (last - self.start)
    }
}

/// The receiver of the origins of a text that is being rewritten. `at` is always the current length of the rewritten
/// text. `()` ignores them.
pub(super) trait Origins {
    /// True if the origins are not ignored.
    const ARE_RECORDED: bool;
    /// Adds a run of bytes that are equal to the bytes from `from` on. Tokens contain whole characters, so each byte
    /// has a span of its own.
    fn keep(&mut self, at: usize, from: usize);
    /// Adds `len` bytes that all have the same span.
    fn replace(&mut self, at: usize, len: usize, span: Span);
    /// Removes the bytes from `at` on.
    fn truncate(&mut self, at: usize);
}

impl Origins for () {
    const ARE_RECORDED: bool = false;
    #[inline]
    fn keep(&mut self, _at: usize, _from: usize) {}
    #[inline]
    fn replace(&mut self, _at: usize, _len: usize, _span: Span) {}
    #[inline]
    fn truncate(&mut self, _at: usize) {}
}

/// The origins of the bytes of a rewritten text.
#[derive(Debug, Default)]
pub struct OriginRuns {
    runs: Vec<Run>,
    /// The run of the start of the last span that was converted. Most successive spans are close to each other.
    current: Cell<usize>,
}

impl OriginRuns {
    /// Converts a span of the rewritten text to a span of the text before the rewriting. An empty span stays empty.
    #[inline]
    pub fn original(&self, (start, end): Span) -> Span {
        let first = self.run_of(start, self.current.get());
        self.current.set(first);
        let span_start = self.runs[first].span_start(start);
        if start == end {
            return (span_start, span_start);
        }
        let last = self.run_of(end - 1, first);
        (span_start, self.runs[last].span_end(end - 1))
    }

    /// Converts the starts and ends of spans in place, as `original` converts a span. Most spans are in the run of the
    /// span before them, so this run is in local variables.
    pub fn convert(&self, starts: &mut [u32], ends: &mut [u32]) {
        let mut current = self.current.get();
        let (mut run, mut run_end) = self.run_and_end(current);
        for (start, end) in starts.iter_mut().zip(ends) {
            if *start < run.start || *start >= run_end {
                current = self.run_of(*start, current);
                (run, run_end) = self.run_and_end(current);
            }
            let span_start = run.span_start(*start);
            *end = match *end {
                empty_end if empty_end == *start => span_start,
                inner_end if inner_end <= run_end => run.span_end(inner_end - 1),
                later_end => self.runs[self.run_of(later_end - 1, current)].span_end(later_end - 1),
            };
            *start = span_start;
        }
        self.current.set(current);
    }

    /// Returns a run, and the offset of the byte after it in the rewritten text; the last run has no end.
    #[inline]
    fn run_and_end(&self, at: usize) -> (Run, u32) {
        (self.runs[at], self.runs.get(at + 1).map_or(u32::MAX, |next| next.start))
    }

    /// Returns the index of the run of the byte at `at`; the search starts at run `from`.
    #[inline]
    fn run_of(&self, at: u32, mut from: usize) -> usize {
        while self.runs[from].start > at {
            from -= 1;
        }
        while self.runs.get(from + 1).is_some_and(|next| next.start <= at) {
            from += 1;
        }
        from
    }
}

impl Origins for OriginRuns {
    const ARE_RECORDED: bool = true;

    #[inline]
    fn keep(&mut self, at: usize, from: usize) {
        self.runs.checked_push(Run { start: at as u32, first: (from as u32, from as u32 + 1), step: 1 });
    }

    #[inline]
    fn replace(&mut self, at: usize, len: usize, span: Span) {
        let (start, step) = (at as u32, if len == 1 { span.1 - span.0 } else { 0 });
        let continues = |run: &Run| run.step == step && step > 0 && run.span_start(start) == span.0;
        if len > 0 && !self.runs.last().is_some_and(continues) {
            self.runs.checked_push(Run { start, first: span, step });
        }
    }

    fn truncate(&mut self, at: usize) {
        while self.runs.pop_if(|run| run.start as usize >= at).is_some() {}
    }
}

/// The output of a step that replaces texts, with the origin of each byte.
pub(super) struct ReplacedText<'t> {
    input: &'t str,
    pub text: Vec<u8>,
    pub origins: OriginRuns,
}

impl<'t> ReplacedText<'t> {
    /// Returns an empty output of a step with this input.
    pub fn new(input: &'t str) -> ReplacedText<'t> {
        ReplacedText { input, text: memory::with_capacity(input.len()), origins: OriginRuns::default() }
    }

    fn replace(&mut self, text: &[u8], start: usize) {
        let span = (start as u32, (start + char_len(&self.input.as_bytes()[start..])) as u32);
        self.origins.replace(self.text.len(), text.len(), span);
        self.text.checked_extend_from_slice(text);
    }
}

impl Output for ReplacedText<'_> {
    fn keep(&mut self, input: &[u8], from: usize, to: usize) {
        self.origins.keep(self.text.len(), from);
        self.text.checked_extend_from_slice(&input[from..to]);
    }

    fn change(&mut self, text: &[u8], at: usize) {
        self.replace(text, at);
    }

    fn insert(&mut self, text: &[u8], at: usize) {
        let char_start = (0..at).rev().find(|&at| self.input.is_char_boundary(at));
        self.replace(text, char_start.unwrap_or(0));
    }

    fn written(&self) -> usize {
        self.text.len()
    }
}
