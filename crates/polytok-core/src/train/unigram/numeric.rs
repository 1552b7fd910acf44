//! Logarithms and exponentials, bit for bit as SentencePiece's trainer computes them, but faster.
//!
//! The trainer works in double precision and rounds to single precision. So a quick approximation does: where everything within its
//! error rounds to the same single, that is what the library's functions would give; where not (about one time in 10,000), they
//! are called. The bounds used here are far above what the approximations need.

use std::sync::OnceLock;

use crate::model::lattice::log_sum_exp;
use crate::spec::Line;

/// Steps of log(1 + exp(-d)) for each unit of d.
const STEPS: f64 = 8.0;
/// The table ends here.
const END: f32 = 50.0;
/// An operand that is so much smaller than one beyond ±1 does not change it: exp(-18) is below half of what such numbers differ by.
const NOTHING: f32 = 18.0;
/// Coefficients of each step.
const TERMS: usize = 6;
/// Steps of 2^x for each unit of x.
const POWERS: usize = 64;
/// How far the approximation of log(1 + exp(-d)) may be off, and that of exp(x), as a share of it.
const ERROR: f64 = 1e-10;
/// What rounding to double precision may add, as a share of the result.
const ROUNDING: f64 = 1e-15;
/// Below this the library computes exp.
const LEAST_LOG: f64 = -600.0;

/// Adding it rounds to an integer, which the lowest bits then are.
const MAGIC: f64 = 1.5 * (1u64 << 52) as f64;

/// What exponentials are multiplied with.
#[derive(Clone, Copy)]
pub struct Factor {
    value: f32,
    /// Its logarithm, base 2, and how many bits lower something is nothing beside a sum, with one to spare.
    bits: f32,
}

impl Factor {
    /// Of a positive number.
    pub fn of(value: f32) -> Factor {
        Factor { value, bits: value.log2() + 26.0 }
    }
}

/// Tables for quick approximations.
pub struct Tables {
    line: Line,
    softplus: Vec<[f64; TERMS]>,
    powers: [f64; POWERS],
}

impl Tables {
    /// The tables of a line; its formula is what the library computes where they do not decide.
    pub fn of(line: Line) -> &'static Tables {
        static OLD: OnceLock<Tables> = OnceLock::new();
        static NEW: OnceLock<Tables> = OnceLock::new();
        let tables = if line == Line::V0_2_1 { &OLD } else { &NEW };
        tables.get_or_init(|| {
            let softplus = (0..=(END as f64 * STEPS) as usize).map(|step| fit(step as f64)).collect();
            Tables { line, softplus, powers: std::array::from_fn(|i| (i as f64 / POWERS as f64).exp2()) }
        })
    }

    /// log(exp(x) + exp(y)).
    #[inline]
    pub fn log_sum_exp(&self, x: f32, y: f32) -> f32 {
        let (min, max) = if y < x { (y, x) } else { (x, y) };
        let less = max - min;
        if less > NOTHING && max.abs() >= 1.0 {
            return max;
        }
        let place = less as f64 * STEPS;
        let nearest = place + MAGIC;
        if let Some(terms) = self.softplus.get(nearest.to_bits() as u32 as usize).filter(|_| less <= END) {
            let sum = max as f64 + polynomial(terms, place - (nearest - MAGIC));
            let error = ERROR + sum.abs() * ROUNDING;
            let rounded = (sum - error) as f32;
            if rounded == (sum + error) as f32 {
                return rounded;
            }
        }
        log_sum_exp(x, y, self.line)
    }

    /// `sum` + `factor` × exp(`log`), for a positive factor.
    #[inline]
    pub fn add_exp(&self, sum: f32, factor: Factor, log: f32) -> f32 {
        // What is below a quarter of the sum's last bit does not change it; that is so for most of what is added.
        let exponent = (sum.to_bits() >> 23) as i32 - 127;
        if log * std::f32::consts::LOG2_E + factor.bits < exponent as f32 {
            return sum;
        }
        let factor = factor.value as f64;
        let log = log as f64;
        if log > LEAST_LOG {
            let added = factor * self.exp(log);
            let total = sum as f64 + added;
            let error = added * ERROR + total * ROUNDING;
            let rounded = (total - error) as f32;
            if rounded == (total + error) as f32 {
                return rounded;
            }
        }
        (sum as f64 + factor * log.exp()) as f32
    }

    /// exp(x) for x between `LEAST_LOG` and a few hundred.
    #[inline]
    fn exp(&self, x: f64) -> f64 {
        let shifted = x * (POWERS as f64 / std::f64::consts::LN_2) + MAGIC;
        let power = shifted.to_bits() as i32;
        let rest = x - (shifted - MAGIC) * (std::f64::consts::LN_2 / POWERS as f64);
        let fraction =
            1.0 + rest * (1.0 + rest * (1.0 / 2.0 + rest * (1.0 / 6.0 + rest * (1.0 / 24.0 + rest / 120.0))));
        let whole = f64::from_bits(((power >> POWERS.trailing_zeros()) + 1023) as u64 * (1 << 52));
        whole * self.powers[power as usize % POWERS] * fraction
    }
}

/// The coefficients of log(1 + exp(-d)) over one step, around its middle: the polynomial through Chebyshev's points.
fn fit(step: f64) -> [f64; TERMS] {
    let points: [f64; TERMS] =
        std::array::from_fn(|i| ((i as f64 + 0.5) / TERMS as f64 * std::f64::consts::PI).cos() / 2.0);
    let mut slopes = points.map(|point| (-(step + point) / STEPS).exp().ln_1p());
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

#[inline]
fn polynomial(terms: &[f64; TERMS], x: f64) -> f64 {
    let [a, b, c, d, e, f] = *terms;
    let square = x * x;
    (a + b * x) + ((c + d * x) + (e + f * x) * square) * square
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
            let d = i as f64 / 4000.0;
            let step = (d * STEPS).round();
            let off = polynomial(&tables.softplus[step as usize], d * STEPS - step) - (-d).exp().ln_1p();
            assert!(off.abs() < ERROR / 50.0, "{d}: {off}");
            let x = d * 10.0 - 490.0;
            assert!((tables.exp(x) / x.exp() - 1.0).abs() < ERROR / 5.0, "{x}");
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
