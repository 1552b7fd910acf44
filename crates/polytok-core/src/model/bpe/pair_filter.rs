//! A filter that reports whether a pair can be in a table. A part of the pair's hash selects a bit, which is set if any
//! pair of the table has the same part.
//!
//! Most pairs that are looked up do not merge. The filter needs at most an eighth of the table's memory, so it stays in a
//! cache nearer to the processor. The filter has at least eight bits for each pair. It wrongly accepts one in nine of
//! the pairs that are not in the table, which a lookup in the table then rejects.

use crate::error::Result;
use crate::native::{FilePart, PartWriter};
use crate::table::Table;

/// The smallest number of bits for each pair.
const MIN_BITS_PER_PAIR: usize = 8;

#[derive(Debug)]
pub(super) struct PairFilter {
    /// The bits of the filter; the number of words is a power of two.
    words: Table<u64>,
    /// The number of low bits of the hash that are ignored.
    shift: u32,
}

impl PairFilter {
    /// Builds the filter of these hashes.
    pub(super) fn build(hashes: impl ExactSizeIterator<Item = u64>) -> PairFilter {
        let bit_count = (hashes.len() * MIN_BITS_PER_PAIR).next_power_of_two().max(128);
        let shift = 64 - bit_count.trailing_zeros();
        let mut words = vec![0; bit_count / 64];
        hashes.map(|hash| hash >> shift).for_each(|bit| words[bit as usize / 64] |= 1 << (bit % 64));
        PairFilter { words: words.into(), shift }
    }

    /// Reports whether the table can contain a pair with this hash. If the result is false, the table contains no such
    /// pair.
    #[inline]
    pub(super) fn may_have(&self, hash: u64) -> bool {
        let bit = hash >> self.shift;
        self.words.get(bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

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
            let filter = PairFilter::build((0..pair_count as usize).map(|number| hash(number as u64)));
            assert!((0..pair_count).all(|number| filter.may_have(hash(number))));
            let false_hits = (pair_count..pair_count + 10_000).filter(|&number| filter.may_have(hash(number))).count();
            assert!(false_hits < 1500, "{false_hits}");
        }
    }
}
