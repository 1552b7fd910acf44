//! Searches a text for the tokens of a set, in time that is linear in the text for every set.
//!
//! Usual sets are searched with the crate aho-corasick. Sets for which its automata are slow or large are searched with
//! a [`LinearAutomaton`].

use aho_corasick::{AhoCorasick, BuildError, Input, Match, MatchKind};
use polytok_memory::{self as memory, Collect};

use super::linear::{LinearAutomaton, LinearSearch};
use crate::error::{Error, Result};
use crate::spec::Matching;

/// The length of the longest token for which a leftmost search uses the crate: it can read this number of bytes again
/// for each match.
const MAX_USUAL_LEN: usize = 256;

/// The number of entries that the lists of overlapping tokens can have in an automaton of the crate; each has 8 bytes.
const MAX_LISTED_TOKENS: usize = 1 << 24;

/// The number of tokens up to which the crate builds a table of all bytes for each state.
const MAX_DFA_TOKENS: usize = 100;

/// A token in a text: its index in the list of tokens, and its start and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenMatch {
    pub index: usize,
    pub start: usize,
    pub end: usize,
}

impl TokenMatch {
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

impl From<Match> for TokenMatch {
    fn from(found: Match) -> TokenMatch {
        TokenMatch { index: found.pattern().as_usize(), start: found.start(), end: found.end() }
    }
}

/// An automaton that finds the tokens of a set: the leftmost, or for [`Matching::LongestFirst`] all that overlap.
pub(super) enum TokenAutomaton {
    Usual(AhoCorasick),
    Linear(LinearAutomaton),
}

impl TokenAutomaton {
    /// Compiles an automaton of the texts of tokens.
    pub fn new(texts: &[Vec<u8>], matching: Matching) -> Result<TokenAutomaton> {
        if texts.iter().map(Vec::len).sum::<usize>() >= u32::MAX as usize {
            return Err(Error::Spec("the special tokens have about 4 GiB of text or more; remove some of them".into()));
        }
        if needs_linear(texts, matching) {
            return Ok(TokenAutomaton::Linear(LinearAutomaton::new(texts, matching)));
        }
        let kind = match matching {
            Matching::Longest => MatchKind::LeftmostLongest,
            Matching::Listed => MatchKind::LeftmostFirst,
            Matching::LongestFirst => MatchKind::Standard,
        };
        let automaton = build(texts, kind);
        Ok(TokenAutomaton::Usual(automaton.map_err(|error| Error::Spec(format!("special tokens: {error}")))?))
    }

    /// Starts a search for the leftmost tokens of a text.
    pub fn leftmost<'a>(&'a self, text: &'a [u8]) -> LeftmostSearch<'a> {
        let search = match self {
            TokenAutomaton::Usual(automaton) => Search::Usual(automaton, text),
            TokenAutomaton::Linear(automaton) => Search::Linear(LinearSearch::new(automaton, text)),
        };
        LeftmostSearch { search, from: 0, last_end: None }
    }

    /// Returns all places of all tokens, in the order of their ends.
    pub fn overlapping<'a>(&'a self, text: &'a [u8]) -> Box<dyn Iterator<Item = TokenMatch> + 'a> {
        match self {
            TokenAutomaton::Usual(automaton) => Box::new(automaton.find_overlapping_iter(text).map(TokenMatch::from)),
            TokenAutomaton::Linear(automaton) => Box::new(automaton.overlapping(text)),
        }
    }
}

/// Builds an automaton of the crate.
pub(crate) fn build(texts: &[Vec<u8>], kind: MatchKind) -> std::result::Result<AhoCorasick, BuildError> {
    memory::require(max_bytes(texts));
    AhoCorasick::builder().match_kind(kind).build(texts)
}

/// Returns an upper bound of the memory that the crate takes while it builds an automaton. The numbers were chosen by
/// measuring aho-corasick 1.1.5 with sets of one to 9,000 tokens: some take nearly as much, usual sets much less.
fn max_bytes(texts: &[Vec<u8>]) -> usize {
    let mut occurs = [false; 256];
    texts.iter().flatten().for_each(|&byte| occurs[byte as usize] = true);
    let classes = (2 * occurs.iter().filter(|&&occurs| occurs).count() + 1).min(256);
    let table_bytes = 4 * classes.next_power_of_two();
    let state_bytes = if texts.len() <= MAX_DFA_TOKENS { table_bytes + 120 } else { 100 };
    // The states after one and two bytes have tables in every automaton.
    let mut starts: Vec<&[u8]> = texts.iter().map(|text| &text[..text.len().min(2)]).checked_collect();
    starts.sort_unstable();
    starts.dedup();
    let states = texts.iter().map(Vec::len).sum::<usize>() + 1;
    let start_bytes = (6 * table_bytes + 256).saturating_mul(starts.len() + 1);
    state_bytes.saturating_mul(states).saturating_add(start_bytes).saturating_add(1 << 15)
}

/// Reports whether an automaton of the crate is slow or large for a set of tokens.
fn needs_linear(texts: &[Vec<u8>], matching: Matching) -> bool {
    let max_len = texts.iter().map(Vec::len).max().unwrap_or(0);
    let total_len: usize = texts.iter().map(Vec::len).sum();
    // A list of the crate has all equal tokens, in every kind of search.
    let repeated_count = count_repeated(texts);
    if repeated_count > 0 && total_len.saturating_mul(repeated_count + 1) > MAX_LISTED_TOKENS {
        return true;
    }
    if matching != Matching::LongestFirst {
        return max_len > MAX_USUAL_LEN;
    }
    // Of different tokens, at most one of each length ends at a place.
    total_len.saturating_mul(max_len.min(texts.len())) > MAX_LISTED_TOKENS && {
        let mut lens: Vec<usize> = texts.iter().map(Vec::len).checked_collect();
        lens.sort_unstable();
        lens.dedup();
        total_len.saturating_mul(lens.len()) > MAX_LISTED_TOKENS
    }
}

/// Returns the number of texts that equal an earlier one.
fn count_repeated(texts: &[Vec<u8>]) -> usize {
    let mut sorted_texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).checked_collect();
    sorted_texts.sort_unstable();
    sorted_texts.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// A search for the leftmost tokens of a text. Its items are those of `AhoCorasick::find_iter`.
pub(super) struct LeftmostSearch<'a> {
    search: Search<'a>,
    from: usize,
    last_end: Option<usize>,
}

enum Search<'a> {
    Usual(&'a AhoCorasick, &'a [u8]),
    Linear(LinearSearch<'a>),
}

impl LeftmostSearch<'_> {
    /// Returns the first token at `from` or later; `from` never decreases from one call to the next.
    #[inline]
    pub fn find_from(&mut self, from: usize) -> Option<TokenMatch> {
        match &mut self.search {
            Search::Usual(automaton, text) => automaton.find(Input::new(*text).range(from..)).map(TokenMatch::from),
            Search::Linear(search) => search.find_from(from),
        }
    }
}

impl Iterator for LeftmostSearch<'_> {
    type Item = TokenMatch;

    #[inline]
    fn next(&mut self) -> Option<TokenMatch> {
        let mut found = self.find_from(self.from)?;
        if found.is_empty() && Some(found.end) == self.last_end {
            found = self.find_from(self.from + 1)?;
        }
        (self.from, self.last_end) = (found.end, Some(found.end));
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn texts(min_len: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
        vec(vec(b'a'..b'd', min_len..6), 1..8)
    }

    fn automata(texts: &[Vec<u8>], matching: Matching) -> [TokenAutomaton; 2] {
        let usual = TokenAutomaton::new(texts, matching).unwrap();
        assert!(matches!(usual, TokenAutomaton::Usual(_)));
        [usual, TokenAutomaton::Linear(LinearAutomaton::new(texts, matching))]
    }

    /// Returns the token that a search for leftmost tokens prefers at an offset.
    fn token_at(texts: &[Vec<u8>], text: &[u8], start: usize, matching: Matching) -> Option<TokenMatch> {
        let tokens = (0..texts.len()).filter(|&index| text[start..].starts_with(&texts[index]));
        let index = match matching {
            Matching::Listed => tokens.min(),
            _ => tokens.min_by_key(|&index| (std::cmp::Reverse(texts[index].len()), index)),
        };
        index.map(|index| TokenMatch { index, start, end: start + texts[index].len() })
    }

    proptest! {
        #[test]
        fn both_automata_find_the_leftmost_tokens(texts in texts(1), text in vec(b'a'..b'd', 0..40)) {
            for (matching, kind) in [
                (Matching::Longest, MatchKind::LeftmostLongest),
                (Matching::Listed, MatchKind::LeftmostFirst),
            ] {
                let expected = AhoCorasick::builder().match_kind(kind).build(&texts).unwrap();
                let expected: Vec<TokenMatch> = expected.find_iter(&text).map(TokenMatch::from).collect();
                for automaton in automata(&texts, matching) {
                    prop_assert_eq!(&automaton.leftmost(&text).collect::<Vec<_>>(), &expected);
                }
            }
        }

        /// The crate can miss a token after an empty one, so the expected tokens are computed here.
        #[test]
        fn the_linear_automaton_finds_empty_tokens(texts in texts(0), text in vec(b'a'..b'd', 0..40)) {
            for matching in [Matching::Longest, Matching::Listed] {
                let automaton = TokenAutomaton::Linear(LinearAutomaton::new(&texts, matching));
                for from in 0..=text.len() {
                    let expected = (from..=text.len()).find_map(|start| token_at(&texts, &text, start, matching));
                    prop_assert_eq!(automaton.leftmost(&text).find_from(from), expected);
                }
            }
        }

        #[test]
        fn both_automata_find_overlapping_tokens(texts in texts(0), text in vec(b'a'..b'd', 0..40)) {
            let [expected, found] = automata(&texts, Matching::LongestFirst).map(|automaton| {
                let mut found: Vec<TokenMatch> = automaton.overlapping(&text).filter(|found| !found.is_empty()).collect();
                found.sort_unstable_by_key(|found| (found.end, found.start, found.index));
                found
            });
            prop_assert_eq!(found, expected);
        }
    }

    /// Tests linear memory: lists of all equal tokens in each state would take 3 GB.
    #[test]
    fn equal_tokens_take_linear_memory() {
        let equal = std::iter::repeat_n(b"<a>".to_vec(), 20_000);
        let others = (0..20_000).map(|number| format!("{number}<a>q").into_bytes());
        let texts: Vec<Vec<u8>> = equal.chain(others).collect();
        for matching in [Matching::Longest, Matching::Listed] {
            let automaton = TokenAutomaton::new(&texts, matching).unwrap();
            let found: Vec<TokenMatch> = automaton.leftmost(b"7<a>7<a>q").collect();
            let first = TokenMatch { index: 0, start: 1, end: 4 };
            assert_eq!(found, [first, TokenMatch { index: 20_007, start: 4, end: 9 }]);
        }
        let automaton = TokenAutomaton::new(&texts, Matching::LongestFirst).unwrap();
        assert_eq!(automaton.overlapping(b"7<a>").count(), 20_000);
    }

    /// Tests linear time and memory: searches that start again for each token would read 10**11 bytes, and lists of the
    /// tokens of each state would take 40 GB.
    #[test]
    fn long_tokens_take_linear_time_and_memory() {
        let letters = vec![b'a'; 1_000_000];
        let with_end = |end: &[u8]| [&letters[..500_000], end].concat();
        for matching in [Matching::Longest, Matching::Listed] {
            let automaton = TokenAutomaton::new(&[with_end(b"b"), b"a".to_vec()], matching).unwrap();
            assert_eq!(automaton.leftmost(&letters).count(), letters.len());
        }
        let nested = (1..10_000).step_by(2).map(|len| letters[..len].to_vec());
        let texts: Vec<Vec<u8>> = nested.chain([with_end(b"b")]).collect();
        let automaton = TokenAutomaton::new(&texts, Matching::LongestFirst).unwrap();
        assert_eq!(automaton.overlapping(&letters[..1000]).count(), 250_500);
    }
}
