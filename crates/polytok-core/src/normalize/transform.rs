//! Hugging Face's way to write a changed text: each character says how many of the old ones it uses up.
//!
//! Reference: `NormalizedString::transform_range`. A change of 0 takes the next character's place, one of -n swallows n
//! more behind that, a positive one is new. Places are counted, not looked up: a step whose changes do not add up
//! (Precompiled, where it drops the first character) leaves everything behind out of place, as it does there.

use super::output::Output;

/// Writes to `out` what replaces the characters of `text` from `at` on.
pub(super) struct Transform<'t, O> {
    text: &'t str,
    at: usize,
    out: &'t mut O,
}

impl<'t, O: Output> Transform<'t, O> {
    pub(super) fn new(text: &'t str, at: usize, out: &'t mut O) -> Transform<'t, O> {
        Transform { text, at, out }
    }

    /// Writes one character.
    pub(super) fn push(&mut self, c: char, change: isize) {
        let mut buffer = [0; 4];
        let written = c.encode_utf8(&mut buffer).as_bytes();
        if change > 0 {
            self.out.insert(written, self.at);
            return;
        }
        self.out.change(written, self.at);
        let used = self.text[self.at..].chars().take(1 + change.unsigned_abs());
        self.at += used.map(char::len_utf8).sum::<usize>();
    }

    /// Writes `text[from..to]`, whose characters take the places of as many.
    pub(super) fn push_run(&mut self, from: usize, to: usize) {
        if self.at == from {
            self.out.keep(self.text.as_bytes(), from, to);
            self.at = to;
        } else {
            self.text[from..to].chars().for_each(|c| self.push(c, 0));
        }
    }

    /// The character of the text that ends at `to`.
    pub(super) fn char_before(&self, to: usize) -> Option<char> {
        self.text[..to].chars().next_back()
    }
}
