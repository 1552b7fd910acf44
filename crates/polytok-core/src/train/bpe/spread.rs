//! Sums up the memory of pairs and segments by frequency, to find the lowest frequency at which all pairs and segments
//! fit.

/// The number of bits after the highest bit of a frequency that select its group within a power of two.
const GROUP_BITS: u32 = 3;

/// The sizes of a cell, a segment, a place and a pair, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct ItemSizes {
    pub cell: usize,
    pub segment: usize,
    pub place: usize,
    pub pair: usize,
}

/// The items that a round holds in addition if it also merges the pairs of one frequency: pairs, their places, links
/// between neighbours, and segments. The number of segments can be negative, because segments join.
#[derive(Clone, Copy, Default)]
struct FrequencyShare {
    pairs: usize,
    places: usize,
    links: usize,
    segments: isize,
}

impl FrequencyShare {
    /// Returns the number of bytes. A segment has a wall, and one more cell than links.
    fn bytes(&self, sizes: ItemSizes) -> isize {
        let segment = (sizes.segment + 2 * sizes.cell) as isize;
        (self.pairs * sizes.pair + self.places * sizes.place + self.links * sizes.cell) as isize
            + self.segments * segment
    }

    fn is_empty(&self) -> bool {
        self.places == 0 && self.links == 0
    }
}

/// The shares of all frequencies.
pub(super) struct Spread {
    shares: Vec<FrequencyShare>,
}

impl Default for Spread {
    fn default() -> Spread {
        Spread { shares: vec![FrequencyShare::default(); (u64::BITS as usize) << GROUP_BITS] }
    }
}

impl Spread {
    fn share(&mut self, count: u64) -> &mut FrequencyShare {
        let power = count.max(1).ilog2();
        let next_bits = (count << (u64::BITS - 1 - power) << 1) >> (u64::BITS - GROUP_BITS);
        &mut self.shares[((power as usize) << GROUP_BITS) + next_bits as usize]
    }

    /// Adds a pair that occurs at most `bound` times.
    pub fn add_pair(&mut self, bound: u64) {
        self.share(bound).pairs += 1;
    }

    /// Adds the places of a word's pairs whose bounds are at least `min_count`.
    pub fn add_places(&mut self, bounds: &[u64], min_count: u64) {
        bounds.iter().filter(|bound| **bound >= min_count).for_each(|&bound| self.share(bound).places += 1);
    }

    /// Adds a word. `levels` has the highest minimum count at which each pair of neighbours is in one segment.
    pub fn add_segments(&mut self, levels: &[u64], min_count: u64) {
        for (index, &level) in levels.iter().enumerate().filter(|(_, level)| **level >= min_count) {
            let is_linked_left = index > 0 && levels[index - 1] >= level;
            let is_linked_right = levels.get(index + 1).is_some_and(|next| *next > level);
            let share = self.share(level);
            share.links += 1;
            // The link starts a segment, extends a segment, or joins two segments.
            share.segments += 1 - isize::from(is_linked_left) - isize::from(is_linked_right);
        }
    }

    /// Returns the lowest count at which all items take at most `bytes`. If no count qualifies, returns the highest
    /// count, if the items of the highest count take at most `room`.
    pub fn lowest_count(&self, sizes: ItemSizes, bytes: usize, room: usize) -> MemoryFit {
        let (mut sum, mut lowest) = (0, None);
        for (index, share) in self.shares.iter().enumerate().rev().filter(|(_, share)| !share.is_empty()) {
            sum += share.bytes(sizes);
            let total = sum.max(0) as usize;
            match lowest {
                Some(lowest) if total > bytes => return MemoryFit::DownTo(lowest),
                None if total > room => return MemoryFit::NotEvenHighest { from: first_count(index), bytes: total },
                _ => lowest = Some(first_count(index)),
            }
        }
        MemoryFit::DownTo(0)
    }
}

/// The result of finding the lowest count.
pub(super) enum MemoryFit {
    /// The pairs whose count is at least this number fit into memory.
    DownTo(u64),
    /// Even the most frequent pairs do not fit: the pairs that occur at least `from` times take `bytes`.
    NotEvenHighest { from: u64, bytes: usize },
}

/// Returns the lowest count of a share.
fn first_count(index: usize) -> u64 {
    let (power, next_bits) = (index as u32 >> GROUP_BITS, (index & ((1 << GROUP_BITS) - 1)) as u128);
    (((1 << GROUP_BITS) + next_bits) << power >> GROUP_BITS) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_begin_at_their_first_count() {
        let index_of = |count: u64| {
            let mut spread = Spread::default();
            spread.share(count).links = 1;
            spread.shares.iter().position(|share| share.links == 1).unwrap()
        };
        for count in (1..300).chain([1 << 40, (1 << 40) + (1 << 38), u64::MAX]) {
            let index = index_of(count);
            assert!(first_count(index) <= count && index_of(first_count(index)) == index, "{count}");
        }
    }
}
