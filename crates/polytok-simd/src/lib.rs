//! The *SIMD level*: the vector instructions that polytok uses, for the whole process.
//!
//! All code with vector instructions asks [`SimdLevel::current`] for each block of a text or more rarely. Therefore no
//! other module detects the processor's instructions. All levels compute the same results; a lower level serves to
//! compare results and speeds. Reading the level costs one load from memory. Threads can read and select the level at
//! any time: a text that is being encoded can be finished with either level.

use std::sync::atomic::{AtomicU8, Ordering};

/// A set of vector instructions. A larger level includes the instructions of all smaller levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum SimdLevel {
    /// No instructions beyond those that every processor of the target has.
    Portable = 1,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT.
    Avx2 = 2,
    /// AVX-512 with operations on bytes (F, BW, VBMI and VBMI2), and the instructions of `Avx2`.
    Avx512 = 3,
}

/// The level of the process as a number; 0 before the first use.
static CURRENT: AtomicU8 = AtomicU8::new(0);

impl SimdLevel {
    /// All levels, the fastest last.
    pub const ALL: [SimdLevel; 3] = [SimdLevel::Portable, SimdLevel::Avx2, SimdLevel::Avx512];

    /// Returns the level of the process, which the processor supports: the fastest, or the last that was selected.
    #[inline]
    pub fn current() -> SimdLevel {
        match CURRENT.load(Ordering::Relaxed) {
            1 => SimdLevel::Portable,
            2 => SimdLevel::Avx2,
            3 => SimdLevel::Avx512,
            _ => SimdLevel::first_use(),
        }
    }

    /// Returns the levels that the processor supports, the fastest last. The first is `Portable`.
    pub fn supported() -> impl Iterator<Item = SimdLevel> {
        SimdLevel::ALL.into_iter().filter(|level| level.is_supported())
    }

    /// Makes a level the level of the process. Returns false, without an effect, if the processor does not support the
    /// level.
    pub fn select(self) -> bool {
        let is_supported = self.is_supported();
        if is_supported {
            CURRENT.store(self as u8, Ordering::Relaxed);
        }
        is_supported
    }

    /// Sets the level to the fastest, unless another thread has selected a level in the meantime.
    #[cold]
    fn first_use() -> SimdLevel {
        let fastest = SimdLevel::supported().last().unwrap_or(SimdLevel::Portable);
        let result = CURRENT.compare_exchange(0, fastest as u8, Ordering::Relaxed, Ordering::Relaxed);
        if result.is_ok() { fastest } else { SimdLevel::current() }
    }

    #[cfg(target_arch = "x86_64")]
    #[allow(clippy::disallowed_macros, reason = "this is the only function that detects instructions")]
    fn is_supported(self) -> bool {
        use std::arch::is_x86_feature_detected as has;
        let has_avx2 = || has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
        let has_avx512 = || has!("avx512f") && has!("avx512bw") && has!("avx512vbmi") && has!("avx512vbmi2");
        match self {
            SimdLevel::Portable => true,
            SimdLevel::Avx2 => has_avx2(),
            SimdLevel::Avx512 => has_avx2() && has_avx512(),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_supported(self) -> bool {
        self == SimdLevel::Portable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_level_is_current_until_another_is_selected() {
        let supported: Vec<SimdLevel> = SimdLevel::supported().collect();
        assert_eq!(supported[0], SimdLevel::Portable);
        assert_eq!(Some(&SimdLevel::current()), supported.last());
        for level in SimdLevel::ALL {
            let before = SimdLevel::current();
            assert_eq!(level.select(), supported.contains(&level));
            assert_eq!(SimdLevel::current(), if supported.contains(&level) { level } else { before });
        }
    }
}
