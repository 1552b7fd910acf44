//! The output of a rewriting step: the text and, if spans are needed, for each byte of it a span of the original text.
//!
//! A step calls `keep`, `change` and `insert` in the order of its output, with offsets into its own input. The code of
//! a step is generic over its output: a `Vec<u8>` stores no spans, an [`AlignedOutput`] stores spans. The rules are
//! Hugging Face's (`NormalizedString::transform_range`): a character that replaces another gets the span of the
//! replaced character, and an inserted character gets the span of the character before it.

use polytok_memory::{self as memory, Grow};

/// A range of bytes of the original text: the offset of the first byte and the offset after the last byte.
pub type Span = (u32, u32);

/// The output of a step.
pub trait Output {
    /// Writes `input[from..to]`, unchanged.
    fn keep(&mut self, input: &[u8], from: usize, to: usize);
    /// Writes `text` in place of the input's character that starts at byte `at`.
    fn change(&mut self, text: &[u8], at: usize);
    /// Inserts `text` after the input's byte `at - 1`, without replacing a character.
    fn insert(&mut self, text: &[u8], at: usize);
    /// The number of bytes written so far.
    fn written(&self) -> usize;
}

impl Output for Vec<u8> {
    #[inline]
    fn keep(&mut self, input: &[u8], from: usize, to: usize) {
        self.checked_extend_from_slice(&input[from..to]);
    }

    #[inline]
    fn change(&mut self, text: &[u8], _at: usize) {
        self.checked_extend_from_slice(text);
    }

    #[inline]
    fn insert(&mut self, text: &[u8], _at: usize) {
        self.checked_extend_from_slice(text);
    }

    #[inline]
    fn written(&self) -> usize {
        self.len()
    }
}

/// A text with the span of each of its bytes.
#[derive(Debug, Default)]
pub struct AlignedOutput<'a> {
    /// The text written so far.
    pub text: Vec<u8>,
    /// The span of each byte of `text`.
    pub spans: Vec<Span>,
    /// The span of each byte of the step's input.
    source: &'a [Span],
}

impl<'a> AlignedOutput<'a> {
    /// Returns an empty output for a step; `source` has the spans of the bytes of the step's input.
    pub fn new(source: &'a [Span]) -> AlignedOutput<'a> {
        AlignedOutput { text: memory::with_capacity(source.len()), spans: memory::with_capacity(source.len()), source }
    }

    fn write(&mut self, text: &[u8], span: Span) {
        self.text.checked_extend_from_slice(text);
        self.spans.checked_resize(self.text.len(), span);
    }
}

impl Output for AlignedOutput<'_> {
    fn keep(&mut self, input: &[u8], from: usize, to: usize) {
        self.text.checked_extend_from_slice(&input[from..to]);
        self.spans.checked_extend_from_slice(&self.source[from..to]);
    }

    fn change(&mut self, text: &[u8], at: usize) {
        self.write(text, self.source.get(at).copied().unwrap_or_default());
    }

    fn insert(&mut self, text: &[u8], at: usize) {
        let span = at.checked_sub(1).and_then(|before| self.source.get(before)).copied().unwrap_or_default();
        self.write(text, span);
    }

    fn written(&self) -> usize {
        self.text.len()
    }
}

/// Returns the spans of a text that is not rewritten: each byte has the span of its character. The span of a byte that
/// is not UTF-8 is that byte.
pub fn char_spans(text: &[u8]) -> Vec<Span> {
    let mut spans = memory::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let len = crate::utf8::decode_strict(&text[at..]).map_or(1, |(_, len)| len);
        spans.checked_resize(at + len, (at as u32, (at + len) as u32));
        at += len;
    }
    spans
}
