//! Logarithms and exponentials, bit for bit as SentencePiece's trainer computes them, but faster.
//!
//! The trainer works in double precision and rounds to single precision. So a quick approximation does: rounding keeps order, so
//! where both ends of what the exact value may be round to the same single, that is what the library's functions would give; where
//! not (about one time in 1,000), they are called. The bounds used here are above what the approximations need, and nothing else
//! branches: which operand is larger, and whether the other counts at all, is hard to foresee.

use std::sync::OnceLock;

use crate::model::unigram::lattice::log_sum_exp;
use crate::spec::Line;

/// Steps of log(1 + exp(-d)) for each unit of d.
const STEPS: f32 = 32.0;
/// From here on it is nothing.
const END: f32 = 50.0;
/// Entries of its table: a power of two.
const ENTRIES: usize = 2048;
/// Coefficients of each step.
const TERMS: usize = 4;
/// Steps of 2^x for each unit of x.
const POWERS: usize = 64;
/// How far the approximation of log(1 + exp(-d)) may be off.
const ERROR: f64 = 2e-10;
/// How far the approximation of exp(x) may be off, as a share of it.
const SHARE: f64 = 1e-10;
/// Below this exp is nothing in single precision, times whatever.
const LEAST_LOG: f64 = -600.0;

/// Adding it rounds to an integer, which the lowest bits then are.
const MAGIC: f64 = 1.5 * (1u64 << 52) as f64;
const MAGIC_SINGLE: f32 = 1.5 * (1u32 << 23) as f32;

/// What exponentials are multiplied with.
#[derive(Clone, Copy)]
pub struct Factor {
    value: f64,
    /// A little less and a little more, by what approximations may be off.
    less: f64,
    more: f64,
}

impl Factor {
    /// Of a positive number.
    pub fn of(value: f32) -> Factor {
        let value = value as f64;
        Factor { value, less: value * (1.0 - SHARE), more: value * (1.0 + SHARE) }
    }
}

/// Tables for quick approximations.
pub struct Tables {
    line: Line,
    /// The least that log(1 + exp(-d)) may be, as polynomials in d.
    softplus: Box<[[f64; TERMS]; ENTRIES]>,
    /// The bits of 2^x.
    powers: [u64; POWERS],
}

impl Tables {
    /// The tables of a line; its formula is what the library computes where they do not decide.
    pub fn of(line: Line) -> &'static Tables {
        static OLD: OnceLock<Tables> = OnceLock::new();
        static NEW: OnceLock<Tables> = OnceLock::new();
        let tables = if line == Line::V0_2_1 { &OLD } else { &NEW };
        tables.get_or_init(|| {
            let mut softplus = Box::new([[-ERROR, 0.0, 0.0, 0.0]; ENTRIES]);
            softplus[..(END * STEPS) as usize].iter_mut().enumerate().for_each(|(step, terms)| *terms = least(step));
            let powers = std::array::from_fn(|i| (i as f64 / POWERS as f64).exp2().to_bits());
            Tables { line, softplus, powers }
        })
    }

    /// log(exp(x) + exp(y)).
    #[inline(always)]
    pub fn log_sum_exp(&self, x: f32, y: f32) -> f32 {
        let (min, max) = (if y < x { y } else { x }, if y < x { x } else { y });
        let less = max - min;
        let less = if less < END { less } else { END };
        let softplus = self.softplus(less);
        let max = max as f64;
        let rounded = (max + softplus) as f32;
        if rounded.to_bits() == ((max + (softplus + 2.0 * ERROR)) as f32).to_bits() {
            return rounded;
        }
        self.exact_log_sum_exp(x, y)
    }

    /// The least that log(1 + exp(-d)) may be, for d of 0 to `END`.
    #[inline(always)]
    fn softplus(&self, d: f32) -> f64 {
        let [a, b, c, e] = self.softplus[(d * STEPS + MAGIC_SINGLE).to_bits() as usize % ENTRIES];
        let d = d as f64;
        (a + b * d) + (c + e * d) * (d * d)
    }

    #[cold]
    #[inline(never)]
    fn exact_log_sum_exp(&self, x: f32, y: f32) -> f32 {
        log_sum_exp(x, y, self.line)
    }

    /// `sum` + `factor` × exp(`log`), for a positive factor and a logarithm below a few hundred.
    #[inline(always)]
    pub fn add_exp(&self, sum: f32, factor: Factor, log: f32) -> f32 {
        let (single, sum, log) = (sum, sum as f64, log as f64);
        let exp = self.exp(if log > LEAST_LOG { log } else { LEAST_LOG });
        let rounded = (sum + exp * factor.less) as f32;
        if rounded.to_bits() == ((sum + exp * factor.more) as f32).to_bits() {
            return rounded;
        }
        exact_add_exp(single, factor, log)
    }

    /// exp(x) for x between `LEAST_LOG` and a few hundred.
    #[inline(always)]
    fn exp(&self, x: f64) -> f64 {
        let shifted = x * (POWERS as f64 / std::f64::consts::LN_2) + MAGIC;
        let power = shifted.to_bits();
        let rest = x - (shifted - MAGIC) * (std::f64::consts::LN_2 / POWERS as f64);
        let fraction = (1.0 + rest) + (rest * rest) * (1.0 / 2.0 + rest * (1.0 / 6.0));
        // The whole part of the power is added to the exponent.
        let whole = (power >> POWERS.trailing_zeros()) << 52;
        f64::from_bits(self.powers[power as usize % POWERS].wrapping_add(whole)) * fraction
    }
}

#[cold]
#[inline(never)]
fn exact_add_exp(sum: f32, factor: Factor, log: f64) -> f32 {
    (sum as f64 + factor.value * log.exp()) as f32
}

/// The coefficients of one step of log(1 + exp(-d)), in powers of d: the polynomial through Chebyshev's points, less `ERROR`.
fn least(step: usize) -> [f64; TERMS] {
    let (scale, step) = (STEPS as f64, step as f64);
    let [a, b, c, d] = fit(step);
    [
        a - step * (b - step * (c - step * d)) - ERROR,
        scale * (b - step * (2.0 * c - 3.0 * step * d)),
        scale * scale * (c - 3.0 * step * d),
        scale * scale * scale * d,
    ]
}

/// The same around the middle of the step, of which one is the unit.
fn fit(step: f64) -> [f64; TERMS] {
    let points: [f64; TERMS] =
        std::array::from_fn(|i| ((i as f64 + 0.5) / TERMS as f64 * std::f64::consts::PI).cos() / 2.0);
    let mut slopes = points.map(|point| (-(step + point) / STEPS as f64).exp().ln_1p());
    for order in 1..TERMS {
        for i in (order..TERMS).rev() {
            slopes[i] = (slopes[i] - slopes[i - 1]) / (points[i] - points[i - order]);
        }
    }
    let mut terms = [0.0; TERMS];
    for i in (0..TERMS).rev() {
        for k in (1..TERMS).rev() {
            terms[k] = terms[k - 1] - points[i] * terms[k];
        }
        terms[0] = slopes[i] - points[i] * terms[0];
    }
    terms
}

/// The derivative of log Γ(x), by its recurrence up to 7 and then by its asymptotic series.
pub fn digamma(mut x: f64) -> f64 {
    let mut result = 0.0;
    while x < 7.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    x -= 1.0 / 2.0;
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let fourth = square * square;
    result
        + (x.ln() + (1.0 / 24.0) * square - (7.0 / 960.0) * fourth + (31.0 / 8064.0) * fourth * square
            - (127.0 / 30720.0) * fourth * fourth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn approximations_are_far_better_than_assumed() {
        let tables = Tables::of(Line::V0_2_3);
        for i in 0..200_000 {
            let d = i as f32 / 4000.0;
            let off = tables.softplus(d) + ERROR - (-d as f64).exp().ln_1p();
            assert!(off.abs() < ERROR / 3.0, "{d}: {off}");
            let x = d as f64 * 10.0 - 490.0;
            assert!((tables.exp(x) / x.exp() - 1.0).abs() < SHARE / 2.0, "{x}");
        }
    }

    proptest! {
        #[test]
        fn results_are_those_of_the_library(x in -400f32..1.0, y in -60f32..60.0, sum in 0f32..1e7, count in 1u32..1_000_000) {
            for line in [Line::V0_2_1, Line::V0_2_3] {
                let tables = Tables::of(line);
                prop_assert_eq!(tables.log_sum_exp(x, x + y), log_sum_exp(x, x + y, line));
                prop_assert_eq!(tables.log_sum_exp(x / 100.0, x / 100.0 + y), log_sum_exp(x / 100.0, x / 100.0 + y, line));
                prop_assert_eq!(tables.log_sum_exp(f32::NEG_INFINITY, x), x);
                let exact = (sum as f64 + count as f64 * (x as f64).exp()) as f32;
                prop_assert_eq!(tables.add_exp(sum, Factor::of(count as f32), x), exact);
            }
        }
    }
}
