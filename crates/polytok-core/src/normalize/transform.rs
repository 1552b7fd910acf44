//! Writes rewritten text with the spans that Hugging Face computes. Each new character has a *change*: by how many
//! characters it makes the text longer.
//!
//! Reference: `NormalizedString::transform_range`. A character with change 0 replaces the next old character; a
//! character with change -n replaces the next n + 1 old characters; a character with a positive change is inserted.
//! Only the numbers of the old characters matter, not their texts. If the changes of a step do not add up (when
//! Precompiled drops the first character), all later characters get wrong spans, as in the reference.

use super::output::Output;

/// A writer of the new characters that replace the characters of `text` from byte `at` on.
pub(super) struct Transform<'t, O> {
    text: &'t str,
    at: usize,
    out: &'t mut O,
}

impl<'t, O: Output> Transform<'t, O> {
    pub(super) fn new(text: &'t str, at: usize, out: &'t mut O) -> Transform<'t, O> {
        Transform { text, at, out }
    }

    /// Writes the new character `c`, which adds `change` characters.
    pub(super) fn push(&mut self, c: char, change: isize) {
        let mut buffer = [0; 4];
        let written = c.encode_utf8(&mut buffer).as_bytes();
        if change > 0 {
            self.out.insert(written, self.at);
            return;
        }
        self.out.change(written, self.at);
        let old_chars = self.text[self.at..].chars().take(1 + change.unsigned_abs());
        self.at += old_chars.map(char::len_utf8).sum::<usize>();
    }

    /// Writes `text[from..to]`; each of its characters replaces one old character.
    pub(super) fn push_run(&mut self, from: usize, to: usize) {
        if self.at == from {
            self.out.keep(self.text.as_bytes(), from, to);
            self.at = to;
        } else {
            self.text[from..to].chars().for_each(|c| self.push(c, 0));
        }
    }

    /// Returns the character of `text` that ends at byte `to`.
    pub(super) fn char_before(&self, to: usize) -> Option<char> {
        self.text[..to].chars().next_back()
    }
}
