//! Sorts all characters into classes, so that each set of a pattern is a set of classes.
//!
//! Two characters have the same class if exactly the same sets contain them. So the sets of a pattern are bit masks
//! over at most 63 classes, and the end of the text has a class of its own. A two-stage table has the class of each
//! code point: the high bits of the code point choose a block, and equal blocks are stored once. Building costs one
//! sweep over the ranges of the sets.

use super::char_ranges::CharRanges;
use hashbrown::HashMap;
use polytok_memory::{self as memory, Collect, Grow};

/// The number of code points in a block of the table.
const BLOCK: usize = 128;
/// The number of Unicode code points.
const CODE_POINT_COUNT: usize = 0x11_0000;

/// A set of classes: bit `i` is set if the set has class `i`.
pub(super) type Mask = u64;

/// The class of each code point.
pub(super) struct Classes {
    ascii: [u8; 128],
    block_of: Vec<u16>,
    blocks: Vec<u8>,
    /// The class of the end of the text, which is the number of classes of characters.
    pub(super) end: u8,
}

impl Classes {
    /// Builds the classes of at most 64 `sets`, and the mask of each set; None if there are too many classes.
    pub(super) fn build(sets: &[CharRanges]) -> Option<(Classes, Vec<Mask>)> {
        let mut masks = memory::zeroed(sets.len());
        let mut class_of: HashMap<u64, u8> = HashMap::default();
        let mut codes = memory::zeroed::<u8>(CODE_POINT_COUNT);
        for (start, end, members) in ranges_by_members(sets) {
            let next = class_of.len() as u8;
            let class = *class_of.entry(members).or_insert(next);
            if class >= Mask::BITS as u8 - 1 {
                return None;
            }
            codes[start..end].fill(class);
            for (index, mask) in masks.iter_mut().enumerate() {
                *mask |= (members >> index & 1) << class;
            }
        }
        let (block_of, blocks) = compress(&codes);
        let ascii = std::array::from_fn(|byte| codes[byte]);
        Some((Classes { ascii, block_of, blocks, end: class_of.len() as u8 }, masks))
    }

    /// Returns the number of classes, including the class of the end of the text.
    pub(super) fn count(&self) -> usize {
        self.end as usize + 1
    }

    /// Returns the class of the character at `pos` and the length of the character in bytes; at the end of the text,
    /// the class of the end and 0. `text` must be UTF-8 and `pos` the offset of a character or of the end.
    #[inline]
    pub(super) fn at(&self, text: &[u8], pos: usize) -> (u8, usize) {
        match text.get(pos) {
            None => (self.end, 0),
            Some(&byte) if byte < 0x80 => (self.ascii(byte), 1),
            Some(&lead) => self.at_multibyte(text, pos, lead),
        }
    }

    /// Returns the class of an ASCII character.
    #[inline]
    pub(super) fn ascii(&self, byte: u8) -> u8 {
        self.ascii[byte as usize]
    }

    /// Returns the length of the run of ASCII characters of `class` at the start of a text. Compares 32 characters
    /// together if their code points are near the first character's code point.
    pub(super) fn run_len(&self, text: &[u8], class: u8) -> usize {
        let has_class = |byte: u8| byte < 0x80 && self.ascii[byte as usize % 128] == class;
        let Some(&first) = text.first().filter(|&&byte| has_class(byte)) else { return 0 };
        let lowest = (0..first).rev().find(|&byte| !has_class(byte)).map_or(0, |byte| byte + 1);
        let span = (first..128).find(|&byte| !has_class(byte)).unwrap_or(128) - lowest;
        let is_near = |chunk: &[u8; 32]| chunk.iter().fold(true, |all, byte| all & (byte.wrapping_sub(lowest) < span));
        let (chunks, _) = text.as_chunks();
        let matching_chunks =
            chunks.iter().take_while(|chunk| is_near(chunk) || chunk.iter().all(|&byte| has_class(byte)));
        let at = 32 * matching_chunks.count();
        at + text[at..].iter().take_while(|&&byte| has_class(byte)).count()
    }

    /// Implements `at` for a character of two or more bytes.
    #[inline]
    fn at_multibyte(&self, text: &[u8], pos: usize, lead: u8) -> (u8, usize) {
        let low_bits = |at: usize| (text[pos + at] & 0x3F) as usize;
        let lead = lead as usize;
        if lead < 0xE0 {
            (self.class_of_code((lead & 0x1F) << 6 | low_bits(1)), 2)
        } else if lead < 0xF0 {
            (self.class_of_code((lead & 0x0F) << 12 | low_bits(1) << 6 | low_bits(2)), 3)
        } else {
            (self.class_of_code((lead & 0x07) << 18 | low_bits(1) << 12 | low_bits(2) << 6 | low_bits(3)), 4)
        }
    }

    /// Returns the class of a code point.
    #[inline]
    pub(super) fn class_of_code(&self, code: usize) -> u8 {
        self.blocks[self.block_of[code / BLOCK] as usize * BLOCK + code % BLOCK]
    }
}

/// Splits all code points into ranges whose members are in the same sets. Returns for each range the start, the end and
/// a mask; bit `i` of the mask is set if set `i` contains the range.
fn ranges_by_members(sets: &[CharRanges]) -> Vec<(usize, usize, u64)> {
    let mut edges: Vec<(usize, u64)> = vec![(0, 0), (CODE_POINT_COUNT, 0)];
    for (index, set) in sets.iter().enumerate() {
        for (first, last) in set.iter() {
            edges.checked_push((first as usize, 1 << index));
            edges.checked_push((last as usize + 1, 1 << index));
        }
    }
    edges.sort_unstable();
    let mut members = 0;
    let mut ranges = Vec::new();
    for pair in edges.windows(2) {
        members ^= pair[0].1;
        if pair[0].0 < pair[1].0 {
            ranges.checked_push((pair[0].0, pair[1].0, members));
        }
    }
    ranges
}

/// Splits codes into blocks: returns the number of the block at each position, and the distinct blocks in order of
/// first appearance.
fn compress(codes: &[u8]) -> (Vec<u16>, Vec<u8>) {
    let mut block_numbers: HashMap<&[u8], u16> = HashMap::default();
    let mut blocks = Vec::new();
    let block_of = codes
        .chunks(BLOCK)
        .map(|block| {
            let next = block_numbers.len() as u16;
            *block_numbers.entry(block).or_insert_with(|| {
                blocks.checked_extend_from_slice(block);
                next
            })
        })
        .checked_collect();
    (block_of, blocks)
}
