//! Where a pattern matches: a plain text, or a regular expression through a [`Splitter`].
//!
//! Reference: Hugging Face's `Pattern::find_matches`: matches do not overlap, leftmost first; the empty text matches at every
//! border of a character, and nothing matches in an empty text. Cost: linear for a plain text.

use memchr::memmem;
use polytok_pattern::{Cursor, Splitter};

use crate::error::Result;
use crate::spec::Pattern;

/// A compiled pattern.
pub struct PatternFinder {
    search: PatternSearch,
}

enum PatternSearch {
    Text(Box<memmem::Finder<'static>>),
    Borders,
    Regex(Splitter),
}

impl PatternFinder {
    /// Compiles a pattern. `Error::Spec` if it is a regular expression that the engine cannot read.
    pub fn compile(pattern: &Pattern) -> Result<PatternFinder> {
        let search = if pattern.is_regex {
            PatternSearch::Regex(Splitter::compile_for(&pattern.text, pattern.unicode.as_deref())?)
        } else if pattern.text.is_empty() {
            PatternSearch::Borders
        } else {
            PatternSearch::Text(Box::new(memmem::Finder::new(&pattern.text).into_owned()))
        };
        Ok(PatternFinder { search })
    }

    /// Reports whether the matches provably cover every text.
    pub fn covers_text(&self) -> bool {
        matches!(&self.search, PatternSearch::Regex(splitter) if splitter.covers_text())
    }

    /// The pattern, if `fill` goes on from where it stopped.
    pub fn streamed(&self) -> Option<&Splitter> {
        if let PatternSearch::Regex(splitter) = &self.search {
            Some(splitter).filter(|splitter| splitter.is_stream())
        } else {
            None
        }
    }

    /// The text that is looked for, if it is a plain one that is not empty.
    pub fn plain(&self) -> Option<&str> {
        let PatternSearch::Text(finder) = &self.search else { return None };
        std::str::from_utf8(finder.needle()).ok()
    }

    /// A plain text that is not empty is looked for.
    pub fn is_plain(&self) -> bool {
        matches!(self.search, PatternSearch::Text(_))
    }

    /// This plain text is looked for.
    pub fn is_of(&self, text: &str) -> bool {
        matches!(&self.search, PatternSearch::Text(finder) if finder.needle() == text.as_bytes())
    }

    /// A pattern that is run by the scanner is looked for.
    pub fn is_scanner(&self) -> bool {
        matches!(&self.search, PatternSearch::Regex(splitter) if splitter.is_scanner())
    }

    /// Calls `found(start, end)` for each match, left to right. `Error::Encode` if the search gives up.
    #[inline]
    pub fn matches(&self, text: &str, mut found: impl FnMut(usize, usize)) -> Result<()> {
        match &self.search {
            _ if text.is_empty() => {}
            PatternSearch::Regex(splitter) => splitter.split(text, found)?,
            PatternSearch::Text(finder) => {
                let len = finder.needle().len();
                finder.find_iter(text.as_bytes()).for_each(|at| found(at, at + len));
            }
            PatternSearch::Borders => {
                text.char_indices().for_each(|(at, _)| found(at, at));
                found(text.len(), text.len());
            }
        }
        Ok(())
    }

    /// Writes the next matches to `pieces` and says how many; None if this search cannot go on from where it stopped.
    pub fn fill(&self, text: &str, cursor: &mut Cursor, pieces: &mut [(u32, u32)]) -> Result<Option<usize>> {
        Ok(match &self.search {
            PatternSearch::Regex(splitter) => Some(splitter.fill(text, cursor, pieces)?),
            PatternSearch::Text(_) | PatternSearch::Borders => None,
        })
    }
}
