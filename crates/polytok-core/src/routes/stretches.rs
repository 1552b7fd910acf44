//! SentencePiece's text → stretches between proven cuts, in bulk, before anything is rewritten.
//!
//! Where the normalizer does nothing but make spaces visible, the text need not be rewritten: a space stands for U+2581, and
//! only a stretch that the cache does not know is shown to the model in the model's spelling. The proof of a cut is that of
//! `boundary`: between two characters that are adjacent in no entry nothing can merge. It is asked in three ways. Of two
//! ASCII bytes a table says whether there is a cut between them, 64 at a time. Any other character has a number that says
//! whether some entry has anything before or behind it, which settles most cases; what is left is looked for in a set of pairs.
//!
//! A character between two cuts is a stretch of its own. Its number also holds the id that it becomes, or that it becomes the
//! ids of its bytes, so that scripts whose characters hardly merge need no cache. User-defined pieces are found beforehand.
//! Bytes that are no UTF-8 are what the normalizer makes of them: each is a U+FFFD.
//!
//! Cost: linear; the longest user-defined piece for each place where one may start. Twin: the rewritten text, in `boundary`.

mod compile;
mod lazy;
mod scan;
#[cfg(test)]
mod tests;

use crate::boundary::char_table::CharTable;
use crate::boundary::pair_set::PairSet;
use crate::normalize::Escape;
use crate::trie::Trie;

pub use lazy::LazyStretches;
pub use scan::{Batch, ROOM};

/// What a text must have behind it, so that reading many bytes at once never reads beyond its end.
const PADDING: usize = 64;

/// Longer texts might not fit when they are rewritten; what is then to be done is done elsewhere.
const LONGEST: usize = u32::MAX as usize / 3 - PADDING;

/// Some entry has a character before this one.
const JOINS_LEFT: u32 = 1 << 31;
/// Some entry has a character behind this one.
const JOINS_RIGHT: u32 = 1 << 30;
/// The other bits: the id that the character alone becomes, or one of the numbers below.
const VALUE: u32 = (1 << 30) - 1;

/// Not an id: the cache or the model must be asked.
pub const PIECE: u32 = VALUE;
/// Not an id: the bytes' ids.
pub const BYTES: u32 = VALUE - 1;
/// Not an id: a byte that is no character, where no entry joins U+FFFD to anything.
pub const INVALID: u32 = VALUE - 2;

/// The compiled tables.
pub struct Stretches {
    escape: Escape,
    /// For two ASCII bytes, the first one low, 1 if there is a cut between them.
    cuts: Box<[u8; 1 << 16]>,
    chars: CharTable,
    /// What ASCII characters alone become; `PIECE` for other bytes.
    ascii: [u32; 256],
    pairs: PairSet,
    frozen: Option<Frozen>,
    /// What unknown characters become byte by byte.
    bytes: Option<Box<[u32; 256]>>,
    /// What a U+FFFD becomes, if that are ids.
    replacement: Option<Vec<u32>>,
    /// The number of a byte that is no character: that of U+FFFD, or `INVALID`, which joins nothing.
    invalid: u32,
}

/// User-defined pieces that are found before anything else.
struct Frozen {
    trie: Trie,
    /// Bytes that they start with.
    starts: [bool; 256],
}

impl Stretches {
    /// Whether this text may be cut here.
    pub fn can_take(&self, text: &[u8]) -> bool {
        text.len() < LONGEST && (self.escape.mends || std::str::from_utf8(text).is_ok())
    }

    /// The text as `fill` takes it, in `buffer`; where it ends there.
    pub fn load(&self, text: &[u8], buffer: &mut Vec<u8>) -> usize {
        buffer.clear();
        buffer.reserve(text.len() + 1 + PADDING);
        if self.escape.has_prefix && !text.is_empty() {
            buffer.push(b' ');
        }
        buffer.extend_from_slice(text);
        let end = buffer.len();
        buffer.resize(end + PADDING, 0);
        end
    }

    /// The ids of the bytes of unknown text.
    #[inline]
    pub fn bytes(&self) -> Option<&[u32; 256]> {
        self.bytes.as_deref()
    }

    /// The ids of a byte that is no character; None if it is unknown.
    pub fn replacement(&self) -> Option<&[u32]> {
        self.replacement.as_deref()
    }
}
