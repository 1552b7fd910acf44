//! Pieces that wait to be looked up. Doing one step for many of them before the next step lets the processor compute keys and
//! fetch cache lines side by side, which is most of the cost of a lookup.

use super::short::IDS;
use super::{Cache, Key};

/// How many pieces wait.
pub const WAITING: usize = 128;

/// A piece of the text: where it is, and whether it was cut out of a longer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First byte.
    pub start: usize,
    /// Behind the last byte.
    pub end: usize,
    /// It is not a whole piece of the split.
    pub is_part: bool,
}

/// The pieces, and room for what is made of them. Made once and then kept: what is left of pieces before is never looked at.
#[derive(Debug)]
pub struct Waiting {
    ranges: [(u32, u32); WAITING],
    are_parts: [bool; WAITING],
    count: usize,
    keys: [Key; WAITING],
    hashes: [u32; WAITING],
    /// Ids of pieces that were found, one after the other.
    pub(crate) found: [u32; WAITING * IDS],
}

impl Waiting {
    /// Nobody waits.
    pub fn new() -> Waiting {
        Waiting {
            ranges: [(0, 0); WAITING],
            are_parts: [false; WAITING],
            count: 0,
            keys: [Key::default(); WAITING],
            hashes: [0; WAITING],
            found: [0; WAITING * IDS],
        }
    }

    /// One more piece; true if no other has room.
    #[inline]
    pub fn push(&mut self, start: usize, end: usize, is_part: bool) -> bool {
        self.ranges[self.count] = (start as u32, end as u32);
        self.are_parts[self.count] = is_part;
        self.count += 1;
        self.count == WAITING
    }

    /// Lets `fill` write whole pieces, of which it says how many; nobody waits yet.
    #[inline]
    pub fn fill<E>(&mut self, fill: impl FnOnce(&mut [(u32, u32)]) -> Result<usize, E>) -> Result<usize, E> {
        self.count = fill(&mut self.ranges)?.min(WAITING);
        self.are_parts = [false; WAITING];
        Ok(self.count)
    }

    /// How many wait.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Nobody waits any more.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// One of those that wait.
    #[inline]
    pub fn piece(&self, at: usize) -> Piece {
        let (start, end) = self.ranges[at];
        Piece { start: start as usize, end: end as usize, is_part: self.are_parts[at] }
    }

    /// Computes the keys of all and has the processor fetch where they may be. `parts_differ` says whether parts have other ids
    /// than whole pieces.
    #[inline]
    pub fn prepare(&mut self, text: &[u8], cache: &Cache, parts_differ: bool) {
        let pieces = self.ranges.iter().zip(&self.are_parts).take(self.count);
        let slots = self.keys.iter_mut().zip(&mut self.hashes);
        for ((&(start, end), &is_part), (key, hash)) in pieces.zip(slots) {
            *key = Key::new(text, start as usize, end as usize, is_part & parts_differ);
            *hash = key.hash();
            cache.prefetch(*hash);
            if !key.is_short() {
                cache.prefetch_long(&text[start as usize..end as usize], *key);
            }
        }
    }

    /// Looks up the piece at `at`, whose key is computed, and writes its ids behind the `count` that were found; says how many,
    /// 0 if it is not there.
    #[inline]
    pub fn look_up(&mut self, at: usize, count: usize, cache: &Cache) -> usize {
        self.found[count..].first_chunk_mut().map_or(0, |room| cache.get(self.keys[at], self.hashes[at], room))
    }

    /// The key of the piece at `at`.
    #[inline]
    pub fn key(&self, at: usize) -> Key {
        self.keys[at]
    }
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting::new()
    }
}
