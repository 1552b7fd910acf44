//! What pairs and stretches of words of each frequency take in memory, and so down to which frequency everything fits.

/// Frequencies are told apart by their powers of two, and by this many bits behind the first.
const BITS: u32 = 3;

/// Bytes for each cell, stretch, place and pair of what is held.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub cell: usize,
    pub stretch: usize,
    pub place: usize,
    pub pair: usize,
}

/// What a round holds more where pairs of one frequency are merged too: pairs, their places, links between neighbours, and
/// stretches, which may become fewer, as they grow together.
#[derive(Clone, Copy, Default)]
struct Share {
    pairs: usize,
    places: usize,
    links: usize,
    stretches: isize,
}

impl Share {
    /// A stretch has one cell more than links, and a wall.
    fn bytes(&self, sizes: Sizes) -> isize {
        let stretch = (sizes.stretch + 2 * sizes.cell) as isize;
        (self.pairs * sizes.pair + self.places * sizes.place + self.links * sizes.cell) as isize
            + self.stretches * stretch
    }

    fn is_empty(&self) -> bool {
        self.places == 0 && self.links == 0
    }
}

/// What all frequencies hold.
pub(super) struct Spread {
    shares: Vec<Share>,
}

impl Default for Spread {
    fn default() -> Spread {
        Spread { shares: vec![Share::default(); (u64::BITS as usize) << BITS] }
    }
}

impl Spread {
    fn of(&mut self, count: u64) -> &mut Share {
        let power = count.max(1).ilog2();
        let behind = (count << (u64::BITS - 1 - power) << 1) >> (u64::BITS - BITS);
        &mut self.shares[((power as usize) << BITS) + behind as usize]
    }

    /// Adds a pair that may occur so often.
    pub fn add_pair(&mut self, bound: u64) {
        self.of(bound).pairs += 1;
    }

    /// Adds the places of the pairs of a word, which may occur so often each, where they occur often enough.
    pub fn add_places(&mut self, bounds: &[u64], least: u64) {
        bounds.iter().filter(|bound| **bound >= least).for_each(|&bound| self.of(bound).places += 1);
    }

    /// Adds a word whose neighbours are held together from these counts down.
    pub fn add_stretches(&mut self, levels: &[u64], least: u64) {
        for (index, &level) in levels.iter().enumerate().filter(|(_, level)| **level >= least) {
            let is_behind = index > 0 && levels[index - 1] >= level;
            let is_before = levels.get(index + 1).is_some_and(|next| *next > level);
            let share = self.of(level);
            share.links += 1;
            // It begins a stretch, makes one longer, or makes one of two.
            share.stretches += 1 - isize::from(is_behind) - isize::from(is_before);
        }
    }

    /// The lowest count down to which everything takes at most so many bytes, or else the highest one that there is.
    pub fn least_count(&self, sizes: Sizes, bytes: usize, room: usize) -> Fit {
        let (mut sum, mut lowest) = (0, None);
        for (place, share) in self.shares.iter().enumerate().rev().filter(|(_, share)| !share.is_empty()) {
            sum += share.bytes(sizes);
            let taken = sum.max(0) as usize;
            match lowest {
                Some(lowest) if taken > bytes => return Fit::DownTo(lowest),
                None if taken > room => return Fit::Nothing { from: first_count(place), bytes: taken },
                _ => lowest = Some(first_count(place)),
            }
        }
        Fit::DownTo(0)
    }
}

/// What fits memory.
pub(super) enum Fit {
    /// Pairs that occur so often or more.
    DownTo(u64),
    /// Not even the most frequent pairs, which occur so often at the least, for they take so much.
    Nothing { from: u64, bytes: usize },
}

/// The lowest count of a share.
fn first_count(place: usize) -> u64 {
    let (power, behind) = (place as u32 >> BITS, (place & ((1 << BITS) - 1)) as u128);
    (((1 << BITS) + behind) << power >> BITS) as u64
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
