//! Writes the characters of UTF-8 with AVX-512.
//!
//! A window has 32 bytes with lanes of 16 bits, or 16 bytes with lanes of 32 bits for units that can store characters of
//! four bytes. One instruction removes the lanes at which no character begins.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::count_starts;
use crate::Unit;

/// The number of bytes of a window with lanes of 16 bits.
const NARROW: usize = 32;
/// The number of bytes of a window with lanes of 32 bits.
const WIDE: usize = 16;
/// The maximum number of bytes of a window that a character can extend beyond the window.
const MAX_OVERHANG: usize = 3;

#[target_feature(enable = "avx512f,avx512bw,popcnt")]
pub fn starts_and_max(bytes: &[u8]) -> (usize, u8) {
    count_starts(bytes)
}

/// Writes the characters, as `super::fill` does.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
pub fn fill<U: Unit>(text: &[u8], units: &mut [MaybeUninit<U>]) -> usize {
    let step = if size_of::<U>() == 4 { WIDE } else { NARROW };
    let mut units = Units { units, count: 0 };
    for at in (0..text.len()).step_by(step) {
        let rest = &text[at..];
        match rest.first_chunk() {
            Some(window) => units.push_window(window, step),
            None => {
                let mut window = [0; NARROW + MAX_OVERHANG];
                window[..rest.len()].copy_from_slice(rest);
                units.push_window(&window, rest.len().min(step));
            }
        }
    }
    units.count
}

/// The written units.
struct Units<'u, U> {
    units: &'u mut [MaybeUninit<U>],
    count: usize,
}

impl<U: Unit> Units<'_, U> {
    /// Writes the characters that begin in the first `len` bytes of a window.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
    fn push_window(&mut self, bytes: &[u8; NARROW + MAX_OVERHANG], len: usize) {
        // SAFETY: the array has the 32 bytes that are read.
        let window = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        let starts = _mm256_movemask_epi8(_mm256_cmpgt_epi8(window, _mm256_set1_epi8(-65))) as u32;
        let starts = starts & u32::MAX >> (NARROW - len);
        let is_ascii = _mm256_movemask_epi8(window) == 0;
        match size_of::<U>() {
            4 if is_ascii => self.store(_mm512_cvtepu8_epi32(_mm256_castsi256_si128(window)), len),
            4 => self.store(
                _mm512_maskz_compress_epi32(starts as u16, wide_characters(bytes)),
                starts.count_ones() as usize,
            ),
            _ if is_ascii => self.store(_mm512_cvtepu8_epi16(window), len),
            _ => {
                self.store(_mm512_maskz_compress_epi16(starts, narrow_characters(bytes)), starts.count_ones() as usize)
            }
        }
    }

    /// Appends the first `count` lanes. Writes the whole vector if it fits, because a store with a mask takes longer.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn store(&mut self, lanes: __m512i, count: usize) {
        let rest = &mut self.units[self.count..];
        assert!(count <= rest.len());
        let (has_room, place) = (rest.len() >= NARROW, rest.as_mut_ptr());
        let mask = ((1_u64 << count) - 1) as u32;
        // SAFETY: the place has room for the whole vector, or for the lanes of the mask.
        unsafe {
            match size_of::<U>() {
                1 if has_room => _mm256_storeu_si256(place.cast(), _mm512_cvtepi16_epi8(lanes)),
                1 => _mm512_mask_cvtepi16_storeu_epi8(place.cast(), mask, lanes),
                2 if has_room => _mm512_storeu_si512(place.cast(), lanes),
                2 => _mm512_mask_storeu_epi16(place.cast(), mask, lanes),
                _ if has_room => _mm512_storeu_si512(place.cast(), lanes),
                _ => _mm512_mask_storeu_epi32(place.cast(), mask as u16, lanes),
            }
        }
        self.count += count;
    }
}

/// Returns, for each of the first 32 bytes, the character of up to three bytes that begins at this byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn narrow_characters(bytes: &[u8; NARROW + MAX_OVERHANG]) -> __m512i {
    // SAFETY: the array has the 32 bytes that are read.
    let widen = |at: usize| unsafe { _mm512_cvtepu8_epi16(_mm256_loadu_si256(bytes[at..][..NARROW].as_ptr().cast())) };
    let (first, six) = (widen(0), _mm512_set1_epi16(0x3F));
    let [second, third] = [_mm512_and_si512(widen(1), six), _mm512_and_si512(widen(2), six)];
    let two_byte_units =
        _mm512_or_si512(_mm512_slli_epi16::<6>(_mm512_and_si512(first, _mm512_set1_epi16(0x1F))), second);
    let end = _mm512_or_si512(_mm512_slli_epi16::<6>(second), third);
    let three_byte_units = _mm512_or_si512(_mm512_slli_epi16::<12>(first), end);
    let is_longer = |than| _mm512_cmpgt_epi16_mask(first, _mm512_set1_epi16(than));
    let units = _mm512_mask_mov_epi16(first, is_longer(0x7F), two_byte_units);
    _mm512_mask_mov_epi16(units, is_longer(0xDF), three_byte_units)
}

/// Returns, for each of the first 16 bytes, the character that begins at this byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn wide_characters(bytes: &[u8; NARROW + MAX_OVERHANG]) -> __m512i {
    let fill = _mm512_set1_epi32;
    // SAFETY: the array has the 16 bytes that are read.
    let widen = |at: usize| unsafe { _mm512_cvtepu8_epi32(_mm_loadu_si128(bytes[at..][..WIDE].as_ptr().cast())) };
    let six_bits = |at| _mm512_and_si512(widen(at), fill(0x3F));
    let append = |upper_bits, bits| _mm512_or_si512(_mm512_slli_epi32::<6>(upper_bits), bits);
    let (first, second, third) = (widen(0), six_bits(1), six_bits(2));
    let two_bytes = append(_mm512_and_si512(first, fill(0x1F)), second);
    let three_bytes = append(append(_mm512_and_si512(first, fill(0xF)), second), third);
    let four_bytes = append(append(append(_mm512_and_si512(first, fill(7)), second), third), six_bits(3));
    let is_longer = |than| _mm512_cmpgt_epi32_mask(first, fill(than));
    let characters = _mm512_mask_mov_epi32(first, is_longer(0x7F), two_bytes);
    let characters = _mm512_mask_mov_epi32(characters, is_longer(0xDF), three_bytes);
    _mm512_mask_mov_epi32(characters, is_longer(0xEF), four_bytes)
}
