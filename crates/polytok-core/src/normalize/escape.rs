//! Spaces made visible: the rewriting that SentencePiece's models and their descendants need, if it is all that is done
//! to a text.

use crate::space_mark;

/// A rewriting that leaves all as it is, except that each space becomes U+2581.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Escape {
    /// Which texts get a space before them.
    pub prefix: Prefix,
    /// The span of that space is the first character, as in Hugging Face's steps; else it covers nothing.
    pub covers_first: bool,
    /// Bytes that are not UTF-8 become U+FFFD.
    pub mends: bool,
}

/// Which texts get a space before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// None.
    Never,
    /// All that are not empty.
    Always,
    /// Those that do not start with one.
    UnlessSpace,
    /// The same, if they start where the caller's text starts.
    FirstUnlessSpace,
}

impl Prefix {
    /// Whether this text, which starts at byte `at` of the caller's, gets one.
    #[inline]
    pub fn applies(self, text: &[u8], at: usize) -> bool {
        let has_none = || !text.starts_with(b" ") && !text.starts_with(space_mark::BYTES);
        !text.is_empty()
            && match self {
                Prefix::Never => false,
                Prefix::Always => true,
                Prefix::UnlessSpace => has_none(),
                Prefix::FirstUnlessSpace => at == 0 && has_none(),
            }
    }
}
