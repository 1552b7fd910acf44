//! Splits a text at special tokens if only some runs of the text are trusted.
//!
//! Within a trusted run, the tokens are those that the search of the family finds in this run: a longer token that
//! reaches out of the run does not hide a shorter one. Of the tokens that mark no structure ([`marks_nothing`]), all are
//! found everywhere, also over the ends of runs. White space that `lstrip` and `rstrip` add can be outside of the run,
//! and `single_word` looks at the characters on both sides, wherever these are.
//!
//! The twin is python/polytok/reference/special.py.

use std::cmp::Ordering;

use polytok_memory::Collect;

use super::automaton::{LeftmostSearch, TokenAutomaton, TokenMatch};
use super::finder::{LeftmostSplit, SpecialFinder};
use super::joint::SpecialJoint;
use super::{SpecialSet, Specials, TextPart};
use crate::boundary::neighbours::BytePairs;
use crate::error::{Error, Result};
use crate::lazy::Lazy;
use crate::normalize::output::Span;
use crate::space_mark;
use crate::spec::{Matching, SpecialToken};

/// Reports whether a token marks no structure of a text, so that it is recognized in text from outside too: a token of
/// white space, or a single character that is not a special token. Vocabularies list digits, letters and runs of spaces
/// as added or user-defined tokens, only to keep them whole.
pub fn marks_nothing(token: &SpecialToken) -> bool {
    let Ok(text) = std::str::from_utf8(&token.text) else { return false };
    let is_space = |character: char| character.is_whitespace() || space_mark::TEXT.contains(character);
    text.chars().all(is_space) || token.always && text.chars().count() == 1
}

/// All special tokens of a vocabulary, compiled for texts of which some runs are trusted.
pub struct TrustedSet {
    /// All tokens, for text that is trusted; None without tokens.
    all: Option<SpecialSet>,
    /// The tokens that mark no structure; None without such tokens.
    everywhere: Option<SpecialSet>,
    /// The tokens that mark structure, for [`TrustedSet::reject`].
    marks: Vec<SpecialToken>,
    marks_automaton: Lazy<Option<TokenAutomaton>>,
    /// The pairs of bytes that are adjacent in a token of `marks`.
    mark_pairs: Lazy<BytePairs>,
}

impl TrustedSet {
    /// Compiles the special tokens; see [`Specials::set`].
    pub fn new(specials: &Specials, normalize: &dyn Fn(&[u8]) -> Result<Vec<u8>>) -> Result<TrustedSet> {
        let is_mark = |token: &&SpecialToken| !token.text.is_empty() && !marks_nothing(token);
        Ok(TrustedSet {
            all: specials.set_of(|_| Some(true), normalize)?,
            everywhere: specials.set_of(|token| marks_nothing(token).then_some(true), normalize)?,
            marks: specials.tokens().iter().filter(is_mark).cloned().checked_collect(),
            marks_automaton: Lazy::default(),
            mark_pairs: Lazy::default(),
        })
    }

    /// Returns the set of all tokens, with which a text is split that is trusted as a whole.
    pub fn all(&self) -> Option<&SpecialSet> {
        self.all.as_ref()
    }

    /// Reports whether a normalized text can have tokens that are searched for in normalized text. `has_runs` is false
    /// for a text without trusted runs.
    pub fn has_normalized(&self, has_runs: bool) -> bool {
        let set = if has_runs { &self.all } else { &self.everywhere };
        set.as_ref().is_some_and(SpecialSet::has_normalized)
    }

    /// Splits a text at the tokens: calls `part` for every part that is not empty, from left to right. `runs` are the
    /// trusted runs of the text, from left to right; no two of them touch.
    pub fn split(&self, text: &[u8], runs: &[Span], part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
        self.finders(|set| set.raw.as_ref()).split(text, runs, part)
    }

    /// Splits a normalized text, of which `runs` are trusted, at the tokens that are searched for in normalized text.
    pub fn split_normalized(&self, text: &[u8], runs: &[Span], part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
        self.finders(|set| set.normalized.as_ref()).split(text, runs, part)
    }

    /// Returns an error if a token that marks structure occurs in the text and is not within a trusted run.
    pub fn reject(&self, text: &[u8], runs: &[Span]) -> Result<()> {
        let Some(automaton) = self.marks_automaton()? else { return Ok(()) };
        let is_refused = |found: &TokenMatch| !is_within(runs, found.start, found.end);
        let Some(found) = automaton.overlapping(text).find(is_refused) else { return Ok(()) };
        let token = String::from_utf8_lossy(&self.marks[found.index].text);
        Err(Error::Special(format!(
            "the text contains the special token {token:?} at byte {}, where not all of it is trusted; remove it from \
             the text, trust it, or encode it as plain text with reject_special=False",
            found.start
        )))
    }

    /// Reports whether no token reaches over an offset, wherever the text is trusted: neither a token that is searched
    /// for in the text before normalization nor one that [`TrustedSet::reject`] finds.
    pub fn is_independent(&self, joint: SpecialJoint) -> bool {
        let pairs = self.mark_pairs.get(|| BytePairs::from_entries(self.marks.iter().map(|token| &token.text[..])));
        let (mut left, mut right) = ([0; 4], [0; 4]);
        let last = joint.left.encode_utf8(&mut left).as_bytes().last().copied();
        let first = joint.right.encode_utf8(&mut right).as_bytes().first().copied();
        let is_in_mark = last.zip(first).is_none_or(|(last, first)| pairs.has(last, first));
        !is_in_mark && self.all.as_ref().is_none_or(|set| set.is_independent(joint))
    }

    fn finders<'a>(&'a self, of: impl Fn(&'a SpecialSet) -> Option<&'a SpecialFinder>) -> Finders<'a> {
        Finders { all: self.all.as_ref().and_then(&of), everywhere: self.everywhere.as_ref().and_then(&of) }
    }

    fn marks_automaton(&self) -> Result<Option<&TokenAutomaton>> {
        if self.marks_automaton.peek().is_none() {
            let texts: Vec<Vec<u8>> = self.marks.iter().map(|token| token.text.clone()).checked_collect();
            let automaton = TokenAutomaton::new(&texts, Matching::LongestFirst)?;
            self.marks_automaton.get(|| (!self.marks.is_empty()).then_some(automaton));
        }
        Ok(self.marks_automaton.peek().and_then(Option::as_ref))
    }
}

/// Reports whether the bytes from `start` to `end` are within one run.
fn is_within(runs: &[Span], start: usize, end: usize) -> bool {
    let next = runs.partition_point(|run| run.1 as usize <= start);
    runs.get(next).is_some_and(|&(from, to)| from as usize <= start && end <= to as usize)
}

/// The finders of one kind of text: the text before normalization or the normalized text.
struct Finders<'a> {
    /// The finder of all tokens.
    all: Option<&'a SpecialFinder>,
    /// The finder of the tokens that are found everywhere.
    everywhere: Option<&'a SpecialFinder>,
}

impl Finders<'_> {
    fn split(&self, text: &[u8], runs: &[Span], mut part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
        match self.all {
            Some(all) if all.matching == Matching::LongestFirst => {
                let is_found = |token: &SpecialToken, start, end| marks_nothing(token) || is_within(runs, start, end);
                all.partition(text, is_found, part)
            }
            Some(all) => self.split_leftmost(all, text, runs, part),
            None if text.is_empty() => Ok(()),
            None => part(TextPart::Text(0, text.len())),
        }
    }

    /// Splits the text at the leftmost matches, as [`SpecialFinder::split`] does.
    fn split_leftmost(
        &self,
        all: &SpecialFinder,
        text: &[u8],
        runs: &[Span],
        mut part: impl FnMut(TextPart) -> Result<()>,
    ) -> Result<()> {
        let whole_text = [(0, text.len() as u32)];
        let mut trusted = Search::new(all, text, runs);
        let mut anywhere = self.everywhere.map(|finder| Search::new(finder, text, &whole_text));
        let mut split = LeftmostSplit::new(text);
        let mut from = 0;
        loop {
            let in_run = trusted.next_from(from);
            let outside = anywhere.as_mut().and_then(|search| search.next_from(from));
            let Some((token, start, end)) = first(all, in_run, outside) else { return split.finish(part) };
            split.take(token, start, end, &mut part)?;
            // White space after a token, which can belong to it, is searched too.
            from = end;
        }
    }
}

/// A token and its start and end in the text.
type FoundToken<'a> = (&'a SpecialToken, usize, usize);

/// Returns the token that the search of the family takes: the leftmost, and of two at the same offset the longest or,
/// in minbpe, the first listed.
fn first<'a>(
    all: &SpecialFinder,
    one: Option<FoundToken<'a>>,
    other: Option<FoundToken<'a>>,
) -> Option<FoundToken<'a>> {
    let (Some((one_token, one_start, one_end)), Some((other_token, other_start, other_end))) = (one, other) else {
        return one.or(other);
    };
    let place_in_list = |wanted: &SpecialToken| all.tokens.iter().position(|token| token.text == wanted.text);
    let is_one_first = match one_start.cmp(&other_start) {
        Ordering::Equal if all.matching == Matching::Listed => place_in_list(one_token) <= place_in_list(other_token),
        Ordering::Equal => one_end >= other_end,
        order => order.is_lt(),
    };
    if is_one_first { one } else { other }
}

/// A search for the tokens of a finder within some runs of a text.
struct Search<'a> {
    finder: &'a SpecialFinder,
    text: &'a [u8],
    /// The runs that are not searched completely.
    runs: &'a [Span],
    /// The search in the first of these runs, if it has begun.
    search: Option<LeftmostSearch<'a>>,
    /// The last match.
    found: Option<TokenMatch>,
}

impl<'a> Search<'a> {
    fn new(finder: &'a SpecialFinder, text: &'a [u8], runs: &'a [Span]) -> Search<'a> {
        Search { finder, text, runs, search: None, found: None }
    }

    /// Returns the next token that starts at byte `from` or later; `from` never decreases from one call to the next.
    /// Each byte is searched once, and the bytes of a match at most twice.
    fn next_from(&mut self, from: usize) -> Option<FoundToken<'a>> {
        if self.found.is_none_or(|found| found.start < from) {
            self.found = self.search(from);
        }
        let found = self.found?;
        Some((&self.finder.tokens[found.index], found.start, found.end))
    }

    fn search(&mut self, mut from: usize) -> Option<TokenMatch> {
        while let Some(&(start, end)) = self.runs.first() {
            from = from.max(start as usize);
            while from < end as usize {
                let run_search = || self.finder.automaton.leftmost(&self.text[..end as usize]);
                match self.search.get_or_insert_with(run_search).find_from(from) {
                    // Normalization can remove the whole text of a token.
                    Some(found) if found.is_empty() => from = found.end + 1,
                    Some(found) => return Some(found),
                    None => break,
                }
            }
            self.runs = &self.runs[1..];
            self.search = None;
        }
        None
    }
}
