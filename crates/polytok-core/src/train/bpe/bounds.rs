//! Upper bounds of pair counts in a fixed amount of memory: pairs with equal hashes share a sum.
//!
//! The bounds prove that most pairs are not frequent, however many pairs there are.

use super::pairs::{hash, key};

/// The fewest sums, as a power of two.
const FEWEST: u32 = 10;

/// The sums.
pub struct Bounds {
    sums: Vec<u64>,
    shift: u32,
}

impl Bounds {
    /// Sums of 0 that take at most `bytes`.
    pub fn within(bytes: usize) -> Bounds {
        let bits = (bytes / size_of::<u64>()).checked_ilog2().unwrap_or(0).max(FEWEST);
        Bounds { sums: vec![0; 1 << bits], shift: u64::BITS - bits }
    }

    #[inline]
    fn place(&self, left: u32, right: u32) -> usize {
        (hash(key(left, right)) >> self.shift) as usize
    }

    /// Adds to the count of a pair.
    #[inline]
    pub fn add(&mut self, left: u32, right: u32, count: u64) {
        let place = self.place(left, right);
        self.sums[place] += count;
    }

    /// The upper bound of a pair's count.
    #[inline]
    pub fn of(&self, left: u32, right: u32) -> u64 {
        self.sums[self.place(left, right)]
    }

    /// All sums above 0.
    pub fn sums(&self) -> impl Iterator<Item = u64> {
        self.sums.iter().copied().filter(|&sum| sum > 0)
    }

    /// Bytes of memory taken.
    pub fn memory(&self) -> usize {
        self.sums.len() * size_of::<u64>()
    }
}
