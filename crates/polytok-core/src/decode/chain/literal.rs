//! Replaces a literal pattern in a text that arrives in parts.
//!
//! Matches are leftmost and do not overlap. The end of a part is held back only if it can be the start of a match. This
//! held text is a prefix of the pattern, so its length is stored instead of its bytes (Knuth, Morris and Pratt). Cost:
//! linear in the text, whatever the pattern is.

use polytok_memory::{self as memory, Copied};

use super::super::traced::TracedText;
use super::flow::TokenFlow;
use crate::error::Result;
use crate::utf8::is_start;

pub(super) struct LiteralReplacer {
    pattern: Vec<u8>,
    /// For each prefix of the pattern, the length of the longest shorter prefix that is also a suffix of this prefix.
    borders: Vec<usize>,
}

impl LiteralReplacer {
    pub fn new(pattern: &[u8]) -> LiteralReplacer {
        let mut borders = memory::zeroed(pattern.len() + 1);
        let mut border = 0;
        for end in 1..pattern.len() {
            while border > 0 && pattern[border] != pattern[end] {
                border = borders[border];
            }
            border += usize::from(pattern[border] == pattern[end]);
            borders[end + 1] = border;
        }
        LiteralReplacer { pattern: pattern.checked_to_vec(), borders }
    }

    /// Replaces the matches in a token, and keeps the sources of its bytes. An empty token stays empty.
    pub fn replace_traced(&self, token: &TracedText, content: &[u8]) -> Result<TracedText> {
        if token.bytes.is_empty() { Ok(token.clone()) } else { token.replace(&self.pattern, content) }
    }

    /// Processes the next part of the text; `held_len` is the length of the held text.
    pub fn push(&self, held_len: &mut usize, text: &[u8], content: &[u8], out: &mut TokenFlow) {
        if self.pattern.is_empty() {
            return push_with_empty_pattern(held_len, text, content, out);
        }
        for &byte in text {
            while *held_len > 0 && self.pattern[*held_len] != byte {
                let border = self.borders[*held_len];
                out.push(&self.pattern[..*held_len - border]);
                *held_len = border;
            }
            if self.pattern[*held_len] != byte {
                out.push(&[byte]);
                continue;
            }
            *held_len += 1;
            if *held_len == self.pattern.len() {
                out.push(content);
                *held_len = 0;
            }
        }
    }

    /// Ends the text, and writes the held text.
    pub fn finish(&self, held_len: &mut usize, content: &[u8], out: &mut TokenFlow) {
        if self.pattern.is_empty() {
            out.push(if *held_len > 0 { content } else { b"" });
        } else {
            out.push(&self.pattern[..*held_len]);
        }
        *held_len = 0;
    }

    /// Replaces the matches in a whole text; None if the result is longer than `max_len`.
    pub fn replace(&self, text: &[u8], content: &[u8], max_len: usize) -> Option<Vec<u8>> {
        let mut out = TokenFlow::bounded(max_len);
        let mut held_len = 0;
        self.push(&mut held_len, text, content, &mut out);
        self.finish(&mut held_len, content, &mut out);
        (!out.is_over()).then(|| out.text().checked_to_vec())
    }
}

/// Writes `content` before each character of `text`, because an empty pattern matches before each character. It also
/// matches at the end of a text that is not empty, so `count` adds up the bytes of the text.
fn push_with_empty_pattern(count: &mut usize, text: &[u8], content: &[u8], out: &mut TokenFlow) {
    for &byte in text {
        if is_start(byte) {
            out.push(content);
        }
        out.push(&[byte]);
    }
    *count += text.len();
}
