//! A set of pairs of characters that can report a pair that is not in the set, but never misses a pair that is.
//!
//! The set is a blocked Bloom filter: the three bits of a pair are in one word, so a test is one load. With sixteen
//! bits for each pair, about one in a hundred tests of other pairs is a false hit. A false hit loses a boundary, which
//! costs time but never changes ids.

use crate::error::Result;
use crate::native::{FilePart, PartWriter, Stored};
use crate::table::Table;

/// The number of bits of the set for each pair.
const BITS_PER_PAIR: usize = 16;

/// A Bloom filter of pairs of characters.
pub(crate) struct PairSet {
    words: Table<u64>,
}

impl PairSet {
    /// Builds the set of these pairs.
    pub fn new(pairs: &[u64]) -> PairSet {
        let mut words = vec![0; (pairs.len() * BITS_PER_PAIR / 64).next_power_of_two()];
        let mask = words.len() - 1;
        for &pair in pairs {
            let (word, bits) = place(pair);
            words[word & mask] |= bits;
        }
        PairSet { words: words.into() }
    }

    /// Reports whether the set can contain the pair.
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

/// Packs two characters into one number.
#[inline]
pub(crate) fn pair(left: u32, right: u32) -> u64 {
    (left as u64) << 32 | right as u64
}

/// Returns the number of the word of a pair, before it is reduced to the number of words, and the bits of the pair.
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
    fn few_other_pairs_are_hits() {
        let pairs: Vec<u64> = (0..5000).map(|i| pair(0x4E00 + i % 700, 0x3040 + i * 7 % 90)).collect();
        let set = PairSet::new(&pairs);
        let hits = (0..100_000).filter(|&i| set.has(pair(0x6000 + i % 1000, 0x7000 + i / 1000))).count();
        assert!(hits < 4000, "{hits}");
    }
}
