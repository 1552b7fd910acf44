//! Proves that no special token reaches over an offset, whatever text stands before and after it.
//!
//! A token reaches over the offset only if its text has the two bytes next to the offset as neighbours, if `lstrip` or
//! `rstrip` add white space from the other side, or if `single_word` reads the character on the other side. Searches
//! before and after the offset are then independent, because matches are leftmost and do not overlap.
//!
//! A token that is not UTF-8 can end inside the character before the offset. The other proofs do not know the rest of
//! such a character, so a set with such a token has no proof. No known file format has special tokens like this.

use super::SpecialSet;
use super::finder::SpecialFinder;
use crate::boundary::neighbours::BytePairs;
use crate::utf8::valid;

/// The bytes of special tokens that decide whether a token can reach over an offset.
pub(super) struct TokenEdges {
    /// The pairs of bytes that are adjacent in a token.
    pairs: BytePairs,
    /// The last bytes of tokens.
    last: ByteSet,
    /// The last bytes of tokens with `rstrip`.
    last_of_rstrip: ByteSet,
    /// The first and last bytes of tokens with `single_word`.
    ends_of_single_words: [ByteSet; 2],
    has_lstrip: bool,
    has_rstrip: bool,
    are_utf8: bool,
}

/// A set of bytes.
struct ByteSet([bool; 256]);

impl ByteSet {
    fn collect(bytes: impl Iterator<Item = u8>) -> ByteSet {
        let mut set = ByteSet([false; 256]);
        bytes.for_each(|byte| set.0[byte as usize] = true);
        set
    }

    fn has(&self, byte: u8) -> bool {
        self.0[byte as usize]
    }
}

/// The characters next to an offset, and what the parts of a text depend on.
#[derive(Clone, Copy, Debug)]
pub struct SpecialJoint {
    /// The character before the offset.
    pub left: char,
    /// The character after the offset.
    pub right: char,
    /// True if a text is normalized in another way at its start, so that a special token before the offset has an
    /// effect on the text after it.
    pub starts_differ: bool,
}

impl SpecialSet {
    /// Reports whether no token that is searched for in the text before normalization reaches over the offset.
    pub fn is_independent(&self, joint: SpecialJoint) -> bool {
        self.raw.as_ref().is_none_or(|finder| finder.edges().is_independent(joint))
    }

    /// Reports whether no token that is searched for in the normalized text reaches over the offset.
    pub fn is_independent_in_normalized(&self, joint: SpecialJoint) -> bool {
        self.normalized.as_ref().is_none_or(|finder| finder.edges().is_independent(joint))
    }
}

impl TokenEdges {
    pub(super) fn new(finder: &SpecialFinder) -> TokenEdges {
        let tokens = || finder.tokens.iter().zip(&finder.texts);
        let last_of = |(_, text): (_, &Vec<u8>)| text.last().copied();
        let first_of = |(_, text): (_, &Vec<u8>)| text.first().copied();
        let single_words = || tokens().filter(|(token, _)| token.single_word);
        TokenEdges {
            pairs: BytePairs::from_entries(finder.texts.iter().map(Vec::as_slice)),
            last: ByteSet::collect(tokens().filter_map(last_of)),
            last_of_rstrip: ByteSet::collect(tokens().filter(|(token, _)| token.rstrip).filter_map(last_of)),
            ends_of_single_words: [
                ByteSet::collect(single_words().filter_map(first_of)),
                ByteSet::collect(single_words().filter_map(last_of)),
            ],
            has_lstrip: finder.tokens.iter().any(|token| token.lstrip),
            has_rstrip: finder.tokens.iter().any(|token| token.rstrip),
            are_utf8: finder.texts.iter().all(|text| valid(text).is_ok()),
        }
    }

    fn is_independent(&self, SpecialJoint { left, right, starts_differ }: SpecialJoint) -> bool {
        let (mut left_buffer, mut right_buffer) = ([0; 4], [0; 4]);
        let last = *left.encode_utf8(&mut left_buffer).as_bytes().last().unwrap_or(&0);
        let first = right.encode_utf8(&mut right_buffer).as_bytes()[0];
        let [first_of_single_words, last_of_single_words] = &self.ends_of_single_words;
        let strips_over = left.is_whitespace() && (self.has_lstrip || self.has_rstrip)
            || right.is_whitespace() && self.last_of_rstrip.has(last);
        let reads_over = self.pairs.has(last, first)
            || first_of_single_words.has(first)
            || last_of_single_words.has(last)
            || starts_differ && self.last.has(last);
        self.are_utf8 && !reads_over && !strips_over
    }
}
