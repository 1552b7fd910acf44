//! A segment: a part of a text with its vocabulary entry, as a model returns it.

use crate::error::Result;
use crate::token_id::TokenId;

/// A part of the normalized text with its vocabulary entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The id of the entry, or [`TokenId::UNKNOWN`].
    pub id: TokenId,
    /// The offset of the segment's first byte in the normalized text.
    pub start: u32,
    /// The offset after the segment's last byte.
    pub end: u32,
}

/// A function that splits a text: it calls the function that is its second argument with the start and end of each
/// piece, from left to right.
pub type PieceSource<'a> = dyn Fn(&str, &mut dyn FnMut(usize, usize)) -> Result<()> + 'a;
