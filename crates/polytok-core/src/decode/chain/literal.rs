//! Replaces a plain text in a text that comes in parts.
//!
//! Matches are leftmost and do not overlap. Only the start of a possible match is held back. It is always a
//! prefix of the pattern, so only its length is stored (Knuth, Morris and Pratt). Cost: linear, whatever the pattern.

use super::flow::Flow;
use crate::utf8::is_start;

pub(super) struct Literal {
    pattern: Vec<u8>,
    /// For each prefix of the pattern, the length of the longest shorter prefix that it ends with.
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

    /// Takes more text; `waiting` is the length of the prefix that is held back.
    pub fn push(&self, waiting: &mut usize, text: &[u8], content: &[u8], out: &mut Flow) {
        if self.pattern.is_empty() {
            return push_between(waiting, text, content, out);
        }
        for &byte in text {
            while *waiting > 0 && self.pattern[*waiting] != byte {
                let border = self.borders[*waiting];
                out.push(&self.pattern[..*waiting - border]);
                *waiting = border;
            }
            if self.pattern[*waiting] != byte {
                out.push(&[byte]);
                continue;
            }
            *waiting += 1;
            if *waiting == self.pattern.len() {
                out.push(content);
                *waiting = 0;
            }
        }
    }

    /// Ends the text.
    pub fn finish(&self, waiting: &mut usize, content: &[u8], out: &mut Flow) {
        if self.pattern.is_empty() {
            out.push(if *waiting > 0 { content } else { b"" });
        } else {
            out.push(&self.pattern[..*waiting]);
        }
        *waiting = 0;
    }

    /// Replaces in a whole text; None if the result is longer than `most`.
    pub fn replace(&self, text: &[u8], content: &[u8], most: usize) -> Option<Vec<u8>> {
        let mut out = Flow::bounded(most);
        let mut waiting = 0;
        self.push(&mut waiting, text, content, &mut out);
        self.finish(&mut waiting, content, &mut out);
        (!out.is_over()).then(|| out.text().to_vec())
    }
}

/// The empty pattern matches before each character and at the end, but not in an empty text.
fn push_between(count: &mut usize, text: &[u8], content: &[u8], out: &mut Flow) {
    for &byte in text {
        if is_start(byte) {
            out.push(content);
        }
        out.push(&[byte]);
    }
    *count += text.len();
}
