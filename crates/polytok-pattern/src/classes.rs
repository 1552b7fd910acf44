//! All characters sorted into classes that no set of the pattern tells apart.
//!
//! Two characters are of one class when exactly the same sets hold them; the atoms of a pattern then are bit masks over
//! at most 63 classes, and the end of the text is one class more. The class of a code point is found in a two-stage
//! table: its high bits name a block, equal blocks are stored once. Building costs one sweep over the ranges.

use super::char_ranges::CharRanges;
use hashbrown::HashMap;

/// Code points in a block of the table.
const BLOCK: usize = 128;
/// Code points there are.
const CODES: usize = 0x11_0000;

/// A set of classes, bit by bit.
pub(super) type Mask = u64;

/// The class of each code point.
pub(super) struct Classes {
    ascii: [u8; 128],
    block_of: Vec<u16>,
    blocks: Vec<u8>,
    /// The class of the end of the text, one after those of characters.
    pub(super) end: u8,
}

impl Classes {
    /// The classes of `sets` (at most 64) and each set's mask, or `None` if there are too many classes.
    pub(super) fn build(sets: &[CharRanges]) -> Option<(Classes, Vec<Mask>)> {
        let mut masks = vec![0; sets.len()];
        let mut class_of: HashMap<u64, u8> = HashMap::default();
        let mut codes = vec![0u8; CODES];
        for (start, end, members) in stretches(sets) {
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

    /// The number of classes, the end of the text included.
    pub(super) fn count(&self) -> usize {
        self.end as usize + 1
    }

    /// The class of the character at `pos` and its length in bytes; at the end of the text its class and 0.
    /// `text` is valid UTF-8 and `pos` the border of a character.
    #[inline]
    pub(super) fn at(&self, text: &[u8], pos: usize) -> (u8, usize) {
        match text.get(pos) {
            None => (self.end, 0),
            Some(&byte) if byte < 0x80 => (self.ascii(byte), 1),
            Some(&lead) => self.wide(text, pos, lead),
        }
    }

    /// The class of an ASCII character.
    #[inline]
    pub(super) fn ascii(&self, byte: u8) -> u8 {
        self.ascii[byte as usize]
    }

    /// How many bytes a text begins with that are ASCII characters of this class. Those near to the first one in the order of
    /// characters are compared many at a time.
    pub(super) fn run(&self, text: &[u8], class: u8) -> usize {
        let is_of = |byte: u8| byte < 0x80 && self.ascii[byte as usize % 128] == class;
        let Some(&first) = text.first().filter(|&&byte| is_of(byte)) else { return 0 };
        let least = (0..first).rev().find(|&byte| !is_of(byte)).map_or(0, |byte| byte + 1);
        let span = (first..128).find(|&byte| !is_of(byte)).unwrap_or(128) - least;
        let is_near = |chunk: &[u8; 32]| chunk.iter().fold(true, |all, byte| all & (byte.wrapping_sub(least) < span));
        let (chunks, _) = text.as_chunks();
        let alike = chunks.iter().take_while(|chunk| is_near(chunk) || chunk.iter().all(|&byte| is_of(byte)));
        let at = 32 * alike.count();
        at + text[at..].iter().take_while(|&&byte| is_of(byte)).count()
    }

    #[inline]
    fn wide(&self, text: &[u8], pos: usize, lead: u8) -> (u8, usize) {
        let low = |at: usize| (text[pos + at] & 0x3F) as usize;
        let lead = lead as usize;
        if lead < 0xE0 {
            (self.of((lead & 0x1F) << 6 | low(1)), 2)
        } else if lead < 0xF0 {
            (self.of((lead & 0x0F) << 12 | low(1) << 6 | low(2)), 3)
        } else {
            (self.of((lead & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3)), 4)
        }
    }

    /// The class of a code point.
    #[inline]
    pub(super) fn of(&self, code: usize) -> u8 {
        self.blocks[self.block_of[code / BLOCK] as usize * BLOCK + code % BLOCK]
    }
}

/// The stretches of code points `start..end` over which membership (bit `i`: in set `i`) does not change.
fn stretches(sets: &[CharRanges]) -> Vec<(usize, usize, u64)> {
    let mut edges: Vec<(usize, u64)> = vec![(0, 0), (CODES, 0)];
    for (index, set) in sets.iter().enumerate() {
        for (first, last) in set.iter() {
            edges.push((first as usize, 1 << index));
            edges.push((last as usize + 1, 1 << index));
        }
    }
    edges.sort_unstable();
    let mut members = 0;
    let mut stretches = Vec::new();
    for pair in edges.windows(2) {
        members ^= pair[0].1;
        if pair[0].0 < pair[1].0 {
            stretches.push((pair[0].0, pair[1].0, members));
        }
    }
    stretches
}

/// Equal blocks once, in the order of their first appearance.
fn compress(codes: &[u8]) -> (Vec<u16>, Vec<u8>) {
    let mut known: HashMap<&[u8], u16> = HashMap::default();
    let mut blocks = Vec::new();
    let block_of = codes
        .chunks(BLOCK)
        .map(|block| {
            let next = known.len() as u16;
            *known.entry(block).or_insert_with(|| {
                blocks.extend_from_slice(block);
                next
            })
        })
        .collect();
    (block_of, blocks)
}
