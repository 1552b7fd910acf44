//! Finds the special tokens of a set in a text, and splits the text at them.
//!
//! Reference: `AddedVocabulary::find_matches` of tokenizers, for the flags `single_word`, `lstrip` and `rstrip`. The
//! white space that `rstrip` adds to a token can contain more tokens, for example a line end. These tokens are reported
//! too, so the parts of special tokens can overlap. The next part starts after the last of these tokens.

use polytok_memory::Collect;

use super::TextPart;
use super::automaton::{TokenAutomaton, TokenMatch};
use super::joint::TokenEdges;
use super::white_space::{WhiteSpaceScanner, is_next_to_word};
use crate::error::Result;
use crate::lazy::Lazy;
use crate::spec::{Matching, SpecialToken};

/// A finder of special tokens in one kind of text: the text before normalization or the normalized text.
pub(super) struct SpecialFinder {
    pub automaton: TokenAutomaton,
    pub tokens: Vec<SpecialToken>,
    /// For each token, true if the token is recognized. A token that is not recognized hides the tokens that it
    /// overlaps.
    is_recognized: Vec<bool>,
    /// The texts that are searched for, in the order of the tokens.
    pub texts: Vec<Vec<u8>>,
    edges: Lazy<TokenEdges>,
    pub matching: Matching,
}

impl SpecialFinder {
    /// Compiles a finder of tokens, each with a flag that is true if the token is recognized. `texts` are the texts to
    /// search for, in the order of the tokens.
    pub fn new(
        tokens: Vec<(SpecialToken, bool)>,
        texts: Vec<Vec<u8>>,
        matching: Matching,
    ) -> Result<Option<SpecialFinder>> {
        if tokens.is_empty() {
            return Ok(None);
        }
        let automaton = TokenAutomaton::new(&texts, matching)?;
        let is_recognized = tokens.iter().map(|&(_, is_recognized)| is_recognized).checked_collect();
        let tokens = tokens.into_iter().map(|(token, _)| token).checked_collect();
        Ok(Some(SpecialFinder { automaton, tokens, is_recognized, texts, edges: Lazy::default(), matching }))
    }

    /// Returns the bytes that decide whether a token can reach over an offset.
    pub fn edges(&self) -> &TokenEdges {
        self.edges.get(|| TokenEdges::new(self))
    }

    /// Returns the first token of a text: the leftmost, or for [`Matching::LongestFirst`] the one that ends first.
    pub fn first(&self, text: &[u8]) -> Option<TokenMatch> {
        match self.matching {
            Matching::LongestFirst => self.automaton.overlapping(text).next(),
            Matching::Longest | Matching::Listed => self.automaton.leftmost(text).next(),
        }
    }

    /// Calls `part` for every part of the text, from left to right.
    pub fn split(&self, text: &[u8], part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
        match self.matching {
            Matching::LongestFirst => self.partition(text, |_, _, _| true, part),
            Matching::Longest | Matching::Listed => self.split_leftmost(&mut LeftmostSplit::new(text), part),
        }
    }

    /// Splits the text at the leftmost matches.
    fn split_leftmost(&self, split: &mut LeftmostSplit, mut part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
        for TokenMatch { index, start, end } in self.automaton.leftmost(split.text) {
            if self.is_recognized[index] {
                split.take(&self.tokens[index], start, end, &mut part)?;
            }
        }
        split.finish(part)
    }
}

/// Splits a text at tokens that are found from left to right, by the flags `single_word`, `lstrip` and `rstrip`.
pub(super) struct LeftmostSplit<'a> {
    text: &'a [u8],
    space: WhiteSpaceScanner<'a>,
    /// Where the next part begins.
    at: usize,
}

impl LeftmostSplit<'_> {
    pub fn new(text: &[u8]) -> LeftmostSplit<'_> {
        LeftmostSplit { text, space: WhiteSpaceScanner::new(text), at: 0 }
    }

    /// Passes on the text before a token that was found from `start` to `end`, and the token.
    pub fn take(
        &mut self,
        token: &SpecialToken,
        start: usize,
        end: usize,
        part: &mut impl FnMut(TextPart) -> Result<()>,
    ) -> Result<()> {
        if token.single_word && is_next_to_word(self.text, start, end) {
            return Ok(());
        }
        let start = if token.lstrip { self.space.find_start(start, self.at) } else { start };
        let end = if token.rstrip { self.space.find_end(end) } else { end };
        if start > self.at {
            part(TextPart::Text(self.at, start))?;
        }
        // A token in white space that belongs to the token before it can have no text left. tokenizers 0.23 leaves it out,
        // too, or panics (docs/parity.md).
        if end > start {
            part(TextPart::Special(token.id, start, end))?;
        }
        self.at = end;
        Ok(())
    }

    /// Passes on the text after the last token.
    pub fn finish(&self, mut part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
        if self.at < self.text.len() { part(TextPart::Text(self.at, self.text.len())) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token_id::TokenId;

    fn finder(tokens: &[(&str, bool, bool)]) -> SpecialFinder {
        let token = |(id, &(text, lstrip, rstrip)): (usize, &(&str, bool, bool))| {
            (
                SpecialToken { text: text.into(), id: TokenId(id as u32), lstrip, rstrip, ..SpecialToken::default() },
                true,
            )
        };
        let texts = tokens.iter().map(|(text, ..)| text.as_bytes().to_vec()).collect();
        SpecialFinder::new(tokens.iter().enumerate().map(token).collect(), texts, Matching::Longest).unwrap().unwrap()
    }

    /// Returns the parts of a text, and the number of characters that the search for white space has read.
    fn split(finder: &SpecialFinder, text: &[u8]) -> (Vec<TextPart>, usize) {
        let (mut parts, mut split) = (Vec::new(), LeftmostSplit::new(text));
        let collect_part = |part| {
            parts.push(part);
            Ok(())
        };
        finder.split_leftmost(&mut split, collect_part).unwrap();
        (parts, split.space.chars_read)
    }

    #[test]
    fn tokens_within_the_white_space_of_another_are_reported() {
        let (parts, _) = split(&finder(&[("\n", false, true), (" ", false, false)]), b"a\n \tb");
        let expected = [
            TextPart::Text(0, 1),
            TextPart::Special(TokenId(0), 1, 4),
            TextPart::Special(TokenId(1), 2, 3),
            TextPart::Text(3, 5),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn a_million_spaces_are_read_a_few_times() {
        let n = 1_000_000;
        let text = vec![b' '; n];
        for token in [("  ", true, false), (" ", false, true), ("  ", true, true), ("", true, true), ("", true, false)]
        {
            let (parts, chars_read) = split(&finder(&[token]), &text);
            assert!(chars_read <= 3 * n, "{token:?}: {chars_read} characters");
            assert!(!parts.is_empty());
        }
    }

    #[test]
    fn each_run_of_spaces_between_tokens_is_read_once() {
        let text = [vec![b' '; 1000], b"<s>".to_vec()].concat().repeat(1000);
        for (lstrip, rstrip) in [(true, false), (false, true), (true, true)] {
            let (_, chars_read) = split(&finder(&[("<s>", lstrip, rstrip)]), &text);
            assert!(chars_read <= 2 * text.len(), "{chars_read} characters");
        }
    }
}
