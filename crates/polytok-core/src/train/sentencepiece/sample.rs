//! Some of many sentences: the first ones, or a sample of fixed size, drawn while they pass.
//!
//! 0.2.1 draws with a Mersenne twister of a fixed seed and libstdc++'s uniform distribution; the same sentences are drawn
//! here. 0.2.3 draws other ones in every process, so nothing can be compared, and its line draws as 0.2.1 does.

/// The seed of SentencePiece's sampler.
const SEED: u32 = 12_345_678;

/// Sentences, each with how often it counts.
pub struct Sample {
    size: usize,
    is_drawn: bool,
    seen: u64,
    twister: Twister,
    /// What was taken until now.
    pub sentences: Vec<(Vec<u8>, u64)>,
}

impl Sample {
    /// Of that many sentences; drawn, or the first ones.
    pub fn new(size: usize, is_drawn: bool) -> Sample {
        Sample { size, is_drawn, seen: 0, twister: Twister::new(SEED), sentences: Vec::new() }
    }

    /// Offers a sentence.
    pub fn offer(&mut self, sentence: &[u8], times: u64) {
        self.seen += 1;
        if self.sentences.len() < self.size {
            self.sentences.push((sentence.to_vec(), times));
        } else if self.is_drawn {
            let place = self.twister.below(self.seen) as usize;
            if let Some(slot) = self.sentences.get_mut(place) {
                *slot = (sentence.to_vec(), times);
            }
        }
    }

    /// How many were offered.
    pub fn seen(&self) -> u64 {
        self.seen
    }
}

const SIZE: usize = 624;
const MIDDLE: usize = 397;

/// MT19937, by Matsumoto and Nishimura.
struct Twister {
    state: Vec<u32>,
    next: usize,
}

impl Twister {
    fn new(seed: u32) -> Twister {
        let mut state = vec![seed];
        for i in 1..SIZE as u32 {
            let last = state[i as usize - 1];
            state.push((last ^ last >> 30).wrapping_mul(1_812_433_253).wrapping_add(i));
        }
        Twister { state, next: SIZE }
    }

    fn turn(&mut self) {
        for i in 0..SIZE {
            let joined = self.state[i] & 0x8000_0000 | self.state[(i + 1) % SIZE] & 0x7FFF_FFFF;
            let odd = if joined & 1 == 1 { 0x9908_B0DF } else { 0 };
            self.state[i] = self.state[(i + MIDDLE) % SIZE] ^ joined >> 1 ^ odd;
        }
        self.next = 0;
    }

    fn draw(&mut self) -> u32 {
        if self.next == SIZE {
            self.turn();
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= y << 7 & 0x9D2C_5680;
        y ^= y << 15 & 0xEFC6_0000;
        y ^ y >> 18
    }

    /// A number below `of`, which is below 2^32, as libstdc++ has it: the high half of a product, drawn again where that would
    /// not be fair (Lemire). Above that, which libstdc++ does otherwise, two numbers are joined.
    fn below(&mut self, of: u64) -> u64 {
        let Ok(of) = u32::try_from(of) else {
            return ((u64::from(self.draw()) << 32) | u64::from(self.draw())) % of;
        };
        let mut product = u64::from(self.draw()) * u64::from(of);
        if (product as u32) < of {
            let least = of.wrapping_neg() % of;
            while (product as u32) < least {
                product = u64::from(self.draw()) * u64::from(of);
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
        let mut twister = Twister::new(5489);
        let last = (0..10_000).map(|_| twister.draw()).last();
        assert_eq!(last, Some(4_123_659_995)); // the C++ standard says so
    }

    #[test]
    fn the_first_or_some() {
        let offer = |mut sample: Sample| {
            (0..1000u32).for_each(|i| sample.offer(&i.to_le_bytes(), 1));
            sample
        };
        let first = offer(Sample::new(3, false));
        assert_eq!(first.sentences.iter().map(|(text, _)| text[0]).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(offer(Sample::new(3, true)).sentences.len(), 3);
        assert_eq!(first.seen(), 1000);
    }
}
