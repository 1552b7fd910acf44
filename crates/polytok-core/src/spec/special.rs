//! Special and added tokens.

use crate::token_id::TokenId;

/// A special token: a text that is encoded as one id, before the other steps of the pipeline run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpecialToken {
    /// The text to search for.
    pub text: Vec<u8>,
    /// The id of the token.
    pub id: TokenId,
    /// True if the token is always recognized, even if the caller does not allow it.
    pub always: bool,
    /// True if the token is not recognized next to a letter, digit or underscore.
    pub single_word: bool,
    /// True if the white space before the token becomes a part of the token.
    pub lstrip: bool,
    /// True if the white space after the token becomes a part of the token.
    pub rstrip: bool,
    /// True if the normalized text of the token is searched for in the normalized text.
    pub normalized: bool,
}

/// The rule that chooses between overlapping special tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// The leftmost token is taken; of several tokens at the same offset, the longest is taken.
    #[default]
    Longest,
    /// The leftmost token is taken; of several tokens at the same offset, the first listed is taken (minbpe).
    Listed,
    /// The longest token in the whole text is taken, then the next longest in the remaining parts (llama.cpp).
    LongestFirst,
}
