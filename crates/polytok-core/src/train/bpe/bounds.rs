//! Computes upper bounds of pair counts in a fixed amount of memory: pairs with equal hashes share one sum of counts.
//!
//! Most rare pairs have low bounds, which prove that these pairs are rare. The memory does not depend on the number of
//! pairs.

use polytok_memory as memory;

use super::pairs::{hash, key};

/// The base-2 logarithm of the minimum number of sums.
const MIN_SUM_BITS: u32 = 10;

/// Upper bounds of pair counts: for each hash, the sum of the counts of the pairs with this hash.
pub struct Bounds {
    sums: Vec<u64>,
    shift: u32,
}

impl Bounds {
    /// Creates bounds that take at most `bytes`; all sums are 0.
    pub fn with_memory(bytes: usize) -> Bounds {
        let bits = (bytes / size_of::<u64>()).checked_ilog2().unwrap_or(0).max(MIN_SUM_BITS);
        Bounds { sums: memory::zeroed(1 << bits), shift: u64::BITS - bits }
    }

    #[inline]
    fn index(&self, left: u32, right: u32) -> usize {
        (hash(key(left, right)) >> self.shift) as usize
    }

    /// Adds to the count of a pair.
    #[inline]
    pub fn add(&mut self, left: u32, right: u32, count: u64) {
        let index = self.index(left, right);
        self.sums[index] += count;
    }

    /// Returns the upper bound of a pair's count.
    #[inline]
    pub fn get(&self, left: u32, right: u32) -> u64 {
        self.sums[self.index(left, right)]
    }

    /// Returns all sums above 0.
    pub fn nonzero_sums(&self) -> impl Iterator<Item = u64> {
        self.sums.iter().copied().filter(|&sum| sum > 0)
    }

    /// Returns the number of bytes of memory.
    pub fn memory(&self) -> usize {
        self.sums.len() * size_of::<u64>()
    }
}
