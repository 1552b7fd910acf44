//! The data between steps: the text of tokens, and where each ends.
//!
//! A token can come in parts, and the last token can still be growing. So the single token of Fuse reaches the
//! next steps before it is complete.

/// Tokens between two steps.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    text: Vec<u8>,
    ends: Vec<usize>,
    most: usize,
    is_over: bool,
}

impl Default for Flow {
    fn default() -> Flow {
        Flow::bounded(usize::MAX)
    }
}

impl Flow {
    /// Takes at most this many bytes.
    pub fn bounded(most: usize) -> Flow {
        Flow { text: Vec::new(), ends: Vec::new(), most, is_over: false }
    }

    /// More of the token that is growing.
    pub fn push(&mut self, text: &[u8]) {
        self.is_over |= text.len() > self.most - self.text.len();
        if !self.is_over {
            self.text.extend_from_slice(text);
        }
    }

    /// Empties it and sets the number of bytes that it takes.
    pub fn reset(&mut self, most: usize) {
        self.clear();
        self.most = most;
    }

    /// Whether some bytes did not fit.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The token is complete.
    pub fn end(&mut self) {
        self.ends.push(self.text.len());
    }

    /// A whole token.
    pub fn token(&mut self, text: &[u8]) {
        self.push(text);
        self.end();
    }

    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        (self.most, self.is_over) = (usize::MAX, false);
    }

    /// The text of all tokens.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The tokens, each with whether it is complete; only the last one can be incomplete.
    pub fn parts(&self) -> impl Iterator<Item = (&[u8], bool)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ends = self.ends.iter().map(|&end| (end, true)).chain([(self.text.len(), false)]);
        starts.zip(ends).map(|(start, (end, is_whole))| (&self.text[start..end], is_whole))
    }
}
