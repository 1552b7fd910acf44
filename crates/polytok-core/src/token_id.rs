//! A type for the ids of tokens.

use std::fmt;

use bytemuck::allocation::TransparentWrapperAlloc;
use bytemuck::{Pod, TransparentWrapper, Zeroable};

/// The id of a token. Ids, rows of the vocabulary and symbols of BPE are different numbers, so each of them has a type.
///
/// Ids are plain `u32` outside the engine: in the columns of a Spec, in the vectors that sinks fill for NumPy and
/// Arrow, and in the arguments of [`Tokenizer`](crate::tokenizer::Tokenizer). A trie stores ids as plain `u32` too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, TransparentWrapper)]
#[repr(transparent)]
pub struct TokenId(pub u32);

impl TokenId {
    /// A marker for text that no vocabulary entry covers. No token has this id.
    pub const UNKNOWN: TokenId = TokenId(u32::MAX);

    /// Views numbers as ids, without a copy.
    #[inline(always)]
    pub fn slice_of(numbers: &[u32]) -> &[TokenId] {
        TokenId::wrap_slice(numbers)
    }

    /// Converts numbers to ids, without a copy.
    #[inline]
    pub fn vec_of(numbers: Vec<u32>) -> Vec<TokenId> {
        TokenId::wrap_vec(numbers)
    }

    /// Views ids as numbers, without a copy.
    #[inline(always)]
    pub fn numbers(ids: &[TokenId]) -> &[u32] {
        TokenId::peel_slice(ids)
    }

    /// Returns the index of the id in a table that is indexed by ids.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
