//! A filter that reports whether a pair can be in a table. A part of the pair's hash selects a bit, which is set if any
//! pair of the table has the same part.
//!
//! Most pairs that are looked up do not merge. The filter needs at most an eighth of the table's memory, so it stays in a
//! cache nearer to the processor. The filter has at least eight bits for each pair. It wrongly accepts one in nine of
//! the pairs that are not in the table, which a lookup in the table then rejects.

use std::ops::Deref;

use polytok_memory as memory;

use crate::error::Result;
use crate::native::{FilePart, PartWriter};
use crate::table::Table;

/// The smallest number of bits for each pair.
const MIN_BITS_PER_PAIR: usize = 8;

#[derive(Debug)]
pub(super) struct PairFilter<W = Table<u64>> {
    /// The bits of the filter; the number of words is a power of two.
    words: W,
    /// The number of low bits of the hash that are ignored.
    shift: u32,
}

impl PairFilter<Vec<u64>> {
    /// Returns a filter without pairs that has enough bits for `pair_capacity` pairs.
    pub(super) fn empty(pair_capacity: usize) -> PairFilter<Vec<u64>> {
        let bit_count = (pair_capacity * MIN_BITS_PER_PAIR).next_power_of_two().max(128);
        PairFilter { words: memory::zeroed(bit_count / 64), shift: 64 - bit_count.trailing_zeros() }
    }

    /// Reports whether the filter has enough bits for `pair_count` pairs.
    pub(super) fn has_room_for(&self, pair_count: usize) -> bool {
        64 * self.words.len() >= pair_count * MIN_BITS_PER_PAIR
    }

    /// Adds the hash of a pair.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64) {
        let bit = hash >> self.shift;
        self.words[bit as usize / 64] |= 1 << (bit % 64);
    }

    /// Returns the finished filter.
    pub(super) fn finish(self) -> PairFilter {
        PairFilter { words: self.words.into(), shift: self.shift }
    }
}

impl<W: Deref<Target = [u64]>> PairFilter<W> {
    /// Reports whether the table can contain a pair with this hash. If the result is false, the table contains no such
    /// pair.
    #[inline]
    pub(super) fn may_have(&self, hash: u64) -> bool {
        let bit = hash >> self.shift;
        self.words.get(bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }
}

impl PairFilter {
    pub(super) fn write(&self, out: &mut PartWriter) {
        out.table("filter", &self.words);
    }

    pub(super) fn read(part: &FilePart) -> Result<PairFilter> {
        let words: Table<u64> = part.table("filter")?;
        if words.len() < 2 || !words.len().is_power_of_two() {
            return Err(part.section_error("filter", "are not a filter of pairs"));
        }
        let shift = 58 - words.len().trailing_zeros();
        Ok(PairFilter { words, shift })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pairs_and_few_others_pass() {
        let hash = |number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for pair_count in [0, 1, 10, 1000, 3000] {
            let mut filter = PairFilter::empty(pair_count as usize);
            (0..pair_count).for_each(|number| filter.insert(hash(number)));
            let filter = filter.finish();
            assert!((0..pair_count).all(|number| filter.may_have(hash(number))));
            let false_hits = (pair_count..pair_count + 10_000).filter(|&number| filter.may_have(hash(number))).count();
            assert!(false_hits < 1500, "{false_hits}");
        }
    }
}
