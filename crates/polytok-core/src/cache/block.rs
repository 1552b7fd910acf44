//! A block of pieces, which are looked up in the cache together. Each step of the lookup processes all pieces of the
//! block before the next step starts, so that the processor computes keys and fetches cache lines in parallel. These
//! two steps are most of the cost of a lookup.

use std::ops::Range;

use super::record_reads::{RecordRead, RecordReads};
use super::{Cache, PieceKey};
use crate::token_id::TokenId;

/// The number of pieces of a block.
pub const BLOCK_LEN: usize = 128;

/// The largest number of ids of a piece whose ids a lookup writes to the block.
const MAX_PIECE_IDS: usize = 32;

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

/// Cached pieces with their ids.
#[derive(Clone, Copy)]
pub struct CachedPieces<'a> {
    /// The range of each piece in the text.
    pub ranges: &'a [(u32, u32)],
    /// The number of ids up to the end of each piece.
    pub id_ends: &'a [u16],
    /// The ids of the pieces, concatenated.
    pub ids: &'a [TokenId],
}

/// A block of pieces, and memory for their ids. A block is reused for later pieces, and data of earlier pieces is never
/// read.
#[derive(Debug)]
pub struct Block {
    ranges: [(u32, u32); BLOCK_LEN],
    are_parts: [bool; BLOCK_LEN],
    /// Whether a piece of the block is a part of a piece of the split.
    has_parts: bool,
    piece_count: usize,
    keys: [PieceKey; BLOCK_LEN],
    hashes: [u32; BLOCK_LEN],
    reads: RecordReads,
    /// The number of ids up to the end of each piece; see `look_up`.
    id_ends: [u16; BLOCK_LEN],
    /// The ids of cached pieces, concatenated.
    pub(crate) ids: [TokenId; BLOCK_LEN * MAX_PIECE_IDS],
}

impl Block {
    /// Creates an empty block.
    pub fn new() -> Block {
        Block {
            ranges: [(0, 0); BLOCK_LEN],
            are_parts: [false; BLOCK_LEN],
            has_parts: false,
            piece_count: 0,
            keys: [PieceKey::default(); BLOCK_LEN],
            hashes: [0; BLOCK_LEN],
            reads: RecordReads::new(),
            id_ends: [0; BLOCK_LEN],
            ids: [TokenId(0); BLOCK_LEN * MAX_PIECE_IDS],
        }
    }

    /// Adds a piece. Returns true if the block is full.
    #[inline]
    pub fn push(&mut self, start: usize, end: usize, is_part: bool) -> bool {
        self.ranges[self.piece_count] = (start as u32, end as u32);
        self.are_parts[self.piece_count] = is_part;
        self.has_parts |= is_part;
        self.piece_count += 1;
        self.piece_count == BLOCK_LEN
    }

    /// Fills an empty block: `write_ranges` writes the ranges of whole pieces and returns their number. Returns the
    /// number of pieces.
    #[inline]
    pub fn fill<E>(&mut self, write_ranges: impl FnOnce(&mut [(u32, u32)]) -> Result<usize, E>) -> Result<usize, E> {
        self.piece_count = write_ranges(&mut self.ranges)?.min(BLOCK_LEN);
        self.are_parts = [false; BLOCK_LEN];
        self.has_parts = false;
        Ok(self.piece_count)
    }

    /// Returns the number of pieces.
    #[inline]
    pub fn count(&self) -> usize {
        self.piece_count
    }

    /// Removes all pieces.
    #[inline]
    pub fn clear(&mut self) {
        self.piece_count = 0;
        self.has_parts = false;
    }

    /// Returns the piece at index `at`.
    #[inline]
    pub fn piece(&self, at: usize) -> BlockPiece {
        let (start, end) = self.ranges[at];
        BlockPiece { start: start as usize, end: end as usize, is_part: self.are_parts[at] }
    }

    /// Computes the keys of all pieces and prefetches their cache lines. `parts_differ` is true if a part of a piece
    /// and a whole piece with the same bytes can have different ids. This function and `look_up` are not inlined,
    /// because they are slower in a larger function.
    #[inline(never)]
    pub fn prepare(&mut self, text: &[u8], cache: &Cache, parts_differ: bool) {
        let ranges = &self.ranges[..self.piece_count];
        if self.has_parts {
            // The parts of one piece are few, and a second loop would cost more than it gains.
            let slots = ranges.iter().zip(&self.are_parts).zip(&mut self.keys).zip(&mut self.hashes);
            for (((&range, &is_part), key), hash) in slots {
                *key = PieceKey::new(text, range.0 as usize, range.1 as usize, is_part & parts_differ);
                *hash = cache.complete_and_prefetch(text, range, key);
            }
            return;
        }
        // Keys are made by vector instructions and hashed by others. Loading a stored key is faster than moving it from
        // one kind of register to the other, so the hashes have a loop of their own.
        for (&(start, end), key) in ranges.iter().zip(&mut self.keys) {
            *key = PieceKey::without_flag(text, start as usize, end as usize);
        }
        for ((&range, key), hash) in ranges.iter().zip(&mut self.keys).zip(&mut self.hashes) {
            *hash = cache.complete_and_prefetch(text, range, key);
        }
    }

    /// Looks up the pieces from index `at` on, until a piece is not cached or has more than `MAX_PIECE_IDS` ids, and
    /// writes the ids of the earlier pieces to the start of `ids`. Returns two numbers: the index of the piece at which
    /// the lookup ended (the number of pieces if all were found), and the number of ids. `prepare` must have been
    /// called. With `HAS_ENDS`, also stores at which id each piece ends, for `cached_pieces`.
    pub fn look_up<const HAS_ENDS: bool>(&mut self, at: usize, text: &[u8], cache: &Cache) -> (usize, usize) {
        self.reads.clear();
        let (end, id_count) = self.look_up_entries::<HAS_ENDS>(at, cache);
        self.write_ids_of_records(text, cache)
            .map_or((end, id_count), |read| (read.piece as usize, read.ids_at as usize))
    }

    /// Looks up the entries of the pieces, as `look_up` does, but leaves room for the ids of the pieces with records.
    #[inline(never)]
    fn look_up_entries<const HAS_ENDS: bool>(&mut self, at: usize, cache: &Cache) -> (usize, usize) {
        let mut id_count = 0;
        let pieces = at..self.piece_count;
        let keys = self.keys[pieces.clone()].iter().zip(&self.hashes[pieces.clone()]);
        for (piece, (key, &hash)) in pieces.zip(keys) {
            debug_assert!(id_count + MAX_PIECE_IDS <= self.ids.len());
            // SAFETY: `ids` has room for `MAX_PIECE_IDS` ids of each of `BLOCK_LEN` pieces. Each earlier piece has at
            // most that many ids, because `Cache::get` returns the number of ids in an array of at most that length,
            // and `add_read` returns no larger number. Measured: with a check, a lookup takes a fifth longer.
            let id_slots = unsafe { &mut *self.ids.as_mut_ptr().add(id_count).cast() };
            id_count += match cache.get(*key, hash, id_slots) {
                0 => match add_read(&mut self.reads, cache, (key, hash), piece, id_count) {
                    0 => return (piece, id_count),
                    count => count,
                },
                count => count,
            };
            if HAS_ENDS {
                self.id_ends[piece] = id_count as u16;
            }
        }
        (self.piece_count, id_count)
    }

    /// Writes the ids of the pieces with records. Ends at a piece whose record has another text, and returns its read.
    fn write_ids_of_records(&mut self, text: &[u8], cache: &Cache) -> Option<RecordRead> {
        for read in self.reads.iter() {
            let (start, end) = self.ranges[read.piece as usize];
            let Some(ids) = cache.records.get(read.place, &text[start as usize..end as usize]) else {
                return Some(*read);
            };
            self.ids[read.ids_at as usize..][..ids.len()].copy_from_slice(ids);
        }
        None
    }

    /// Returns the pieces that `look_up` has just found in the cache, with their ids.
    pub fn cached_pieces(&self, pieces: Range<usize>, id_count: usize) -> CachedPieces<'_> {
        CachedPieces {
            ranges: &self.ranges[pieces.clone()],
            id_ends: &self.id_ends[pieces],
            ids: &self.ids[..id_count],
        }
    }

    /// Returns the key of the piece at index `at`.
    #[inline]
    pub fn key(&self, at: usize) -> PieceKey {
        self.keys[at]
    }
}

/// Adds the record of the piece at index `piece` to the records to read, and prefetches it. Returns the number of its
/// ids, or 0 if the piece has no record or too many ids. The key is passed by reference, because otherwise the loop
/// that calls this function would not keep it in a vector.
#[inline(never)]
fn add_read(
    reads: &mut RecordReads,
    cache: &Cache,
    (key, hash): (&PieceKey, u32),
    piece: usize,
    ids_at: usize,
) -> usize {
    let place = cache.record_place(*key, hash).filter(|place| place.id_count as usize <= MAX_PIECE_IDS);
    let Some(place) = place else { return 0 };
    cache.records.prefetch(place);
    reads.push(RecordRead { place, piece: piece as u32, ids_at: ids_at as u32 });
    place.id_count as usize
}

impl Default for Block {
    fn default() -> Block {
        Block::new()
    }
}
