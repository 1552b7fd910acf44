//! Writes the characters of UTF-8 with AVX2.
//!
//! A window has sixteen bytes. A shuffle from a table removes the units at which no character begins. In a window with a
//! character of four bytes, and at the end of the text, characters are written one by one.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::{count_starts, fill_one_by_one};
use crate::Unit;

/// The number of bytes of a window.
const LANES: usize = 16;
/// The number of bytes that are read for a window. A character can extend two bytes beyond the window.
const READ: usize = LANES + 2;
/// The number of units that are stored together.
const STORED: usize = 8;

#[target_feature(enable = "avx2,popcnt")]
pub fn starts_and_max(bytes: &[u8]) -> (usize, u8) {
    count_starts(bytes)
}

/// Writes the characters, as `super::fill` does.
#[target_feature(enable = "avx2,popcnt")]
pub fn fill<U: Unit>(text: &str, units: &mut [MaybeUninit<U>]) -> usize {
    let (mut at, mut count) = (0, 0);
    // Each store of a window writes `STORED` units, also if fewer characters begin in the window.
    while let Some(bytes) = text.as_bytes()[at..].first_chunk()
        && count + LANES <= units.len()
    {
        count = fill_window(bytes, units, count).unwrap_or_else(|| fill_one_by_one(text, at..at + LANES, units, count));
        at += LANES;
    }
    fill_one_by_one(text, at..text.len(), units, count)
}

/// Writes the characters that begin in a window, and returns the new number of units; None if a character of four bytes
/// begins in the window.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn fill_window<U: Unit>(bytes: &[u8; READ], units: &mut [MaybeUninit<U>], count: usize) -> Option<usize> {
    let window_bytes = load(&bytes[..LANES]);
    let first = _mm256_cvtepu8_epi16(window_bytes);
    let mut starts = 0xFFFF;
    let mut all_units = first;
    if _mm_movemask_epi8(window_bytes) != 0 {
        let is_four_byte_start = _mm_cmpeq_epi8(_mm_max_epu8(window_bytes, _mm_set1_epi8(0xF0_u8 as i8)), window_bytes);
        if _mm_movemask_epi8(is_four_byte_start) != 0 {
            return None;
        }
        starts = _mm_movemask_epi8(_mm_cmpgt_epi8(window_bytes, _mm_set1_epi8(-65))) as usize;
        all_units = characters(first, widen(&bytes[1..]), widen(&bytes[2..]));
    }
    let count = store_selected(_mm256_castsi256_si128(all_units), starts & 0xFF, units, count);
    Some(store_selected(_mm256_extracti128_si256::<1>(all_units), starts >> 8, units, count))
}

/// Returns the units of characters that have one to three bytes in UTF-8. The arguments are the first, second and third
/// bytes of the characters.
#[target_feature(enable = "avx2")]
#[inline]
fn characters(first: __m256i, second: __m256i, third: __m256i) -> __m256i {
    let six = _mm256_set1_epi16(0x3F);
    let second = _mm256_and_si256(second, six);
    let two_byte_units =
        _mm256_or_si256(_mm256_slli_epi16::<6>(_mm256_and_si256(first, _mm256_set1_epi16(0x1F))), second);
    let end = _mm256_or_si256(_mm256_slli_epi16::<6>(second), _mm256_and_si256(third, six));
    let three_byte_units = _mm256_or_si256(_mm256_slli_epi16::<12>(first), end);
    let longer_than = |last: i16| _mm256_cmpgt_epi16(first, _mm256_set1_epi16(last));
    let units_up_to_two_bytes = _mm256_blendv_epi8(first, two_byte_units, longer_than(0x7F));
    _mm256_blendv_epi8(units_up_to_two_bytes, three_byte_units, longer_than(0xDF))
}

/// Writes to `units[count..]` those units whose bits in the mask are set. Returns the new number of units.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn store_selected<U: Unit>(all_units: __m128i, bits: usize, units: &mut [MaybeUninit<U>], count: usize) -> usize {
    let kept = _mm_shuffle_epi8(all_units, load(&SHUFFLES[bits]));
    let place = units[count..][..STORED].as_mut_ptr();
    // SAFETY: the place has the eight units that are written.
    unsafe {
        match size_of::<U>() {
            1 => _mm_storel_epi64(place.cast(), _mm_packus_epi16(kept, kept)),
            2 => _mm_storeu_si128(place.cast(), kept),
            _ => _mm256_storeu_si256(place.cast(), _mm256_cvtepu16_epi32(kept)),
        }
    }
    count + bits.count_ones() as usize
}

/// Widens sixteen bytes to numbers of 16 bits.
#[target_feature(enable = "avx2")]
#[inline]
fn widen(bytes: &[u8]) -> __m256i {
    _mm256_cvtepu8_epi16(load(bytes))
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8]) -> __m128i {
    let bytes = &bytes[..LANES];
    // SAFETY: the slice has the sixteen bytes that are read.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// For each mask of eight bits, the shuffle that moves the units whose bits are set to the front.
static SHUFFLES: [[u8; LANES]; 256] = {
    let mut shuffles = [[0; LANES]; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut unit, mut count) = (0, 0);
        while unit < 8 {
            if bits >> unit & 1 == 1 {
                shuffles[bits][2 * count] = 2 * unit as u8;
                shuffles[bits][2 * count + 1] = 2 * unit as u8 + 1;
                count += 1;
            }
            unit += 1;
        }
        bits += 1;
    }
    shuffles
};
