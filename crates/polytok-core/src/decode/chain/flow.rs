//! What steps pass on to each other: the text of tokens, and where they end.
//!
//! A token may come in parts, and the last one may still be growing; that is how the one token that Fuse makes reaches the
//! steps behind it before the end.

/// Tokens on their way.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Flow {
    /// More of the token that is growing.
    pub fn push(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
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
    }

    /// All text, whatever token it belongs to.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The tokens and, last, the part of one that has not ended yet; whether each has ended.
    pub fn parts(&self) -> impl Iterator<Item = (&[u8], bool)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ends = self.ends.iter().map(|&end| (end, true)).chain([(self.text.len(), false)]);
        starts.zip(ends).map(|(start, (end, is_whole))| (&self.text[start..end], is_whole))
    }
}
