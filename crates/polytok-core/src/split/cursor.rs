//! Where the search for the pieces of one text stands, from one call of `fill` to the next.

use super::scanner::Failures;

/// The state of a search. One for each text; made without an allocation.
pub struct Cursor {
    /// All pieces before it are found.
    pub(super) at: usize,
    /// What the scanner remembers of this text.
    pub(super) failures: Failures,
    /// All pieces of the text, in reverse order, where the split cannot stop midway.
    pub(super) rest: Option<Vec<(u32, u32)>>,
}

impl Cursor {
    /// Nothing is found yet.
    #[inline]
    pub fn new() -> Cursor {
        Cursor { at: 0, failures: Failures::new(), rest: None }
    }
}

impl Default for Cursor {
    fn default() -> Cursor {
        Cursor::new()
    }
}
