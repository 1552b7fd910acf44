//! The memory that pairs and segments of words take by frequency, which gives the lowest frequency at which everything
//! fits.

/// Frequencies are grouped by their power of two and by this many bits after the first.
const BITS: u32 = 3;

/// Bytes in memory for each cell, segment, place and pair.
#[derive(Clone, Copy)]
pub(crate) struct ItemSizes {
    pub cell: usize,
    pub segment: usize,
    pub place: usize,
    pub pair: usize,
}

/// What a round holds in addition if it merges the pairs of one frequency too: pairs, their places, links between
/// neighbours, and segments. The number of segments can fall, because segments join.
#[derive(Clone, Copy, Default)]
struct FrequencyShare {
    pairs: usize,
    places: usize,
    links: usize,
    segments: isize,
}

impl FrequencyShare {
    /// A segment has one cell more than links, and a wall.
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
        Spread { shares: vec![FrequencyShare::default(); (u64::BITS as usize) << BITS] }
    }
}

impl Spread {
    fn of(&mut self, count: u64) -> &mut FrequencyShare {
        let power = count.max(1).ilog2();
        let after = (count << (u64::BITS - 1 - power) << 1) >> (u64::BITS - BITS);
        &mut self.shares[((power as usize) << BITS) + after as usize]
    }

    /// Adds a pair that occurs at most `bound` times.
    pub fn add_pair(&mut self, bound: u64) {
        self.of(bound).pairs += 1;
    }

    /// Adds the places of the pairs of a word whose bounds are at least `least`.
    pub fn add_places(&mut self, bounds: &[u64], least: u64) {
        bounds.iter().filter(|bound| **bound >= least).for_each(|&bound| self.of(bound).places += 1);
    }

    /// Adds a word whose neighbours are in one segment from these counts down.
    pub fn add_segments(&mut self, levels: &[u64], least: u64) {
        for (index, &level) in levels.iter().enumerate().filter(|(_, level)| **level >= least) {
            let is_linked_left = index > 0 && levels[index - 1] >= level;
            let is_linked_right = levels.get(index + 1).is_some_and(|next| *next > level);
            let share = self.of(level);
            share.links += 1;
            // The link starts a segment, extends one, or joins two.
            share.segments += 1 - isize::from(is_linked_left) - isize::from(is_linked_right);
        }
    }

    /// The lowest count down to which everything takes at most `bytes`, or the highest count if that takes at most
    /// `room`.
    pub fn least_count(&self, sizes: ItemSizes, bytes: usize, room: usize) -> MemoryFit {
        let (mut sum, mut lowest) = (0, None);
        for (place, share) in self.shares.iter().enumerate().rev().filter(|(_, share)| !share.is_empty()) {
            sum += share.bytes(sizes);
            let taken = sum.max(0) as usize;
            match lowest {
                Some(lowest) if taken > bytes => return MemoryFit::DownTo(lowest),
                None if taken > room => return MemoryFit::Nothing { from: first_count(place), bytes: taken },
                _ => lowest = Some(first_count(place)),
            }
        }
        MemoryFit::DownTo(0)
    }
}

/// What fits into memory.
pub(super) enum MemoryFit {
    /// Pairs that occur at least this often.
    DownTo(u64),
    /// Not even the most frequent pairs: they occur at least `from` times, and take `bytes`.
    Nothing { from: u64, bytes: usize },
}

/// The lowest count of a share.
fn first_count(place: usize) -> u64 {
    let (power, after) = (place as u32 >> BITS, (place & ((1 << BITS) - 1)) as u128);
    (((1 << BITS) + after) << power >> BITS) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_begin_at_their_first_count() {
        let place_of = |count: u64| {
            let mut spread = Spread::default();
            spread.of(count).links = 1;
            spread.shares.iter().position(|share| share.links == 1).unwrap()
        };
        for count in (1..300).chain([1 << 40, (1 << 40) + (1 << 38), u64::MAX]) {
            let place = place_of(count);
            assert!(first_count(place) <= count && place_of(first_count(place)) == place, "{count}");
        }
    }
}
