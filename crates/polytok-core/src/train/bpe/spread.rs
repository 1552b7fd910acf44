//! What pairs and words of each frequency take in memory, and so down to which frequency everything fits.

use crate::error::{Error, Result};

/// Frequencies are told apart by their powers of two, and by this many bits behind the first.
const BITS: u32 = 3;

/// Bytes for each cell, word, place and pair of what is held.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub cell: usize,
    pub word: usize,
    pub place: usize,
    pub pair: usize,
}

/// What a round holds of one frequency: pairs and their places, and words whose most frequent pair has it.
#[derive(Clone, Copy, Default)]
pub(super) struct Share {
    pub pairs: usize,
    pub places: usize,
    pub words: usize,
    pub cells: usize,
}

impl Share {
    fn bytes(&self, sizes: Sizes) -> usize {
        self.pairs * sizes.pair + self.places * sizes.place + self.words * sizes.word + self.cells * sizes.cell
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
    pub fn of(&mut self, count: u64) -> &mut Share {
        let power = count.max(1).ilog2();
        let behind = (count << (u64::BITS - 1 - power) << 1) >> (u64::BITS - BITS);
        &mut self.shares[((power as usize) << BITS) + behind as usize]
    }

    /// The lowest count down to which everything takes at most so many bytes, or else the highest one that there is, if that
    /// fits `room`.
    pub fn least_count(&self, sizes: Sizes, bytes: usize, room: usize) -> Result<u64> {
        let (mut taken, mut lowest) = (0, None);
        for (place, share) in self.shares.iter().enumerate().rev().filter(|(_, share)| share.places + share.words > 0) {
            taken += share.bytes(sizes);
            if taken > bytes && lowest.is_some() {
                return Ok(lowest.unwrap_or(0));
            }
            if taken > room {
                return Err(too_little(taken));
            }
            lowest = Some(first_count(place));
        }
        // Everything fits.
        Ok(0)
    }
}

/// The lowest count of a share.
fn first_count(place: usize) -> u64 {
    let (power, behind) = (place as u32 >> BITS, (place & ((1 << BITS) - 1)) as u128);
    (((1 << BITS) + behind) << power >> BITS) as u64
}

fn too_little(bytes: usize) -> Error {
    Error::Argument(format!(
        "learning from these words takes {} MB of memory at least, more than max_memory leaves for it: raise it, or cut texts \
         into shorter words",
        bytes.div_ceil(1 << 20)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_begin_at_their_first_count() {
        let place_of = |count: u64| {
            let mut spread = Spread::default();
            spread.of(count).words = 1;
            spread.shares.iter().position(|share| share.words == 1).unwrap()
        };
        for count in (1..300).chain([1 << 40, (1 << 40) + (1 << 38), u64::MAX]) {
            let place = place_of(count);
            assert!(first_count(place) <= count && place_of(first_count(place)) == place, "{count}");
        }
    }
}
