//! Selects a fixed number of sentences: the first sentences, or a random sample drawn in one pass.
//!
//! SentencePiece 0.2.1 draws with a Mersenne Twister, a fixed seed, and the uniform distribution of libstdc++; this
//! module draws the same sentences. SentencePiece 0.2.3 draws different sentences in every process, so this module
//! cannot agree with it; for 0.2.3 it draws the same sentences as for 0.2.1.

use polytok_memory::{Copied, Grow};

/// The seed of SentencePiece's sampler.
const SEED: u32 = 12_345_678;

/// The selected sentences.
pub struct Sample {
    size: usize,
    is_drawn: bool,
    sentences_offered: u64,
    twister: MersenneTwister,
    /// The sentences selected so far, each with the number of times that the sentence counts.
    pub sentences: Vec<(Vec<u8>, u64)>,
}

impl Sample {
    /// Creates an empty sample of up to `size` sentences: drawn at random, or the first sentences.
    pub fn new(size: usize, is_drawn: bool) -> Sample {
        Sample { size, is_drawn, sentences_offered: 0, twister: MersenneTwister::new(SEED), sentences: Vec::new() }
    }

    /// Offers a sentence to the sample, which selects or ignores it.
    pub fn offer(&mut self, sentence: &[u8], times: u64) {
        self.sentences_offered += 1;
        if self.sentences.len() < self.size {
            self.sentences.checked_push((sentence.checked_to_vec(), times));
        } else if self.is_drawn {
            let index = self.twister.random_below(self.sentences_offered) as usize;
            if let Some(slot) = self.sentences.get_mut(index) {
                *slot = (sentence.checked_to_vec(), times);
            }
        }
    }

    /// Returns the number of sentences offered so far.
    pub fn offered(&self) -> u64 {
        self.sentences_offered
    }
}

/// The number of 32-bit words in the state of the generator.
const STATE_LEN: usize = 624;
/// Each word of the state is mixed with the word at this distance.
const MIX_DISTANCE: usize = 397;

/// The random number generator MT19937, by Matsumoto and Nishimura.
struct MersenneTwister {
    state: Vec<u32>,
    next: usize,
}

impl MersenneTwister {
    fn new(seed: u32) -> MersenneTwister {
        let mut state = vec![seed];
        for i in 1..STATE_LEN as u32 {
            let last = state[i as usize - 1];
            state.checked_push((last ^ last >> 30).wrapping_mul(1_812_433_253).wrapping_add(i));
        }
        MersenneTwister { state, next: STATE_LEN }
    }

    fn refill(&mut self) {
        for i in 0..STATE_LEN {
            let joined = self.state[i] & 0x8000_0000 | self.state[(i + 1) % STATE_LEN] & 0x7FFF_FFFF;
            let odd_mask = if joined & 1 == 1 { 0x9908_B0DF } else { 0 };
            self.state[i] = self.state[(i + MIX_DISTANCE) % STATE_LEN] ^ joined >> 1 ^ odd_mask;
        }
        self.next = 0;
    }

    fn draw(&mut self) -> u32 {
        if self.next == STATE_LEN {
            self.refill();
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= y << 7 & 0x9D2C_5680;
        y ^= y << 15 & 0xEFC6_0000;
        y ^ y >> 18
    }

    /// Returns a random number below `bound`. For bounds below 2^32, the result is the same as with libstdc++: Lemire's
    /// method takes the high half of a product, and draws another number if the product would bias the result. For
    /// larger bounds two draws are joined, which differs from libstdc++.
    fn random_below(&mut self, bound: u64) -> u64 {
        let Ok(bound) = u32::try_from(bound) else {
            return ((u64::from(self.draw()) << 32) | u64::from(self.draw())) % bound;
        };
        let mut product = u64::from(self.draw()) * u64::from(bound);
        if (product as u32) < bound {
            let min_low_half = bound.wrapping_neg() % bound;
            while (product as u32) < min_low_half {
                product = u64::from(self.draw()) * u64::from(bound);
            }
        }
        product >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twister_is_the_standard_one() {
        let mut twister = MersenneTwister::new(5489);
        let last = (0..10_000).map(|_| twister.draw()).last();
        assert_eq!(last, Some(4_123_659_995)); // the C++ standard says so
    }

    #[test]
    fn samples_are_the_first_or_drawn() {
        let offer = |mut sample: Sample| {
            (0..1000u32).for_each(|i| sample.offer(&i.to_le_bytes(), 1));
            sample
        };
        let first = offer(Sample::new(3, false));
        assert_eq!(first.sentences.iter().map(|(text, _)| text[0]).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(offer(Sample::new(3, true)).sentences.len(), 3);
        assert_eq!(first.offered(), 1000);
    }
}
