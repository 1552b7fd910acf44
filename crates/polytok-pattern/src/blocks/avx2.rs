//! The steps with AVX2 and BMI2.

use super::super::classes::Classes;
use super::super::rule::{GROUPS, Octet, Rule};
use super::read::{ByteKinds, WindowGroups};
use super::{Block, WORD_LEN};
use std::arch::x86_64::*;

/// The number of bytes of a vector.
const LANES: usize = 32;
/// One in each byte.
const ONES: u64 = u64::MAX / 0xFF;

/// Fills the block from its first position on.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn read(block: &mut Block, rule: &Rule, classes: &Classes, text: &[u8]) {
    let pack = |bytes: &[u8; WORD_LEN], groups: &mut [u8; WORD_LEN]| {
        let [low, high] = halves(bytes);
        store(groups, [ascii_groups(rule, low), ascii_groups(rule, high)]);
        let non_ascii = bits([low, high]);
        // Every byte that is not of the form 10xxxxxx begins a character.
        let last_inside = _mm256_set1_epi8(-65);
        let starts = bits([_mm256_cmpgt_epi8(low, last_inside), _mm256_cmpgt_epi8(high, last_inside)]);
        if non_ascii != 0 {
            compress(groups, starts);
        }
        ByteKinds { starts, non_ascii }
    };
    // SAFETY: the processor has BMI2, like all features of this function.
    unsafe { super::read::read(block, rule, classes, text, pack, |octets, groups| in_cubes(octets, groups)) };
}

/// Moves the bytes whose bit is set to the start.
#[target_feature(enable = "bmi2,popcnt")]
fn compress(bytes: &mut [u8; WORD_LEN], bits: u64) {
    let mut count = 0;
    for at in (0..WORD_LEN).step_by(8) {
        let kept = bits >> at & 0xFF;
        let eight = u64::from_le_bytes(*bytes[at..].first_chunk().expect("eight bytes"));
        // The bytes that follow are overwritten later, because at most `at` bytes have been written.
        let packed = _pext_u64(eight, _pdep_u64(kept, ONES) * 0xFF);
        *bytes[count..].first_chunk_mut().expect("eight bytes") = packed.to_le_bytes();
        count += kept.count_ones() as usize;
    }
}

/// Returns a bit for each window; the bit is set if the window is in a cube.
#[target_feature(enable = "avx2")]
fn in_cubes(octets: &[Octet], groups: &WindowGroups) -> u64 {
    let zero = _mm256_setzero_si256();
    let (mut all_low, mut all_high) = (zero, zero);
    for octet in octets {
        let (mut cubes_low, mut cubes_high) = (_mm256_set1_epi8(-1), _mm256_set1_epi8(-1));
        for (at, table) in octet.iter().enumerate() {
            let table = repeat_table(table);
            let [low, high] = halves(groups[at..].first_chunk().expect("the windows of a word"));
            cubes_low = _mm256_and_si256(cubes_low, _mm256_shuffle_epi8(table, low));
            cubes_high = _mm256_and_si256(cubes_high, _mm256_shuffle_epi8(table, high));
        }
        (all_low, all_high) = (_mm256_or_si256(all_low, cubes_low), _mm256_or_si256(all_high, cubes_high));
    }
    !bits([_mm256_cmpeq_epi8(all_low, zero), _mm256_cmpeq_epi8(all_high, zero)])
}

/// Returns the groups of 32 ASCII bytes. The groups are in eight tables of sixteen; the upper half of a byte chooses
/// the table.
#[target_feature(enable = "avx2")]
fn ascii_groups(rule: &Rule, bytes: __m256i) -> __m256i {
    let mut groups = _mm256_setzero_si256();
    for (half, table) in rule.groups.ascii.as_chunks().0.iter().enumerate() {
        // The sum is below 128 only if the upper half of the byte is `half`. In that case, the lower half of the sum
        // equals the lower half of the byte.
        let other = _mm256_xor_si256(bytes, _mm256_set1_epi8((half << 4) as i8));
        let index = _mm256_adds_epu8(other, _mm256_set1_epi8(0x70));
        groups = _mm256_or_si256(groups, _mm256_shuffle_epi8(repeat_table(table), index));
    }
    groups
}

#[target_feature(enable = "avx2")]
fn repeat_table(table: &[u8; GROUPS]) -> __m256i {
    // SAFETY: the table has the 16 bytes that are read.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
}

/// Returns the highest bit of each of 64 bytes.
#[target_feature(enable = "avx2")]
fn bits([low, high]: [__m256i; 2]) -> u64 {
    _mm256_movemask_epi8(low) as u32 as u64 | (_mm256_movemask_epi8(high) as u32 as u64) << LANES
}

#[target_feature(enable = "avx2")]
fn halves(bytes: &[u8; WORD_LEN]) -> [__m256i; 2] {
    let at = bytes.as_ptr();
    // SAFETY: the array has the two times 32 bytes that are read.
    unsafe { [_mm256_loadu_si256(at.cast()), _mm256_loadu_si256(at.add(LANES).cast())] }
}

#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8; WORD_LEN], halves: [__m256i; 2]) {
    let at = bytes.as_mut_ptr();
    // SAFETY: the array has the two times 32 bytes that are written.
    unsafe {
        _mm256_storeu_si256(at.cast(), halves[0]);
        _mm256_storeu_si256(at.add(LANES).cast(), halves[1]);
    }
}
