//! Where the search for the pieces of one text stands, from one call of `fill` to the next.

/// The state of a search. One for each text; made without an allocation.
#[derive(Default)]
pub struct SplitCursor {
    /// For a pattern.
    pub(super) matches: polytok_pattern::Cursor,
    /// For words: what was read. Beyond the text: its end was, too.
    pub(super) at: usize,
    /// All pieces of the text, in reverse order, where the split cannot stop midway.
    pub(super) rest: Option<Vec<(u32, u32)>>,
}

impl SplitCursor {
    /// Nothing is found yet.
    #[inline]
    pub fn new() -> SplitCursor {
        SplitCursor::default()
    }

    /// The end of the text was read: what was found last may depend on it.
    #[inline]
    pub fn saw_end(&self, text: &str) -> bool {
        self.at > text.len() || self.matches.saw_end(text)
    }
}
