//! The group of each character, found from its UTF-8 with two reads and without a branch on how many bytes there are, up to three.
//!
//! The lead byte and the next one choose a block, the third byte a cell of it. Equal blocks are stored once, so the characters
//! of two bytes, for which the third byte means nothing, share one block for each group; so do most of the large scripts.
//! Characters of four bytes go through their class. Building looks up each character of up to three bytes once.

use super::classes::Classes;
use std::collections::HashMap;

/// Cells of a block: what a byte behind the first can be.
const BLOCK: usize = 64;
/// The pairs of a lead byte from 0xC0 on and the byte behind it.
const PAIRS: usize = 64 * BLOCK;
/// Lead bytes of two and of three bytes.
const TWO: std::ops::Range<usize> = 0xC2..0xE0;
const THREE: std::ops::Range<usize> = 0xE0..0xF0;

/// The tables.
pub(super) struct CharGroups {
    /// The group of each ASCII byte.
    pub(super) ascii: [u8; 128],
    /// The group of each class.
    of_class: [u8; 64],
    /// Where the block of a pair begins.
    pairs: Box<[u32; PAIRS]>,
    blocks: Vec<u8>,
}

impl CharGroups {
    pub(super) fn build(classes: &Classes, of_class: [u8; 64]) -> CharGroups {
        let group = |code: usize| of_class[classes.of(code) as usize];
        let mut groups =
            CharGroups { ascii: std::array::from_fn(group), of_class, pairs: Box::new([0; PAIRS]), blocks: Vec::new() };
        let mut known = HashMap::new();
        for pair in TWO.start % 64 * BLOCK..THREE.end % 64 * BLOCK {
            let (lead, next) = (pair / BLOCK + 0xC0, pair % BLOCK);
            let block: [u8; BLOCK] = match TWO.contains(&lead) {
                true => [group((lead - 0xC0) << 6 | next); BLOCK],
                false => std::array::from_fn(|last| group((lead - 0xE0) << 12 | next << 6 | last)),
            };
            groups.pairs[pair] = *known.entry(block).or_insert_with(|| {
                groups.blocks.extend(block);
                (groups.blocks.len() - BLOCK) as u32
            });
        }
        groups
    }

    /// The group of the character whose UTF-8 these bytes begin with.
    // It is called from functions for other processor features, into which it would not be inlined by itself.
    #[inline(always)]
    pub(super) fn first(&self, classes: &Classes, bytes: [u8; 4]) -> u8 {
        let lead = bytes[0];
        if lead >= 0xF0 {
            return self.of_class[(classes.at(&bytes, 0).0 & 63) as usize];
        }
        let all = u32::from_le_bytes(bytes) as usize;
        let block = self.pairs[(all << 6 & 0xFC0) | (all >> 8 & 0x3F)] as usize;
        let beyond = self.blocks[block + (all >> 16 & 0x3F)];
        let ascii = self.ascii[(lead & 0x7F) as usize];
        if lead < 0x80 { ascii } else { beyond }
    }
}
