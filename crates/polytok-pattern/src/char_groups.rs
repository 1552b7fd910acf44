//! Finds the group of a character from its UTF-8 with two reads. Characters of one to three bytes need no branch on
//! their length.
//!
//! The first two bytes choose a block, and the third byte a cell of the block. Equal blocks are stored once. For a
//! character of two bytes, the third byte has no effect, so each group needs only one block for all its characters of
//! two bytes; most large scripts share blocks too. For a character of four bytes, the group is found from the class of
//! the character. Building looks up each character of up to three bytes once.

use super::classes::Classes;
use std::collections::HashMap;

use polytok_memory::Grow;

/// The number of cells of a block: one for each value of a continuation byte.
const BLOCK: usize = 64;
/// The number of pairs of a lead byte (from 0xC0 on) and a continuation byte.
const PAIR_COUNT: usize = 64 * BLOCK;
/// The lead bytes of characters of two bytes.
const TWO_BYTE_LEADS: std::ops::Range<usize> = 0xC2..0xE0;
/// The lead bytes of characters of three bytes.
const THREE_BYTE_LEADS: std::ops::Range<usize> = 0xE0..0xF0;

/// The tables from characters to groups.
pub(super) struct CharGroups {
    /// The group of each ASCII byte.
    pub(super) ascii: [u8; 128],
    /// The group of each class.
    group_of_class: [u8; 64],
    /// For each pair of bytes, the offset of its block in `blocks`.
    pairs: Box<[u32; PAIR_COUNT]>,
    blocks: Vec<u8>,
}

impl CharGroups {
    pub(super) fn build(classes: &Classes, group_of_class: [u8; 64]) -> CharGroups {
        let group = |code: usize| group_of_class[classes.class_of_code(code) as usize];
        let mut groups = CharGroups {
            ascii: std::array::from_fn(group),
            group_of_class,
            pairs: Box::new([0; PAIR_COUNT]),
            blocks: Vec::new(),
        };
        let mut block_offsets = HashMap::new();
        for pair in TWO_BYTE_LEADS.start % 64 * BLOCK..THREE_BYTE_LEADS.end % 64 * BLOCK {
            let (lead, next) = (pair / BLOCK + 0xC0, pair % BLOCK);
            let block: [u8; BLOCK] = match TWO_BYTE_LEADS.contains(&lead) {
                true => [group((lead - 0xC0) << 6 | next); BLOCK],
                false => std::array::from_fn(|last| group((lead - 0xE0) << 12 | next << 6 | last)),
            };
            groups.pairs[pair] = *block_offsets.entry(block).or_insert_with(|| {
                groups.blocks.checked_extend(block);
                (groups.blocks.len() - BLOCK) as u32
            });
        }
        groups
    }

    /// Returns the group of the first character of `bytes`, which must be UTF-8.
    // The attribute is needed: callers that are compiled for other processor features would not inline the function.
    #[inline(always)]
    pub(super) fn first(&self, classes: &Classes, bytes: [u8; 4]) -> u8 {
        let ascii = self.ascii[(bytes[0] & 0x7F) as usize];
        let other = self.first_non_ascii(classes, bytes);
        if bytes[0] < 0x80 { ascii } else { other }
    }

    /// Returns the group of the first character of `bytes` if that character is not ASCII; for ASCII, any group.
    #[inline(always)]
    pub(super) fn first_non_ascii(&self, classes: &Classes, bytes: [u8; 4]) -> u8 {
        if bytes[0] >= 0xF0 {
            return self.group_of_class[(classes.at(&bytes, 0).0 & 63) as usize];
        }
        let word = u32::from_le_bytes(bytes) as usize;
        let block = self.pairs[(word << 6 & 0xFC0) | (word >> 8 & 0x3F)] as usize;
        self.blocks[block + (word >> 16 & 0x3F)]
    }
}
