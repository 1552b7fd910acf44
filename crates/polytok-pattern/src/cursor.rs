//! Where the search for the pieces of one text stands, from one call of `fill` to the next.

use super::automaton::MAX_LEVELS;
use super::regex::Search;
use super::scanner::Failures;

/// The state of a search. One for each text; made without an allocation.
pub struct Cursor {
    /// What was read. Beyond the text: its end was, too.
    pub(super) at: usize,
    /// The state of the automaton.
    pub(super) row: usize,
    /// The end of the last piece.
    pub(super) from: u32,
    /// All ends before it are found by the rule.
    pub(super) sure: usize,
    /// The automaton has to find an end here or after it.
    pub(super) ask: usize,
    /// Candidates for the next ends.
    pub(super) waiting: [u32; MAX_LEVELS],
    /// What the scanner remembers of this text.
    pub(super) failures: Failures,
    /// Where the general engine stands.
    pub(super) search: Search,
}

impl Cursor {
    /// Nothing is found yet.
    #[inline]
    pub fn new() -> Cursor {
        Cursor {
            at: 0,
            row: 0,
            from: 0,
            sure: 0,
            ask: 0,
            waiting: [0; MAX_LEVELS],
            failures: Failures::new(),
            search: Search::default(),
        }
    }

    /// The end of the text was read: what was found last may depend on it.
    #[inline]
    pub fn saw_end(&self, text: &str) -> bool {
        self.at > text.len()
    }
}

impl Default for Cursor {
    fn default() -> Cursor {
        Cursor::new()
    }
}
