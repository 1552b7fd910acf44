//! A block of pieces that are looked up together. Each step runs over all pieces before the next step starts, so that
//! the processor computes keys and fetches cache lines in parallel. These two steps are most of the cost of a lookup.

use super::short::IDS;
use super::{Cache, PieceKey};
use crate::token_id::TokenId;

/// The number of pieces of a block.
pub const BLOCK: usize = 128;

/// A piece of the text: its range, and whether it is only a part of a piece of the split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPiece {
    /// The first byte.
    pub start: usize,
    /// The offset of the byte after the piece.
    pub end: usize,
    /// True if the range is only a part of a piece of the split.
    pub is_part: bool,
}

/// A block of pieces, and memory for their ids. The memory is reused; data of earlier pieces is never read.
#[derive(Debug)]
pub struct Block {
    ranges: [(u32, u32); BLOCK],
    are_parts: [bool; BLOCK],
    count: usize,
    keys: [PieceKey; BLOCK],
    hashes: [u32; BLOCK],
    /// The ids of cached pieces, concatenated.
    pub(crate) ids: [TokenId; BLOCK * IDS],
}

impl Block {
    /// Creates an empty block.
    pub fn new() -> Block {
        Block {
            ranges: [(0, 0); BLOCK],
            are_parts: [false; BLOCK],
            count: 0,
            keys: [PieceKey::default(); BLOCK],
            hashes: [0; BLOCK],
            ids: [TokenId(0); BLOCK * IDS],
        }
    }

    /// Adds a piece. Returns true if the block is full.
    #[inline]
    pub fn push(&mut self, start: usize, end: usize, is_part: bool) -> bool {
        self.ranges[self.count] = (start as u32, end as u32);
        self.are_parts[self.count] = is_part;
        self.count += 1;
        self.count == BLOCK
    }

    /// Calls `fill`, which writes the ranges of whole pieces, on an empty block. Returns the number of pieces.
    #[inline]
    pub fn fill<E>(&mut self, fill: impl FnOnce(&mut [(u32, u32)]) -> Result<usize, E>) -> Result<usize, E> {
        self.count = fill(&mut self.ranges)?.min(BLOCK);
        self.are_parts = [false; BLOCK];
        Ok(self.count)
    }

    /// Returns the number of pieces.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Removes all pieces.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Returns the piece at index `at`.
    #[inline]
    pub fn piece(&self, at: usize) -> BlockPiece {
        let (start, end) = self.ranges[at];
        BlockPiece { start: start as usize, end: end as usize, is_part: self.are_parts[at] }
    }

    /// Computes the keys of all pieces and prefetches their cache lines. `parts_differ` is true if a part can have
    /// other ids than a whole piece with the same bytes.
    #[inline]
    pub fn prepare(&mut self, text: &[u8], cache: &Cache, parts_differ: bool) {
        let pieces = self.ranges.iter().zip(&self.are_parts).take(self.count);
        let slots = self.keys.iter_mut().zip(&mut self.hashes);
        for ((&(start, end), &is_part), (key, hash)) in pieces.zip(slots) {
            *key = PieceKey::new(text, start as usize, end as usize, is_part & parts_differ);
            *hash = key.hash();
            cache.prefetch(*hash);
            if !key.is_short() {
                cache.prefetch_long(&text[start as usize..end as usize], *key);
            }
        }
    }

    /// Looks up the pieces from index `at` on, up to the first piece that is not cached, and writes their ids to the start of
    /// `ids`. Returns the index of that piece, or the number of pieces if all are cached, and the number of ids. `prepare`
    /// must have been called.
    #[inline]
    pub fn look_up(&mut self, at: usize, cache: &Cache) -> (usize, usize) {
        let mut id_count = 0;
        for piece in at..self.count {
            let room = self.ids[id_count..].first_chunk_mut();
            match room.map_or(0, |room| cache.get(self.keys[piece], self.hashes[piece], room)) {
                0 => return (piece, id_count),
                more => id_count += more,
            }
        }
        (self.count, id_count)
    }

    /// Returns the key of the piece at index `at`.
    #[inline]
    pub fn key(&self, at: usize) -> PieceKey {
        self.keys[at]
    }
}

impl Default for Block {
    fn default() -> Block {
        Block::new()
    }
}
