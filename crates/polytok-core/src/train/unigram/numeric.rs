//! Computes logarithms and exponentials bit for bit as SentencePiece's trainer does, but faster.
//!
//! The trainer computes in double precision and rounds the result to single precision. So a quick approximation with a
//! known error is enough: it yields an interval that contains the exact value. If both ends of the interval round to
//! the same single-precision number, the exact value rounds to this number too. Otherwise (about once in 1,000 times)
//! the functions of the standard library are called. The error bounds are larger than the true errors of the
//! approximations. The code has no other branches, because the processor could not predict which operand is larger.

use std::sync::OnceLock;

use polytok_memory as memory;

use crate::model::unigram::lattice::log_sum_exp;
use crate::spec::SentencePieceVersion;

/// The number of table steps of log(1 + exp(-d)) for each unit of d.
const SOFTPLUS_STEPS: f32 = 32.0;
/// For d of at least this number, log(1 + exp(-d)) is treated as 0.
const SOFTPLUS_END: f32 = 50.0;
/// The number of entries of the table of log(1 + exp(-d)): a power of two.
const SOFTPLUS_ENTRIES: usize = 2048;
/// The number of coefficients of each step.
const TERM_COUNT: usize = 4;
/// The number of table steps of 2^x for each unit of x.
const EXP_STEPS: usize = 64;
/// The largest error of the approximation of log(1 + exp(-d)).
const SOFTPLUS_ERROR: f64 = 2e-10;
/// The largest relative error of the approximation of exp(x).
const EXP_ERROR: f64 = 1e-10;
/// For x below this number, exp(x) times any factor is 0 in single precision.
const MIN_LOG: f64 = -600.0;

/// Adding this number to a float rounds the float to an integer; the lowest bits of the sum hold the integer.
const ROUNDING_CONSTANT: f64 = 1.5 * (1u64 << 52) as f64;
const ROUNDING_CONSTANT_F32: f32 = 1.5 * (1u32 << 23) as f32;

/// A positive factor by which exponentials are multiplied, and its product with the error bounds.
#[derive(Clone, Copy)]
pub struct ExpFactor {
    value: f64,
    /// The value multiplied by 1 - `EXP_ERROR`.
    min_value: f64,
    /// The value multiplied by 1 + `EXP_ERROR`.
    max_value: f64,
}

impl ExpFactor {
    /// Creates a factor from a positive number.
    pub fn new(value: f32) -> ExpFactor {
        let value = value as f64;
        ExpFactor { value, min_value: value * (1.0 - EXP_ERROR), max_value: value * (1.0 + EXP_ERROR) }
    }
}

/// Tables for quick approximations.
pub struct ApproximationTables {
    version: SentencePieceVersion,
    /// Lower bounds of log(1 + exp(-d)), as polynomials in d.
    softplus: Box<[[f64; TERM_COUNT]; SOFTPLUS_ENTRIES]>,
    /// The bits of 2^x for the steps of x in 0..1.
    powers_of_two: [u64; EXP_STEPS],
}

impl ApproximationTables {
    /// Returns the tables of a version. The version decides which exact formula is used if the tables are not precise
    /// enough.
    pub fn for_version(version: SentencePieceVersion) -> &'static ApproximationTables {
        static OLD_TABLES: OnceLock<ApproximationTables> = OnceLock::new();
        static NEW_TABLES: OnceLock<ApproximationTables> = OnceLock::new();
        let tables = if version == SentencePieceVersion::V0_2_1 { &OLD_TABLES } else { &NEW_TABLES };
        tables.get_or_init(|| {
            let mut softplus = memory::zeroed_box::<[[f64; TERM_COUNT]; SOFTPLUS_ENTRIES]>();
            softplus.fill([-SOFTPLUS_ERROR, 0.0, 0.0, 0.0]);
            softplus[..(SOFTPLUS_END * SOFTPLUS_STEPS) as usize]
                .iter_mut()
                .enumerate()
                .for_each(|(step, terms)| *terms = lower_bound_terms(step));
            let powers_of_two = std::array::from_fn(|i| (i as f64 / EXP_STEPS as f64).exp2().to_bits());
            ApproximationTables { version, softplus, powers_of_two }
        })
    }

    /// Returns log(exp(x) + exp(y)).
    #[inline(always)]
    pub fn log_sum_exp(&self, x: f32, y: f32) -> f32 {
        let (min, max) = (if y < x { y } else { x }, if y < x { x } else { y });
        let distance = max - min;
        let distance = if distance < SOFTPLUS_END { distance } else { SOFTPLUS_END };
        let softplus = self.softplus(distance);
        let max = max as f64;
        let rounded = (max + softplus) as f32;
        if rounded.to_bits() == ((max + (softplus + 2.0 * SOFTPLUS_ERROR)) as f32).to_bits() {
            return rounded;
        }
        self.exact_log_sum_exp(x, y)
    }

    /// Returns a lower bound of log(1 + exp(-d)), for d from 0 to `SOFTPLUS_END`.
    #[inline(always)]
    fn softplus(&self, d: f32) -> f64 {
        let [a, b, c, e] =
            self.softplus[(d * SOFTPLUS_STEPS + ROUNDING_CONSTANT_F32).to_bits() as usize % SOFTPLUS_ENTRIES];
        let d = d as f64;
        (a + b * d) + (c + e * d) * (d * d)
    }

    #[cold]
    #[inline(never)]
    fn exact_log_sum_exp(&self, x: f32, y: f32) -> f32 {
        log_sum_exp(x, y, self.version)
    }

    /// Returns `sum` + `factor` × exp(`log`), for a logarithm below a few hundred.
    #[inline(always)]
    pub fn add_exp(&self, sum: f32, factor: ExpFactor, log: f32) -> f32 {
        let (single, sum, log) = (sum, sum as f64, log as f64);
        let exp = self.exp(if log > MIN_LOG { log } else { MIN_LOG });
        let rounded = (sum + exp * factor.min_value) as f32;
        if rounded.to_bits() == ((sum + exp * factor.max_value) as f32).to_bits() {
            return rounded;
        }
        exact_add_exp(single, factor, log)
    }

    /// Returns exp(x) for x between `MIN_LOG` and a few hundred.
    #[inline(always)]
    fn exp(&self, x: f64) -> f64 {
        let shifted = x * (EXP_STEPS as f64 / std::f64::consts::LN_2) + ROUNDING_CONSTANT;
        let power = shifted.to_bits();
        let remainder = x - (shifted - ROUNDING_CONSTANT) * (std::f64::consts::LN_2 / EXP_STEPS as f64);
        let fraction = (1.0 + remainder) + (remainder * remainder) * (1.0 / 2.0 + remainder * (1.0 / 6.0));
        // The integer part of the power is added to the exponent.
        let exponent = (power >> EXP_STEPS.trailing_zeros()) << 52;
        f64::from_bits(self.powers_of_two[power as usize % EXP_STEPS].wrapping_add(exponent)) * fraction
    }
}

#[cold]
#[inline(never)]
fn exact_add_exp(sum: f32, factor: ExpFactor, log: f64) -> f32 {
    (sum as f64 + factor.value * log.exp()) as f32
}

/// Returns the coefficients, in powers of d, of a polynomial that is a lower bound of log(1 + exp(-d)) on one step: the
/// polynomial through Chebyshev's points, minus `SOFTPLUS_ERROR`.
fn lower_bound_terms(step: usize) -> [f64; TERM_COUNT] {
    let (scale, step) = (SOFTPLUS_STEPS as f64, step as f64);
    let [a, b, c, d] = polynomial_terms(step);
    [
        a - step * (b - step * (c - step * d)) - SOFTPLUS_ERROR,
        scale * (b - step * (2.0 * c - 3.0 * step * d)),
        scale * scale * (c - 3.0 * step * d),
        scale * scale * scale * d,
    ]
}

/// Returns the coefficients of the polynomial for one step, in powers of the distance from the middle of the step.
fn polynomial_terms(step: f64) -> [f64; TERM_COUNT] {
    let points: [f64; TERM_COUNT] =
        std::array::from_fn(|i| ((i as f64 + 0.5) / TERM_COUNT as f64 * std::f64::consts::PI).cos() / 2.0);
    let mut slopes = points.map(|point| (-(step + point) / SOFTPLUS_STEPS as f64).exp().ln_1p());
    for order in 1..TERM_COUNT {
        for i in (order..TERM_COUNT).rev() {
            slopes[i] = (slopes[i] - slopes[i - 1]) / (points[i] - points[i - order]);
        }
    }
    let mut terms = [0.0; TERM_COUNT];
    for i in (0..TERM_COUNT).rev() {
        for k in (1..TERM_COUNT).rev() {
            terms[k] = terms[k - 1] - points[i] * terms[k];
        }
        terms[0] = slopes[i] - points[i] * terms[0];
    }
    terms
}

/// Returns the derivative of log Γ(x). Uses the recurrence for x up to 7, and the asymptotic series above.
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
        let tables = ApproximationTables::for_version(SentencePieceVersion::V0_2_3);
        for i in 0..200_000 {
            let d = i as f32 / 4000.0;
            let error = tables.softplus(d) + SOFTPLUS_ERROR - (-d as f64).exp().ln_1p();
            assert!(error.abs() < SOFTPLUS_ERROR / 3.0, "{d}: {error}");
            let x = d as f64 * 10.0 - 490.0;
            assert!((tables.exp(x) / x.exp() - 1.0).abs() < EXP_ERROR / 2.0, "{x}");
        }
    }

    proptest! {
        #[test]
        fn results_equal_the_library(x in -400f32..1.0, y in -60f32..60.0, sum in 0f32..1e7, count in 1u32..1_000_000) {
            for version in [SentencePieceVersion::V0_2_1, SentencePieceVersion::V0_2_3] {
                let tables = ApproximationTables::for_version(version);
                prop_assert_eq!(tables.log_sum_exp(x, x + y), log_sum_exp(x, x + y, version));
                let nearby_x = x / 100.0;
                prop_assert_eq!(tables.log_sum_exp(nearby_x, nearby_x + y), log_sum_exp(nearby_x, nearby_x + y, version));
                prop_assert_eq!(tables.log_sum_exp(f32::NEG_INFINITY, x), x);
                let exact = (sum as f64 + count as f64 * (x as f64).exp()) as f32;
                prop_assert_eq!(tables.add_exp(sum, ExpFactor::new(count as f32), x), exact);
            }
        }
    }
}
