//! A set of pairs of characters. The set can report a pair that it does not contain, but never misses a pair that it
//! contains.
//!
//! The set is a blocked Bloom filter: the bits of a pair are in one word, so a lookup reads memory once. The set has
//! sixteen bits for each pair. If each pair sets one bit, 6 % of the lookups of other pairs are false hits. If each
//! pair sets three bits, 1 % are false hits, but a lookup takes more instructions. A false hit loses a boundary, which
//! costs time but never changes ids.

use polytok_memory as memory;

use crate::error::Result;
use crate::native::{FilePart, PartWriter, Stored};
use crate::table::Table;

/// The number of bits of the set for each pair.
const BITS_PER_PAIR: usize = 16;

/// A pair sets one to three bits of a word. The index of each bit is a part of the pair's hash, which starts at one of
/// these positions.
const BIT_INDEX_SHIFTS: [u32; 3] = [58, 52, 12];

/// A Bloom filter of pairs of characters. Each pair sets `BITS` bits, one to three.
pub(crate) struct PairSet<const BITS: usize> {
    words: Table<u64>,
}

impl<const BITS: usize> PairSet<BITS> {
    /// Builds the set of these pairs.
    pub fn new(pairs: &[u64]) -> PairSet<BITS> {
        let mut words = memory::zeroed((pairs.len() * BITS_PER_PAIR / 64).next_power_of_two());
        let mask = words.len() - 1;
        for &pair in pairs {
            let (word_index, bits) = locate_bits::<BITS>(pair);
            words[word_index & mask] |= bits;
        }
        PairSet { words: words.into() }
    }

    /// Reports whether the set can contain the pair.
    #[inline]
    pub fn has(&self, pair: u64) -> bool {
        let (word_index, bits) = locate_bits::<BITS>(pair);
        self.words.get(word_index & self.words.len().wrapping_sub(1)).is_none_or(|&word| word & bits == bits)
    }
}

impl<const BITS: usize> Stored for PairSet<BITS> {
    fn write(&self, out: &mut PartWriter) {
        out.table("pairs", &self.words);
    }

    fn read(part: &FilePart) -> Result<PairSet<BITS>> {
        let words: Table<u64> = part.table("pairs")?;
        match words.len().is_power_of_two() {
            true => Ok(PairSet { words }),
            false => Err(part.section_error("pairs", "are not a set of pairs")),
        }
    }
}

/// Packs two characters into one number.
#[inline]
pub(crate) fn pack_pair(left: u32, right: u32) -> u64 {
    (left as u64) << 32 | right as u64
}

/// Returns the index of the pair's word, and the bits of the pair in that word. The caller reduces the index modulo the
/// number of words.
#[inline]
fn locate_bits<const BITS: usize>(pair: u64) -> (usize, u64) {
    let hash = (pair ^ pair >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let bits = BIT_INDEX_SHIFTS[..BITS].iter().fold(0, |bits, shift| bits | 1u64 << (hash >> shift & 63));
    ((hash >> 18) as usize, bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_pair_is_lost(pairs in prop::collection::vec((0u32..0x11_0000, 0u32..0x11_0000), 0..400)) {
            let pairs: Vec<u64> = pairs.into_iter().map(|(left, right)| pack_pair(left, right)).collect();
            let (one_bit_set, three_bit_set) = (PairSet::<1>::new(&pairs), PairSet::<3>::new(&pairs));
            prop_assert!(pairs.iter().all(|&pair| one_bit_set.has(pair) && three_bit_set.has(pair)));
        }
    }

    #[test]
    fn few_other_pairs_are_hits() {
        let pairs: Vec<u64> = (0..5000).map(|i| pack_pair(0x4E00 + i % 700, 0x3040 + i * 7 % 90)).collect();
        let other_pairs = || (0..100_000).map(|i| pack_pair(0x6000 + i % 1000, 0x7000 + i / 1000));
        let (one_bit_set, three_bit_set) = (PairSet::<1>::new(&pairs), PairSet::<3>::new(&pairs));
        let hits = [
            other_pairs().filter(|&pair| one_bit_set.has(pair)).count(),
            other_pairs().filter(|&pair| three_bit_set.has(pair)).count(),
        ];
        assert!(hits[0] < 10_000 && hits[1] < 4000, "{hits:?}");
    }
}
