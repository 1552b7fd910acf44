//! What a model gives: parts of a text, each with the entry that covers it.

use crate::error::Result;
use crate::token_id::TokenId;

/// A part of the normalized text and the entry that covers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The entry's id, or [`TokenId::UNKNOWN`].
    pub id: TokenId,
    /// Where it starts in the normalized text, in bytes.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

/// Calls its second argument with the start and end of each piece of a text, left to right.
pub type PieceSource<'a> = dyn Fn(&str, &mut dyn FnMut(usize, usize)) -> Result<()> + 'a;
