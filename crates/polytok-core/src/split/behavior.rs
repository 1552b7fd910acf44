//! Splits a text by a pattern: the matches and the gaps between the matches are kept, removed or joined.
//!
//! Reference: Hugging Face's `NormalizedString::split` with its five behaviours, and tiktoken, which keeps only the
//! matches. Matches and gaps alternate from left to right; there are no empty gaps. An empty match counts as a match
//! when matches and gaps are joined; then empty pieces are dropped. No list of matches is stored. Cost: that of the
//! search.

use super::cursor::SplitCursor;
use crate::error::Result;
use crate::finder::PatternFinder;
use crate::spec::{Behavior, Pattern};
use polytok_pattern::Splitter;

/// The compiled step: a pattern, and the behaviour that decides what happens to the pattern's matches.
pub struct PatternSplit {
    finder: PatternFinder,
    behavior: Behavior,
    /// True if gaps count as matches, and matches as gaps.
    invert: bool,
    /// True if the pieces are exactly the matches, so that `fill` can find them.
    pieces_are_matches: bool,
}

impl PatternSplit {
    /// Compiles the step.
    pub fn compile(pattern: &Pattern, behavior: Behavior, invert: bool) -> Result<PatternSplit> {
        let finder = PatternFinder::compile(pattern)?;
        let pieces_are_matches = match (behavior, invert) {
            (Behavior::Matches, false) | (Behavior::Removed, true) => true,
            (Behavior::Isolated, _) => finder.covers_text(),
            _ => false,
        };
        Ok(PatternSplit { finder, behavior, invert, pieces_are_matches })
    }

    pub(super) fn finder(&self) -> &PatternFinder {
        &self.finder
    }

    pub(super) fn behavior(&self) -> Behavior {
        self.behavior
    }

    /// Reports whether gaps count as matches, and matches as gaps.
    pub(super) fn is_inverted(&self) -> bool {
        self.invert
    }

    /// Reports whether the step removes the literal `text` from the text and does nothing else.
    pub fn removes(&self, text: &str) -> bool {
        self.finder.is_literal_of(text) && self.behavior == Behavior::Removed && !self.invert
    }

    /// Reports whether the pattern runs in the scanner and not in the regular-expression engine.
    pub fn is_scanner(&self) -> bool {
        self.finder.is_scanner()
    }

    /// Reports whether the pieces are exactly the matches of the pattern, so that `fill` finds them.
    pub(super) fn finds_matches(&self) -> bool {
        self.pieces_are_matches
    }

    /// Derives the rule that `fill` would otherwise derive later.
    pub(super) fn warm_up(&self) {
        if self.pieces_are_matches {
            self.finder.warm_up();
        }
    }

    /// Reports whether the rule that `fill` uses is derived.
    #[cfg(test)]
    pub(super) fn is_warm(&self) -> bool {
        !self.pieces_are_matches || self.finder.as_stream().is_none_or(Splitter::is_prepared)
    }

    /// Calls `piece(start, end)` for each piece of `text`, from left to right. Returns `Error::Encode` if the search
    /// exceeds its limit.
    #[inline]
    pub fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) -> Result<()> {
        let mut piece = move |start: usize, end: usize| {
            if start < end {
                piece(start, end);
            }
        };
        match (self.behavior, self.invert) {
            (Behavior::Matches, false) | (Behavior::Removed, true) => self.finder.for_each_match(text, piece),
            (Behavior::Matches, true) | (Behavior::Removed, false) => self.parts(text, |start, end, is_match| {
                if !is_match {
                    piece(start, end)
                }
            }),
            (Behavior::Isolated, _) => self.parts(text, |start, end, _| piece(start, end)),
            (behavior, invert) => {
                let mut joiner = Joiner { behavior, piece, held: None };
                self.parts(text, |start, end, is_match| joiner.push(start, end, is_match != invert))?;
                joiner.finish();
                Ok(())
            }
        }
    }

    /// Writes the next pieces to `pieces` and returns the number of pieces; None if this step cannot continue a search
    /// where the last call stopped.
    pub fn fill(&self, text: &str, cursor: &mut SplitCursor, pieces: &mut [(u32, u32)]) -> Result<Option<usize>> {
        if self.pieces_are_matches { self.finder.fill(text, &mut cursor.matches, pieces) } else { Ok(None) }
    }

    /// Returns the regular expression that finds the pieces, if a search can continue where the last call stopped.
    pub(super) fn as_stream(&self) -> Option<&Splitter> {
        self.finder.as_stream().filter(|_| self.pieces_are_matches)
    }

    /// Calls `part(start, end, is_match)` for each match and each gap.
    #[inline]
    fn parts(&self, text: &str, mut part: impl FnMut(usize, usize, bool)) -> Result<()> {
        let mut last_end = 0;
        self.finder.for_each_match(text, |start, end| {
            if last_end < start {
                part(last_end, start, false);
            }
            part(start, end, true);
            last_end = end;
        })?;
        if last_end < text.len() {
            part(last_end, text.len(), false);
        }
        Ok(())
    }
}

/// Joins neighbouring matches and gaps to pieces. The last piece is held back, because the next match or gap can join
/// it.
struct Joiner<P> {
    behavior: Behavior,
    piece: P,
    /// The piece that is held back: its start, its end, and whether its last part is a match.
    held: Option<(usize, usize, bool)>,
}

impl<P: FnMut(usize, usize)> Joiner<P> {
    /// Adds a match or gap to the piece that is held back, or starts the next piece with it.
    fn push(&mut self, start: usize, end: usize, is_match: bool) {
        let from = match self.held {
            Some((from, _, was_match)) if self.joins(was_match, is_match) => from,
            _ => {
                self.finish();
                start
            }
        };
        self.held = Some((from, end, is_match));
    }

    /// Reports whether a match or gap joins the match or gap before it.
    fn joins(&self, was_match: bool, is_match: bool) -> bool {
        match self.behavior {
            Behavior::Contiguous => was_match == is_match,
            Behavior::MergedWithPrevious => !was_match && is_match,
            Behavior::MergedWithNext => was_match && !is_match,
            Behavior::Matches | Behavior::Removed | Behavior::Isolated => false,
        }
    }

    /// Passes the piece that is held back to the callback.
    fn finish(&mut self) {
        if let Some((start, end, _)) = self.held.take() {
            (self.piece)(start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces<'t>(text: &'t str, pattern: &str, is_regex: bool, behavior: Behavior, invert: bool) -> Vec<&'t str> {
        let pattern = Pattern { text: pattern.into(), is_regex, unicode: None };
        let mut pieces = Vec::new();
        let split = PatternSplit::compile(&pattern, behavior, invert).unwrap();
        split.split(text, |start, end| pieces.push(&text[start..end])).unwrap();
        pieces
    }

    #[test]
    fn each_behaviour_keeps_removes_or_joins_matches() {
        let split = |behavior, invert| pieces("the-final--countdown", "-", false, behavior, invert).join("|");
        assert_eq!(split(Behavior::Matches, false), "-|-|-");
        assert_eq!(split(Behavior::Removed, false), "the|final|countdown");
        assert_eq!(split(Behavior::Removed, true), "-|-|-");
        assert_eq!(split(Behavior::Isolated, false), "the|-|final|-|-|countdown");
        assert_eq!(split(Behavior::MergedWithPrevious, false), "the-|final-|-|countdown");
        assert_eq!(split(Behavior::MergedWithPrevious, true), "the|-final|-|-countdown");
        assert_eq!(split(Behavior::MergedWithNext, false), "the|-final|-|-countdown");
        assert_eq!(split(Behavior::Contiguous, false), "the|-|final|--|countdown");
        assert_eq!(split(Behavior::Contiguous, true), "the|-|final|--|countdown");
    }

    #[test]
    fn empty_matches_split() {
        assert_eq!(pieces("añb", "", false, Behavior::Isolated, false), ["a", "ñ", "b"]);
        assert_eq!(pieces("1234567", r"(?=(?:\d{3})+$)", true, Behavior::Isolated, false), ["1", "234", "567"]);
        assert_eq!(pieces("12", "", false, Behavior::Matches, false), [""; 0]);
        assert_eq!(pieces("", "", false, Behavior::Isolated, false), [""; 0]);
    }
}
