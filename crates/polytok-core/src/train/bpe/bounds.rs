//! How often each pair occurs at the most, in a fixed amount of memory: pairs whose hashes are alike share a sum.
//!
//! That is enough to tell which pairs cannot be among the frequent ones, however many pairs there are.

use super::pairs::{hash, key};

/// Fewest sums, as a power of two.
const FEWEST: u32 = 10;

/// The sums.
pub struct Bounds {
    sums: Vec<u64>,
    shift: u32,
}

impl Bounds {
    /// At most so many bytes of sums, which are 0.
    pub fn within(bytes: usize) -> Bounds {
        let bits = (bytes / size_of::<u64>()).checked_ilog2().unwrap_or(0).max(FEWEST);
        Bounds { sums: vec![0; 1 << bits], shift: u64::BITS - bits }
    }

    #[inline]
    fn place(&self, left: u32, right: u32) -> usize {
        (hash(key(left, right)) >> self.shift) as usize
    }

    /// A pair occurs so many times more.
    #[inline]
    pub fn add(&mut self, left: u32, right: u32, count: u64) {
        let place = self.place(left, right);
        self.sums[place] += count;
    }

    /// A pair does not occur more often than this.
    #[inline]
    pub fn of(&self, left: u32, right: u32) -> u64 {
        self.sums[self.place(left, right)]
    }

    /// The sums of pairs that occur.
    pub fn sums(&self) -> impl Iterator<Item = u64> {
        self.sums.iter().copied().filter(|&sum| sum > 0)
    }

    /// Bytes taken.
    pub fn memory(&self) -> usize {
        self.sums.len() * size_of::<u64>()
    }
}
