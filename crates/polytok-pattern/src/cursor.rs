//! The state of the search for the pieces of a text, from one call of `fill` to the next.

use super::automaton::MAX_LEVELS;
use super::blocks::Block;
use super::regex::Search;
use super::scanner::Failures;

/// The state of a search in one text. Creating a cursor allocates nothing.
pub struct Cursor {
    /// The number of bytes read; the class of the end of the text counts as one byte.
    pub(super) at: usize,
    /// The row of the automaton's current state.
    pub(super) row: usize,
    /// The end of the last piece.
    pub(super) from: u32,
    /// The offset up to which all ends have been found by the rule.
    pub(super) checked_to: usize,
    /// The offset up to which the automaton must read before the rule is used again.
    pub(super) must_read_to: usize,
    /// The block that the rule has read last.
    pub(super) block: Block,
    /// The pending candidates of the automaton.
    pub(super) candidates: [u32; MAX_LEVELS],
    /// The failures that the scanner recorded in this text.
    pub(super) failures: Failures,
    /// The state of the general engine.
    pub(super) search: Search,
}

impl Cursor {
    /// Creates a cursor at the start of a text.
    #[inline]
    pub fn new() -> Cursor {
        Cursor {
            at: 0,
            row: 0,
            from: 0,
            checked_to: 0,
            must_read_to: 0,
            block: Block::default(),
            candidates: [0; MAX_LEVELS],
            failures: Failures::new(),
            search: Search::default(),
        }
    }

    /// Reports whether the end of the text was read, so that the last pieces can depend on the end.
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
