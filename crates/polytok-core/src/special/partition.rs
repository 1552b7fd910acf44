//! llama.cpp's order of special tokens: the longest text first, wherever it stands, then the next in what is left.
//!
//! Reference: `tokenizer_st_partition` of llama.cpp. For each token, from the longest to the shortest (of equal ones in the order of the vocabulary; the
//! reference's sort is not stable), every stretch of text that is left is cut at its occurrences, left to right. White space that a token
//! strips disappears. Only tokens that occur at all are tried, so the cost is the text's length times their number.

use memchr::memmem;

use super::{Finder, Part};
use crate::error::Result;
use crate::spec::SpecialToken;

impl Finder {
    pub(super) fn partition(&self, text: &[u8], mut part: impl FnMut(Part) -> Result<()>) -> Result<()> {
        let mut parts = vec![Part::Text(0, text.len())];
        for token in self.occurring(text) {
            parts = parts.into_iter().fold(Vec::new(), |mut cut, part| {
                match part {
                    Part::Text(start, end) => cut_at(token, text, (start, end), &mut cut),
                    special => cut.push(special),
                }
                cut
            });
        }
        parts
            .into_iter()
            .filter(|found| !matches!(found, Part::Text(start, end) if start == end))
            .try_for_each(&mut part)
    }

    /// The tokens that stand in the text, the longest first.
    fn occurring(&self, text: &[u8]) -> Vec<&SpecialToken> {
        let mut occurs = vec![false; self.tokens.len()];
        let mut missing = occurs.len();
        for found in self.automaton.find_overlapping_iter(text) {
            let known = &mut occurs[found.pattern().as_usize()];
            missing -= !*known as usize;
            *known = true;
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

fn cut_at(token: &SpecialToken, text: &[u8], (start, end): (usize, usize), parts: &mut Vec<Part>) {
    let finder = memmem::Finder::new(&token.text);
    let mut at = start;
    while let Some(found) = finder.find(&text[at..end]) {
        let (from, to) = (at + found, at + found + token.text.len());
        let strip_left =
            if token.lstrip { text[at..from].iter().rev().take_while(|byte| is_space(byte)).count() } else { 0 };
        let strip_right = if token.rstrip { text[to..end].iter().take_while(|byte| is_space(byte)).count() } else { 0 };
        parts.extend([Part::Text(at, from - strip_left), Part::Special(token.id, from, to)]);
        at = to + strip_right;
    }
    parts.push(Part::Text(at, end));
}
