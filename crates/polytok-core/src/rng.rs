//! Random numbers for sampling: xoshiro256**, seeded through splitmix64 (both by Blackman and Vigna).
//!
//! Each call creates a generator of its own; there is no global state. The same seed gives the same samples on every
//! machine. The reference programs take seeds from the operating system, so their samples differ from run to run;
//! polytok draws from the same distributions with a seed.

/// A deterministic generator of random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Returns a generator whose sequence depends only on `seed`.
    pub fn new(seed: u64) -> Rng {
        let mut x = seed;
        let state = std::array::from_fn(|_| {
            x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = x;
            z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ z >> 31
        });
        Rng { state }
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a random multiple of 2^-53 in [0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Draws an index with probability proportional to exp(`log_weights[index]`). A NaN has weight 0; if all weights
    /// are 0, every index is equally likely. `log_weights` must not be empty.
    pub fn draw(&mut self, log_weights: &[f64]) -> usize {
        let max = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weight = |log: f64| if log == max { 1.0 } else { (log - max).exp() };
        let total: f64 = log_weights.iter().map(|&log| weight(log)).filter(|w| !w.is_nan()).sum();
        let mut remaining_weight = self.uniform() * if total > 0.0 { total } else { log_weights.len() as f64 };
        let mut last = 0;
        for (i, &log) in log_weights.iter().enumerate() {
            let weight = if total > 0.0 { weight(log) } else { 1.0 };
            if weight > 0.0 {
                last = i;
                remaining_weight -= weight;
                if remaining_weight < 0.0 {
                    break;
                }
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // The program of the algorithm's authors returns these numbers for the state 1, 2, 3, 4.
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let numbers: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        assert_eq!(numbers, [11520, 0, 1509978240, 1215971899390074240]);
        assert_eq!(Rng::new(0).state[0], 0xE220_A839_7B1D_CDAF); // the first number of splitmix64 with the seed 0
    }

    #[test]
    fn draws_follow_the_weights() {
        let mut rng = Rng::new(7);
        let mut counts = [0; 3];
        for _ in 0..30_000 {
            counts[rng.draw(&[1f64.ln(), 2f64.ln(), f64::NEG_INFINITY])] += 1;
        }
        assert!((counts[0] - 10_000i32).abs() < 400 && counts[2] == 0, "{counts:?}");
        assert_eq!(rng.draw(&[f64::NAN, 0.0, f64::NAN]), 1);
        assert_eq!(rng.draw(&[f64::INFINITY, 0.0]), 0);
        assert!(rng.draw(&[f64::NAN, f64::NEG_INFINITY]) < 2);
    }
}
