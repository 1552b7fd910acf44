//! A [`Rule`] tried at 64 places at a time.
//!
//! Bytes become groups first: the table of 128 groups is eight tables of sixteen, of which a byte's upper half chooses one. Then
//! each cube is a bit, so an octet of cubes takes a table lookup for each of the five characters and four ANDs. The processor
//! looks up 32 bytes at a time (AVX2). Without it the rule is not used: the automaton alone is faster than this would be.

use super::rule::{BEFORE, GROUPS, Octet, Rule, WINDOW};

/// Words of a block.
pub(super) const WORDS: usize = 4;
/// Bytes that are looked up at once.
const LANES: usize = 32;
/// Bytes that a block reads from its first window on.
const READ: usize = WORDS * 64 + LANES;

/// For 64 places where a piece ends, and where that depends on more.
#[derive(Clone, Copy, Default)]
pub(super) struct Word {
    pub(super) yes: u64,
    pub(super) ask: u64,
}

/// Whether the rule can be used here.
#[inline]
pub(super) fn is_supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// What the rule tells of the places from `from` on, and of how many words of them: as many as can be read, up to a block.
#[inline]
pub(super) fn block(rule: &Rule, text: &[u8], from: usize) -> ([Word; WORDS], usize) {
    let mut words = [Word::default(); WORDS];
    let readable = from.checked_sub(BEFORE).map_or(&[][..], |start| &text[start.min(text.len())..]);
    let count = (readable.len().saturating_sub(LANES) / 64).min(WORDS);
    #[cfg(target_arch = "x86_64")]
    if count > 0 && is_supported() {
        // SAFETY: the processor has AVX2.
        unsafe { avx2::words(rule, &readable[..count * 64 + LANES], &mut words) };
        return (words, count);
    }
    (words, 0)
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::*;
    use std::arch::x86_64::*;

    /// Fills as many words as `bytes` are for: 64 each and `LANES` more. The first window begins with the first byte.
    #[target_feature(enable = "avx2")]
    pub(super) fn words(rule: &Rule, bytes: &[u8], words: &mut [Word; WORDS]) {
        let mut groups = [0; READ + WINDOW];
        for (bytes, groups) in bytes.chunks_exact(LANES).zip(groups.chunks_exact_mut(LANES)) {
            store(groups, groups_of(rule, load(bytes)));
        }
        for (at, word) in words[..(bytes.len() - LANES) / 64].iter_mut().enumerate() {
            let low: &[u8; LANES + WINDOW - 1] = groups[at * 64..].first_chunk().expect("within the block");
            let high: &[u8; LANES + WINDOW - 1] = groups[at * 64 + LANES..].first_chunk().expect("within the block");
            let both = |octets: &[Octet]| held(octets, low) as u64 | (held(octets, high) as u64) << 32;
            *word = Word { yes: both(&rule.yes), ask: both(&rule.ask) };
        }
    }

    /// The places at which a cube holds.
    #[target_feature(enable = "avx2")]
    fn held(octets: &[Octet], groups: &[u8; LANES + WINDOW - 1]) -> u32 {
        let mut all = _mm256_setzero_si256();
        for octet in octets {
            let mut cubes = _mm256_set1_epi8(-1);
            for (at, table) in octet.iter().enumerate() {
                cubes = _mm256_and_si256(cubes, _mm256_shuffle_epi8(twice(table), load(&groups[at..at + LANES])));
            }
            all = _mm256_or_si256(all, cubes);
        }
        !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, _mm256_setzero_si256())) as u32)
    }

    /// The groups of 32 bytes. A byte beyond ASCII has none of the tables' upper halves, and so group 0.
    #[target_feature(enable = "avx2")]
    fn groups_of(rule: &Rule, bytes: __m256i) -> __m256i {
        let mut groups = _mm256_setzero_si256();
        for (half, table) in rule.group.as_chunks().0.iter().enumerate() {
            // The sum is below 128, and then its lower half is the byte's, only where the upper half of the byte is this one.
            let other = _mm256_xor_si256(bytes, _mm256_set1_epi8((half << 4) as i8));
            let index = _mm256_adds_epu8(other, _mm256_set1_epi8(0x70));
            groups = _mm256_or_si256(groups, _mm256_shuffle_epi8(twice(table), index));
        }
        groups
    }

    #[target_feature(enable = "avx2")]
    fn twice(table: &[u8; GROUPS]) -> __m256i {
        // SAFETY: 16 bytes are read.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
    }

    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8]) -> __m256i {
        assert!(bytes.len() >= LANES);
        // SAFETY: 32 bytes are there.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx2")]
    fn store(bytes: &mut [u8], value: __m256i) {
        assert!(bytes.len() >= LANES);
        // SAFETY: 32 bytes are there.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), value) };
    }
}
