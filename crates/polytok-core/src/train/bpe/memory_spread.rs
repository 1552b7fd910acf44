//! Adds up, for each frequency, the memory of the pairs and segments with this frequency. The sums show down to which
//! frequency all pairs and segments fit into memory.

use polytok_memory as memory;

/// Frequencies between two powers of two are divided into groups, by the `GROUP_BITS` bits after the highest bit.
const GROUP_BITS: u32 = 3;

/// The sizes of a cell, a segment, a place and a pair, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct ItemSizes {
    pub cell: usize,
    pub segment: usize,
    pub place: usize,
    pub pair: usize,
}

/// The additional items in memory if a round also merges the pairs of one group of frequencies: the pairs, their
/// places, the links between neighbouring symbols, and segments. The number of segments is negative if these pairs join
/// existing segments.
#[derive(Clone, Copy, Default)]
struct FrequencyShare {
    pairs: usize,
    places: usize,
    links: usize,
    segments: isize,
}

impl FrequencyShare {
    /// Returns the number of bytes. A segment has one more cell than links, and a wall.
    fn bytes(&self, sizes: ItemSizes) -> isize {
        let segment = (sizes.segment + 2 * sizes.cell) as isize;
        (self.pairs * sizes.pair + self.places * sizes.place + self.links * sizes.cell) as isize
            + self.segments * segment
    }

    fn is_empty(&self) -> bool {
        self.places == 0 && self.links == 0
    }
}

/// The items of all groups of frequencies.
pub(super) struct MemorySpread {
    shares: Vec<FrequencyShare>,
}

impl Default for MemorySpread {
    fn default() -> MemorySpread {
        MemorySpread { shares: memory::filled(FrequencyShare::default(), (u64::BITS as usize) << GROUP_BITS) }
    }
}

impl MemorySpread {
    fn share_of_count(&mut self, count: u64) -> &mut FrequencyShare {
        let exponent = count.max(1).ilog2();
        let next_bits = (count << (u64::BITS - 1 - exponent) << 1) >> (u64::BITS - GROUP_BITS);
        &mut self.shares[((exponent as usize) << GROUP_BITS) + next_bits as usize]
    }

    /// Adds a pair that occurs at most `bound` times.
    pub fn add_pair(&mut self, bound: u64) {
        self.share_of_count(bound).pairs += 1;
    }

    /// Adds places for the pairs of a word that can occur at least `min_count` times; `bounds` has the upper bounds of
    /// the pairs' counts.
    pub fn add_places(&mut self, bounds: &[u64], min_count: u64) {
        bounds.iter().filter(|bound| **bound >= min_count).for_each(|&bound| self.share_of_count(bound).places += 1);
    }

    /// Adds a word. For each pair of neighbours, `segment_counts` has the highest minimum count at which both are in
    /// one segment.
    pub fn add_segments(&mut self, segment_counts: &[u64], min_count: u64) {
        for (index, &segment_count) in
            segment_counts.iter().enumerate().filter(|(_, segment_count)| **segment_count >= min_count)
        {
            let is_linked_left = index > 0 && segment_counts[index - 1] >= segment_count;
            let is_linked_right = segment_counts.get(index + 1).is_some_and(|next| *next > segment_count);
            let share = self.share_of_count(segment_count);
            share.links += 1;
            // The link starts a segment, extends a segment, or joins two segments.
            share.segments += 1 - isize::from(is_linked_left) - isize::from(is_linked_right);
        }
    }

    /// Returns the lowest minimum count at which all items take at most `bytes`. If there is none, returns the highest
    /// count, provided that its items take at most `usable_memory` bytes.
    pub fn lowest_count(&self, sizes: ItemSizes, bytes: usize, usable_memory: usize) -> MemoryFit {
        let (mut sum, mut lowest) = (0, None);
        for (index, share) in self.shares.iter().enumerate().rev().filter(|(_, share)| !share.is_empty()) {
            sum += share.bytes(sizes);
            let total = sum.max(0) as usize;
            match lowest {
                Some(lowest) if total > bytes => return MemoryFit::DownTo(lowest),
                None if total > usable_memory => {
                    return MemoryFit::NothingFits { from: first_count(index), bytes: total };
                }
                _ => lowest = Some(first_count(index)),
            }
        }
        MemoryFit::DownTo(0)
    }
}

/// The result of the search for the lowest minimum count.
pub(super) enum MemoryFit {
    /// The pairs whose count is at least this number fit into memory.
    DownTo(u64),
    /// Even the most frequent pairs do not fit: those that occur at least `from` times take `bytes` bytes.
    NothingFits { from: u64, bytes: usize },
}

/// Returns the lowest count in the group with an index.
fn first_count(index: usize) -> u64 {
    let (exponent, next_bits) = (index as u32 >> GROUP_BITS, (index & ((1 << GROUP_BITS) - 1)) as u128);
    (((1 << GROUP_BITS) + next_bits) << exponent >> GROUP_BITS) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_begin_at_their_first_count() {
        let index_of = |count: u64| {
            let mut spread = MemorySpread::default();
            spread.share_of_count(count).links = 1;
            spread.shares.iter().position(|share| share.links == 1).unwrap()
        };
        for count in (1..300).chain([1 << 40, (1 << 40) + (1 << 38), u64::MAX]) {
            let index = index_of(count);
            assert!(first_count(index) <= count && index_of(first_count(index)) == index, "{count}");
        }
    }
}
