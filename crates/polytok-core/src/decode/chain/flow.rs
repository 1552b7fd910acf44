//! The tokens that pass between steps: their text, and the end of each complete token.
//!
//! The last token can be incomplete: its text continues in a later call. So the single token that Fuse writes reaches
//! the later steps before the token is complete.

/// Tokens between two steps.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    text: Vec<u8>,
    /// The end of each complete token in `text`.
    ends: Vec<usize>,
    max_len: usize,
    is_over: bool,
}

impl Default for Flow {
    fn default() -> Flow {
        Flow::bounded(usize::MAX)
    }
}

impl Flow {
    /// Returns an empty flow that drops everything beyond `max_len` bytes.
    pub fn bounded(max_len: usize) -> Flow {
        Flow { text: Vec::new(), ends: Vec::new(), max_len, is_over: false }
    }

    /// Appends text to the last, incomplete token.
    pub fn push(&mut self, text: &[u8]) {
        self.is_over |= text.len() > self.max_len - self.text.len();
        if !self.is_over {
            self.text.extend_from_slice(text);
        }
    }

    /// Empties the flow and sets its largest length.
    pub fn reset(&mut self, max_len: usize) {
        self.clear();
        self.max_len = max_len;
    }

    /// Reports whether the flow dropped bytes because its largest length was reached.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Completes the last token.
    pub fn end(&mut self) {
        self.ends.push(self.text.len());
    }

    /// Appends a whole token.
    pub fn token(&mut self, text: &[u8]) {
        self.push(text);
        self.end();
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
