//! Keeps the state of the search for the pieces of a text between two calls of `fill`.

/// The state of the search for the pieces of one text. A new cursor needs no allocation.
#[derive(Default)]
pub struct SplitCursor {
    /// The state of the search for a pattern.
    pub(super) matches: polytok_pattern::Cursor,
    /// The offset up to which words were read. The offset is larger than the length of the text if the search has also
    /// read the end of the text.
    pub(super) at: usize,
    /// The pieces that were not returned yet, from right to left, if the chain finds all pieces at once.
    pub(super) remaining_pieces: Option<Vec<(u32, u32)>>,
}

impl SplitCursor {
    /// Returns a cursor at the start of a text.
    #[inline]
    pub fn new() -> SplitCursor {
        SplitCursor::default()
    }

    /// Reports whether the end of the text was read, so that the last pieces can depend on where the text ends.
    #[inline]
    pub fn saw_end(&self, text: &str) -> bool {
        self.at > text.len() || self.matches.saw_end(text)
    }
}
