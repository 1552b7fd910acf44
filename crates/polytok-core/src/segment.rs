//! What a model gives: parts of a text, each with the entry that covers it.

use crate::error::Result;

/// The id of a segment that no vocabulary entry covers.
pub const UNKNOWN: u32 = u32::MAX;

/// A part of the normalized text and the entry that covers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The entry's id, or [`UNKNOWN`].
    pub id: u32,
    /// Where it starts in the normalized text, in bytes.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

/// Calls its second argument with the start and end of each piece of a text, left to right.
pub type PieceSource<'a> = dyn Fn(&str, &mut dyn FnMut(usize, usize)) -> Result<()> + 'a;
