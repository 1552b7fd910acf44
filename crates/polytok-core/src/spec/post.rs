//! The template, which adds ids around texts, and the trimming of white space from the spans of tokens.

use crate::token_id::TokenId;

/// A part of the template around a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePart {
    /// These ids are inserted.
    Insert(Vec<TokenId>),
    /// The text is encoded here.
    Slot,
}

/// The kind of text at the ends of tokens that their spans do not cover (Hugging Face's byte-level post-processors).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimOffsets {
    /// Nothing.
    Nothing,
    /// White space.
    Space,
    /// White space, except a space that the normalizer inserted before the first token.
    SpaceExceptPrefix,
}
