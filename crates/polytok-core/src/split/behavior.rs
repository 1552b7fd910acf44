//! What becomes of the matches of a pattern and of the gaps between them.
//!
//! Reference: Hugging Face's `NormalizedString::split` with its five behaviours, and tiktoken, which takes the matches only. Matches
//! and gaps come in turn, left to right, without empty gaps; an empty match still counts as one when its neighbours
//! are joined, but empty pieces are dropped at the end. No list of matches is kept. Cost: that of the search.

use super::cursor::SplitCursor;
use crate::error::Result;
use crate::finder::PatternFinder;
use crate::spec::{Behavior, Pattern};
use polytok_pattern::Splitter;

/// A pattern and what is done with it.
pub struct PatternSplit {
    finder: PatternFinder,
    behavior: Behavior,
    invert: bool,
    /// Matches are the pieces, and there is nothing else.
    is_filled: bool,
}

impl PatternSplit {
    /// Compiles a step.
    pub fn compile(pattern: &Pattern, behavior: Behavior, invert: bool) -> Result<PatternSplit> {
        let finder = PatternFinder::compile(pattern)?;
        let is_filled = match (behavior, invert) {
            (Behavior::Matches, false) | (Behavior::Removed, true) => true,
            (Behavior::Isolated, _) => finder.covers_text(),
            _ => false,
        };
        Ok(PatternSplit { finder, behavior, invert, is_filled })
    }

    /// Matches of this text are left out.
    pub fn removes(&self, text: &str) -> bool {
        self.finder.is_of(text) && self.behavior == Behavior::Removed && !self.invert
    }

    /// Its pattern is run by the scanner.
    pub fn is_scanner(&self) -> bool {
        self.finder.is_scanner()
    }

    /// Calls `piece(start, end)` for each piece of `text`, left to right. `Error::Encode` if the search gives up.
    #[inline]
    pub fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) -> Result<()> {
        let mut piece = move |start: usize, end: usize| {
            if start < end {
                piece(start, end);
            }
        };
        match (self.behavior, self.invert) {
            (Behavior::Matches, false) | (Behavior::Removed, true) => self.finder.matches(text, piece),
            (Behavior::Matches, true) | (Behavior::Removed, false) => self.parts(text, |start, end, is_match| {
                if !is_match {
                    piece(start, end)
                }
            }),
            (Behavior::Isolated, _) => self.parts(text, |start, end, _| piece(start, end)),
            (behavior, invert) => {
                let mut joined = Joined { behavior, piece, held: None };
                self.parts(text, |start, end, is_match| joined.part(start, end, is_match != invert))?;
                joined.finish();
                Ok(())
            }
        }
    }

    /// Writes the next pieces to `pieces` and says how many; None if this step cannot go on from where it stopped.
    pub(super) fn fill(
        &self,
        text: &str,
        cursor: &mut SplitCursor,
        pieces: &mut [(u32, u32)],
    ) -> Result<Option<usize>> {
        if self.is_filled { self.finder.fill(text, &mut cursor.matches, pieces) } else { Ok(None) }
    }

    /// What `fill` reads with, if it goes on from where it stopped.
    pub(super) fn streamed(&self) -> Option<&Splitter> {
        self.finder.streamed().filter(|_| self.is_filled)
    }

    /// Calls `part(start, end, is_match)` for each match and gap.
    #[inline]
    fn parts(&self, text: &str, mut part: impl FnMut(usize, usize, bool)) -> Result<()> {
        let mut done = 0;
        self.finder.matches(text, |start, end| {
            if done < start {
                part(done, start, false);
            }
            part(start, end, true);
            done = end;
        })?;
        if done < text.len() {
            part(done, text.len(), false);
        }
        Ok(())
    }
}

/// Joins neighbours. The piece that may still grow is held back.
struct Joined<P> {
    behavior: Behavior,
    piece: P,
    /// The piece, and whether the part taken last was a match.
    held: Option<(usize, usize, bool)>,
}

impl<P: FnMut(usize, usize)> Joined<P> {
    fn part(&mut self, start: usize, end: usize, is_match: bool) {
        let from = match self.held {
            Some((from, _, was_match)) if self.joins(was_match, is_match) => from,
            _ => {
                self.finish();
                start
            }
        };
        self.held = Some((from, end, is_match));
    }

    fn joins(&self, was_match: bool, is_match: bool) -> bool {
        match self.behavior {
            Behavior::Contiguous => was_match == is_match,
            Behavior::MergedWithPrevious => !was_match && is_match,
            Behavior::MergedWithNext => was_match && !is_match,
            Behavior::Matches | Behavior::Removed | Behavior::Isolated => false,
        }
    }

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
        let mut found = Vec::new();
        let split = PatternSplit::compile(&pattern, behavior, invert).unwrap();
        split.split(text, |start, end| found.push(&text[start..end])).unwrap();
        found
    }

    #[test]
    fn the_behaviours() {
        let of = |behavior, invert| pieces("the-final--countdown", "-", false, behavior, invert).join("|");
        assert_eq!(of(Behavior::Matches, false), "-|-|-");
        assert_eq!(of(Behavior::Removed, false), "the|final|countdown");
        assert_eq!(of(Behavior::Removed, true), "-|-|-");
        assert_eq!(of(Behavior::Isolated, false), "the|-|final|-|-|countdown");
        assert_eq!(of(Behavior::MergedWithPrevious, false), "the-|final-|-|countdown");
        assert_eq!(of(Behavior::MergedWithPrevious, true), "the|-final|-|-countdown");
        assert_eq!(of(Behavior::MergedWithNext, false), "the|-final|-|-countdown");
        assert_eq!(of(Behavior::Contiguous, false), "the|-|final|--|countdown");
        assert_eq!(of(Behavior::Contiguous, true), "the|-|final|--|countdown");
    }

    #[test]
    fn empty_matches_cut() {
        assert_eq!(pieces("añb", "", false, Behavior::Isolated, false), ["a", "ñ", "b"]);
        assert_eq!(pieces("1234567", r"(?=(?:\d{3})+$)", true, Behavior::Isolated, false), ["1", "234", "567"]);
        assert_eq!(pieces("12", "", false, Behavior::Matches, false), [""; 0]);
        assert_eq!(pieces("", "", false, Behavior::Isolated, false), [""; 0]);
    }
}
