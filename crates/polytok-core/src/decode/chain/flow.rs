//! The tokens that one step passes to the next step: the text of all tokens, and the end of each complete token.
//!
//! The last token can be incomplete: later calls append to its text. So the steps after a Fuse process the start of the
//! single token that Fuse writes, before this token is complete.

use polytok_memory::Grow;

/// The tokens that one step passes to the next step.
#[derive(Clone, Debug)]
pub(super) struct TokenFlow {
    text: Vec<u8>,
    /// The end of each complete token in `text`.
    ends: Vec<usize>,
    max_len: usize,
    is_over: bool,
}

impl Default for TokenFlow {
    fn default() -> TokenFlow {
        TokenFlow::bounded(usize::MAX)
    }
}

impl TokenFlow {
    /// Returns an empty flow that accepts at most `max_len` bytes of text.
    pub fn bounded(max_len: usize) -> TokenFlow {
        TokenFlow { text: Vec::new(), ends: Vec::new(), max_len, is_over: false }
    }

    /// Appends text to the incomplete token at the end; a text that exceeds the largest length is dropped.
    pub fn push(&mut self, text: &[u8]) {
        self.is_over |= text.len() > self.max_len - self.text.len();
        if !self.is_over {
            self.text.checked_extend_from_slice(text);
        }
    }

    /// Empties the flow, and sets the largest number of bytes of text that it accepts.
    pub fn reset(&mut self, max_len: usize) {
        self.clear();
        self.max_len = max_len;
    }

    /// Reports whether the flow dropped a text because it accepts no more bytes.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Completes the last token.
    pub fn end_token(&mut self) {
        self.ends.checked_push(self.text.len());
    }

    /// Appends a whole token.
    pub fn push_token(&mut self, text: &[u8]) {
        self.push(text);
        self.end_token();
    }

    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        (self.max_len, self.is_over) = (usize::MAX, false);
    }

    /// Returns the text of all tokens.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the text of each token with a flag that is true if the token is complete. Only the last token can be
    /// incomplete.
    pub fn parts(&self) -> impl Iterator<Item = (&[u8], bool)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ends = self.ends.iter().map(|&end| (end, true)).chain([(self.text.len(), false)]);
        starts.zip(ends).map(|(start, (end, is_complete))| (&self.text[start..end], is_complete))
    }
}
