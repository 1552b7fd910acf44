//! Replaces a literal text in a text that comes in parts.
//!
//! Matches are leftmost and do not overlap. Only the start of a possible match is held back. The held-back text is
//! always a prefix of the pattern, so only its length is stored (Knuth, Morris and Pratt). Cost: linear in the text,
//! for every pattern.

use super::flow::Flow;
use crate::utf8::is_start;

pub(super) struct Literal {
    pattern: Vec<u8>,
    /// The length, for each prefix of the pattern, of the longest shorter prefix with which that prefix ends.
    borders: Vec<usize>,
}

impl Literal {
    pub fn new(pattern: &[u8]) -> Literal {
        let mut borders = vec![0; pattern.len() + 1];
        let mut border = 0;
        for end in 1..pattern.len() {
            while border > 0 && pattern[border] != pattern[end] {
                border = borders[border];
            }
            border += usize::from(pattern[border] == pattern[end]);
            borders[end + 1] = border;
        }
        Literal { pattern: pattern.to_vec(), borders }
    }

    /// Processes more text; `held_len` is the length of the prefix of the pattern that is held back.
    pub fn push(&self, held_len: &mut usize, text: &[u8], content: &[u8], out: &mut Flow) {
        if self.pattern.is_empty() {
            return push_between(held_len, text, content, out);
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

    /// Ends the text and writes the prefix that is held back.
    pub fn finish(&self, held_len: &mut usize, content: &[u8], out: &mut Flow) {
        if self.pattern.is_empty() {
            out.push(if *held_len > 0 { content } else { b"" });
        } else {
            out.push(&self.pattern[..*held_len]);
        }
        *held_len = 0;
    }

    /// Replaces the matches in a whole text; None if the result is longer than `max_len`.
    pub fn replace(&self, text: &[u8], content: &[u8], max_len: usize) -> Option<Vec<u8>> {
        let mut out = Flow::bounded(max_len);
        let mut held_len = 0;
        self.push(&mut held_len, text, content, &mut out);
        self.finish(&mut held_len, content, &mut out);
        (!out.is_over()).then(|| out.text().to_vec())
    }
}

/// Writes `content` before each character of `text`: the empty pattern matches there, and at the end of a text that is
/// not empty. `count` is the number of bytes of the text so far.
fn push_between(count: &mut usize, text: &[u8], content: &[u8], out: &mut Flow) {
    for &byte in text {
        if is_start(byte) {
            out.push(content);
        }
        out.push(&[byte]);
    }
    *count += text.len();
}
