//! Makes spaces visible as U+2581, as SentencePiece's models and the models derived from SentencePiece need.

use crate::space_mark;

/// A normalization that only replaces each space by U+2581 and can insert a space before the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Escape {
    /// The rule that decides which texts get a space before them.
    pub prefix: Prefix,
    /// True if the inserted space gets the span of the first character, as in Hugging Face's steps; false if it gets an
    /// empty span.
    pub covers_first: bool,
    /// True if bytes that are not UTF-8 are replaced by U+FFFD.
    pub replaces_invalid: bool,
}

/// The rule that decides which texts get a space before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// No text gets a space.
    Never,
    /// All texts that are not empty get a space.
    Always,
    /// Texts that do not start with a space get a space.
    UnlessSpace,
    /// Texts that do not start with a space get a space, but only at the start of the caller's text.
    FirstUnlessSpace,
}

impl Prefix {
    /// Reports whether `text`, which starts at byte `at` of the caller's text, gets a space.
    #[inline]
    pub fn adds_space(self, text: &[u8], at: usize) -> bool {
        let has_no_space = || !text.starts_with(b" ") && !text.starts_with(space_mark::BYTES);
        !text.is_empty()
            && match self {
                Prefix::Never => false,
                Prefix::Always => true,
                Prefix::UnlessSpace => has_no_space(),
                Prefix::FirstUnlessSpace => at == 0 && has_no_space(),
            }
    }
}
