//! Splits a text at special tokens in llama.cpp's order: the longest token first, wherever it is in the text, then the
//! next longest in the remaining parts.
//!
//! Reference: `tokenizer_st_partition` of llama.cpp. Tokens are searched for from the longest to the shortest. Tokens
//! of equal length are searched for in the order of the vocabulary; the reference has no fixed order here, because its
//! sort is not stable. Each token splits the parts of the text that do not belong to longer tokens, from left to right.
//! The white space next to a token with `lstrip` or `rstrip` is dropped. Only tokens that occur in the text are
//! searched for, so the cost is the length of the text times the number of these tokens.

use memchr::memmem;

use super::TextPart;
use super::finder::SpecialFinder;
use crate::error::Result;
use crate::spec::SpecialToken;

impl SpecialFinder {
    /// Calls `part` for every part of the text that is not empty, from left to right. A token from one offset to another
    /// counts only if `is_found` returns true.
    pub(super) fn partition(
        &self,
        text: &[u8],
        is_found: impl Fn(&SpecialToken, usize, usize) -> bool,
        mut part: impl FnMut(TextPart) -> Result<()>,
    ) -> Result<()> {
        let mut parts = vec![TextPart::Text(0, text.len())];
        for token in self.occurring_tokens(text) {
            let mut split = Vec::new();
            for part in parts {
                match part {
                    TextPart::Text(start, end) => split_at(token, text, (start, end), &is_found, &mut split),
                    special => split.push(special),
                }
            }
            parts = split;
        }
        parts.retain(|part| !matches!(part, TextPart::Text(start, end) if start == end));
        parts.into_iter().try_for_each(&mut part)
    }

    /// Returns the tokens that occur in the text, the longest first.
    fn occurring_tokens(&self, text: &[u8]) -> Vec<&SpecialToken> {
        let mut is_present = vec![false; self.tokens.len()];
        let mut missing_count = is_present.len();
        for token_match in self.automaton.find_overlapping_iter(text) {
            let is_seen = &mut is_present[token_match.pattern().as_usize()];
            missing_count -= !*is_seen as usize;
            *is_seen = true;
            if missing_count == 0 {
                break;
            }
        }
        let mut tokens: Vec<&SpecialToken> = self
            .tokens
            .iter()
            .zip(&is_present)
            .filter(|(_, is_present)| **is_present)
            .map(|(token, _)| token)
            .collect();
        tokens.sort_by_key(|token| std::cmp::Reverse(token.text.len()));
        tokens
    }
}

/// Reports whether C's `isspace` accepts a byte.
fn is_space(byte: &u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Splits the text from `start` to `end` at a token.
fn split_at(
    token: &SpecialToken,
    text: &[u8],
    (start, end): (usize, usize),
    is_found: &impl Fn(&SpecialToken, usize, usize) -> bool,
    parts: &mut Vec<TextPart>,
) {
    let finder = memmem::Finder::new(&token.text);
    let (mut from, mut at) = (start, start);
    while let Some(distance) = finder.find(&text[from..end]) {
        let (token_start, token_end) = (from + distance, from + distance + token.text.len());
        if !is_found(token, token_start, token_end) {
            from = token_start + 1;
            continue;
        }
        let spaces_before =
            text[at..token_start].iter().rev().take_while(|byte| token.lstrip && is_space(byte)).count();
        let spaces_after = text[token_end..end].iter().take_while(|byte| token.rstrip && is_space(byte)).count();
        parts.extend([
            TextPart::Text(at, token_start - spaces_before),
            TextPart::Special(token.id, token_start, token_end),
        ]);
        at = token_end + spaces_after;
        from = at;
    }
    parts.push(TextPart::Text(at, end));
}
