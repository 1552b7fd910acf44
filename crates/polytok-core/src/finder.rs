//! Finds the matches of a pattern. A pattern is a literal text or a regular expression, which a [`Splitter`] runs.
//!
//! Reference: Hugging Face's `Pattern::find_matches`. Matches are leftmost and do not overlap. The empty pattern
//! matches at the start of every character and at the end of the text. Nothing matches in an empty text. Cost: linear
//! for a literal text.

use memchr::memmem;
use polytok_pattern::{Cursor, Splitter};

use crate::error::Result;
use crate::spec::Pattern;

/// A compiled pattern.
pub struct PatternFinder {
    search: PatternSearch,
}

/// The search algorithm for a pattern.
enum PatternSearch {
    /// A literal text.
    Literal(Box<memmem::Finder<'static>>),
    /// The empty pattern, which matches between characters.
    Empty,
    /// A regular expression.
    Regex(Splitter),
}

impl PatternFinder {
    /// Compiles a pattern. Returns `Error::Spec` if the engine cannot read the regular expression.
    pub fn compile(pattern: &Pattern) -> Result<PatternFinder> {
        let search = if pattern.is_regex {
            PatternSearch::Regex(Splitter::compile_for(&pattern.text, pattern.unicode.as_deref())?)
        } else if pattern.text.is_empty() {
            PatternSearch::Empty
        } else {
            PatternSearch::Literal(Box::new(memmem::Finder::new(&pattern.text).into_owned()))
        };
        Ok(PatternFinder { search })
    }

    /// Reports whether the matches are proven to cover every text without gaps.
    pub fn covers_text(&self) -> bool {
        matches!(&self.search, PatternSearch::Regex(splitter) if splitter.covers_text())
    }

    /// Returns the regular expression, if a search for it can stop and later continue at the same offset.
    pub fn as_stream(&self) -> Option<&Splitter> {
        if let PatternSearch::Regex(splitter) = &self.search {
            Some(splitter).filter(|splitter| splitter.is_stream())
        } else {
            None
        }
    }

    /// Reports whether the pattern is a literal text that `text` does not contain.
    pub fn is_literal_outside(&self, text: &[u8]) -> bool {
        matches!(&self.search, PatternSearch::Literal(finder) if finder.find(text).is_none())
    }

    /// Reports whether the pattern is a literal text that is not empty.
    pub fn is_literal(&self) -> bool {
        matches!(self.search, PatternSearch::Literal(_))
    }

    /// Returns the literal text that the pattern is; None if the pattern is empty, not UTF-8 or a regular expression.
    pub fn literal(&self) -> Option<&str> {
        if let PatternSearch::Literal(finder) = &self.search { std::str::from_utf8(finder.needle()).ok() } else { None }
    }

    /// Returns the regular expression, if the pattern is one.
    pub fn as_regex(&self) -> Option<&Splitter> {
        if let PatternSearch::Regex(splitter) = &self.search { Some(splitter) } else { None }
    }

    /// Reports whether the pattern is the literal `text`.
    pub fn is_literal_of(&self, text: &str) -> bool {
        matches!(&self.search, PatternSearch::Literal(finder) if finder.needle() == text.as_bytes())
    }

    /// Reports whether the pattern is a regular expression that the scanner runs.
    pub fn is_scanner(&self) -> bool {
        matches!(&self.search, PatternSearch::Regex(splitter) if splitter.is_scanner())
    }

    /// Calls `on_match(start, end)` for each match, from left to right. Returns `Error::Encode` if the search gives up.
    #[inline]
    pub fn for_each_match(&self, text: &str, mut on_match: impl FnMut(usize, usize)) -> Result<()> {
        match &self.search {
            _ if text.is_empty() => {}
            PatternSearch::Regex(splitter) => splitter.split(text, on_match)?,
            PatternSearch::Literal(finder) => {
                let len = finder.needle().len();
                finder.find_iter(text.as_bytes()).for_each(|at| on_match(at, at + len));
            }
            PatternSearch::Empty => {
                text.char_indices().for_each(|(at, _)| on_match(at, at));
                on_match(text.len(), text.len());
            }
        }
        Ok(())
    }

    /// Derives the rule that `fill` would otherwise derive later.
    pub fn warm_up(&self) {
        if let PatternSearch::Regex(splitter) = &self.search {
            splitter.prepare();
        }
    }

    /// Writes the next matches to `pieces` and returns their number. Returns None if a search for this pattern cannot
    /// stop and later continue.
    pub fn fill(&self, text: &str, cursor: &mut Cursor, pieces: &mut [(u32, u32)]) -> Result<Option<usize>> {
        Ok(match &self.search {
            PatternSearch::Regex(splitter) => Some(splitter.fill(text, cursor, pieces)?),
            PatternSearch::Literal(_) | PatternSearch::Empty => None,
        })
    }
}
