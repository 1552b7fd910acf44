//! llama.cpp's order of special tokens: the longest text first, wherever it is in the text, then the next one in the
//! remainder.
//!
//! Reference: `tokenizer_st_partition` of llama.cpp. Tokens are taken from the longest to the shortest, those of equal
//! length in the order of the vocabulary (the reference's sort is not stable). Each token splits every part of the text
//! that no longer token has taken, from left to right. The white space that a token strips disappears. Only tokens that
//! occur in the text are tried, so the cost is the length of the text times their number.

use memchr::memmem;

use super::TextPart;
use super::finder::SpecialFinder;
use crate::error::Result;
use crate::spec::SpecialToken;

impl SpecialFinder {
    pub(super) fn partition(&self, text: &[u8], mut part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
        let mut parts = vec![TextPart::Text(0, text.len())];
        for token in self.occurring(text) {
            let mut split = Vec::new();
            for part in parts {
                match part {
                    TextPart::Text(start, end) => split_at(token, text, (start, end), &mut split),
                    special => split.push(special),
                }
            }
            parts = split;
        }
        parts.retain(|part| !matches!(part, TextPart::Text(start, end) if start == end));
        parts.into_iter().try_for_each(&mut part)
    }

    /// The tokens that occur in the text, the longest first.
    fn occurring(&self, text: &[u8]) -> Vec<&SpecialToken> {
        let mut occurs = vec![false; self.tokens.len()];
        let mut missing = occurs.len();
        for found in self.automaton.find_overlapping_iter(text) {
            let seen = &mut occurs[found.pattern().as_usize()];
            missing -= !*seen as usize;
            *seen = true;
            if missing == 0 {
                break;
            }
        }
        let mut tokens: Vec<&SpecialToken> =
            self.tokens.iter().zip(&occurs).filter(|(_, occurs)| **occurs).map(|(token, _)| token).collect();
        tokens.sort_by_key(|token| std::cmp::Reverse(token.text.len()));
        tokens
    }
}

/// C's isspace.
fn is_space(byte: &u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Splits the text from `start` to `end` at a token.
fn split_at(token: &SpecialToken, text: &[u8], (start, end): (usize, usize), parts: &mut Vec<TextPart>) {
    let finder = memmem::Finder::new(&token.text);
    let mut at = start;
    while let Some(found) = finder.find(&text[at..end]) {
        let (from, to) = (at + found, at + found + token.text.len());
        let before = text[at..from].iter().rev().take_while(|byte| token.lstrip && is_space(byte)).count();
        let after = text[to..end].iter().take_while(|byte| token.rstrip && is_space(byte)).count();
        parts.extend([TextPart::Text(at, from - before), TextPart::Special(token.id, from, to)]);
        at = to + after;
    }
    parts.push(TextPart::Text(at, end));
}
