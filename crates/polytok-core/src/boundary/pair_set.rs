//! A set of pairs of characters, which may say yes to a pair that is not in it, never no to one that is.
//!
//! A blocked Bloom filter: a pair's three bits lie in one word, so a test is one load. With sixteen bits for each pair about one in
//! a hundred tests of others hits. A false hit joins what need not be joined, which is slower, never wrong.

use crate::error::Result;
use crate::native::{FilePart, PartWriter, Stored};
use crate::table::Table;

/// Bits of the set for each pair in it.
const BITS_PER_PAIR: usize = 16;

/// The set.
pub(crate) struct PairSet {
    words: Table<u64>,
}

impl PairSet {
    /// The set of these pairs.
    pub fn new(pairs: &[u64]) -> PairSet {
        let mut words = vec![0; (pairs.len() * BITS_PER_PAIR / 64).next_power_of_two()];
        let mask = words.len() - 1;
        for &pair in pairs {
            let (word, bits) = place(pair);
            words[word & mask] |= bits;
        }
        PairSet { words: words.into() }
    }

    /// Whether the pair may be in it.
    #[inline]
    pub fn has(&self, pair: u64) -> bool {
        let (word, bits) = place(pair);
        self.words.get(word & self.words.len().wrapping_sub(1)).is_none_or(|&word| word & bits == bits)
    }
}

impl Stored for PairSet {
    fn write(&self, out: &mut PartWriter) {
        out.table("pairs", &self.words);
    }

    fn read(part: &FilePart) -> Result<PairSet> {
        let words: Table<u64> = part.table("pairs")?;
        match words.len().is_power_of_two() {
            true => Ok(PairSet { words }),
            false => Err(part.wrong("pairs", "are not a set of pairs")),
        }
    }
}

/// Two characters in one number.
#[inline]
pub(crate) fn pair(left: u32, right: u32) -> u64 {
    (left as u64) << 32 | right as u64
}

/// The word, of as many as there may be, and the bits in it.
#[inline]
fn place(pair: u64) -> (usize, u64) {
    let hash = (pair ^ pair >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let bit = |from: u32| 1u64 << (hash >> from & 63);
    ((hash >> 18 & 0xFFFF_FFFF) as usize, bit(58) | bit(52) | bit(12))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_pair_is_lost(pairs in prop::collection::vec((0u32..0x11_0000, 0u32..0x11_0000), 0..400)) {
            let pairs: Vec<u64> = pairs.into_iter().map(|(left, right)| pair(left, right)).collect();
            let set = PairSet::new(&pairs);
            prop_assert!(pairs.iter().all(|&pair| set.has(pair)));
        }
    }

    #[test]
    fn few_others_are_in_it() {
        let pairs: Vec<u64> = (0..5000).map(|i| pair(0x4E00 + i % 700, 0x3040 + i * 7 % 90)).collect();
        let set = PairSet::new(&pairs);
        let hits = (0..100_000).filter(|&i| set.has(pair(0x6000 + i % 1000, 0x7000 + i / 1000))).count();
        assert!(hits < 4000, "{hits}");
    }
}
