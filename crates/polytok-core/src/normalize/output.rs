//! Where a rewriting step writes: the text, and, if it is wanted, which stretch of the original each byte stands for.
//!
//! A step calls the three methods in the order of its output; positions are those of its own input. One code path
//! serves encoding without spans (`Vec<u8>`: nothing is kept but the text) and with spans ([`Aligned`]). The rules are
//! Hugging Face's (`NormalizedString::transform_range`): a character that takes another's place stands for what that
//! one stood for, a new one for what the one before it stands for.

/// The first byte and the byte after the last, in the original text.
pub type Span = (u32, u32);

/// The output of a step.
pub trait Output {
    /// `input[from..to]`, unchanged.
    fn keep(&mut self, input: &[u8], from: usize, to: usize);
    /// `text` in the place of the input's character that starts at byte `at`.
    fn change(&mut self, text: &[u8], at: usize);
    /// `text` that nothing stood for; the input's byte before `at` is the last one behind which it comes.
    fn insert(&mut self, text: &[u8], at: usize);
    /// The number of bytes written so far.
    fn written(&self) -> usize;
}

impl Output for Vec<u8> {
    #[inline]
    fn keep(&mut self, input: &[u8], from: usize, to: usize) {
        self.extend_from_slice(&input[from..to]);
    }

    #[inline]
    fn change(&mut self, text: &[u8], _at: usize) {
        self.extend_from_slice(text);
    }

    #[inline]
    fn insert(&mut self, text: &[u8], _at: usize) {
        self.extend_from_slice(text);
    }

    #[inline]
    fn written(&self) -> usize {
        self.len()
    }
}

/// A text with the span of each of its bytes; `source` are the spans of the step's input.
#[derive(Debug, Default)]
pub struct Aligned<'a> {
    /// The text.
    pub text: Vec<u8>,
    /// For each byte of it.
    pub spans: Vec<Span>,
    source: &'a [Span],
}

impl<'a> Aligned<'a> {
    /// Nothing yet, out of an input with these spans.
    pub fn new(source: &'a [Span]) -> Aligned<'a> {
        Aligned { text: Vec::with_capacity(source.len()), spans: Vec::with_capacity(source.len()), source }
    }

    fn write(&mut self, text: &[u8], span: Span) {
        self.text.extend_from_slice(text);
        self.spans.resize(self.text.len(), span);
    }
}

impl Output for Aligned<'_> {
    fn keep(&mut self, input: &[u8], from: usize, to: usize) {
        self.text.extend_from_slice(&input[from..to]);
        self.spans.extend_from_slice(&self.source[from..to]);
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

/// The spans of a text that was not rewritten: each byte stands for its character. Bytes that are not UTF-8 stand for
/// themselves.
pub fn spans_of(text: &[u8]) -> Vec<Span> {
    let mut spans = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let len = crate::utf8::decode_strict(&text[at..]).map_or(1, |(_, len)| len);
        spans.resize(at + len, (at as u32, (at + len) as u32));
        at += len;
    }
    spans
}
