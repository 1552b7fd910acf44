//! Converts characters to UTF-8 with AVX-512, sixteen characters at a time.
//!
//! Each character has a lane of four bytes, and its UTF-8 is written to the last bytes of the lane. Then one
//! instruction moves these bytes of all lanes together.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::ASCII_RUN;
use crate::Unit;

/// The number of characters of a vector.
const LANES: usize = 16;

/// Converts a block, as `super::convert_block` does.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
pub fn convert<U: Unit>(characters: &[U], out: &mut [MaybeUninit<u8>]) -> Option<usize> {
    let mut utf8 = Utf8 { out, at: 0, wrong_lanes: 0 };
    let (runs, rest) = characters.as_chunks::<ASCII_RUN>();
    for run in runs {
        match ascii_bytes(run) {
            Some(bytes) => utf8.push_ascii(bytes),
            None => run.as_chunks().0.iter().for_each(|part| utf8.push(part, LANES)),
        }
    }
    for part in rest.chunks(LANES) {
        let mut characters = [U::default(); LANES];
        characters[..part.len()].copy_from_slice(part);
        utf8.push(&characters, part.len());
    }
    (utf8.wrong_lanes == 0).then_some(utf8.at)
}

/// Returns the bytes of the characters if all of them are ASCII.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn ascii_bytes<U: Unit>(run: &[U; ASCII_RUN]) -> Option<__m256i> {
    let start: *const U = run.as_ptr();
    // SAFETY: the vectors are as long as the array of 32 units.
    unsafe {
        match size_of::<U>() {
            1 => {
                let bytes = _mm256_loadu_si256(start.cast());
                (_mm256_movemask_epi8(bytes) == 0).then_some(bytes)
            }
            2 => {
                let units = _mm512_loadu_si512(start.cast());
                (_mm512_test_epi16_mask(units, _mm512_set1_epi16(!0x7F)) == 0).then(|| _mm512_cvtepi16_epi8(units))
            }
            _ => {
                let [low, high] = [_mm512_loadu_si512(start.cast()), _mm512_loadu_si512(start.add(LANES).cast())];
                let is_ascii = _mm512_test_epi32_mask(_mm512_or_si512(low, high), _mm512_set1_epi32(!0x7F)) == 0;
                is_ascii.then(|| _mm256_set_m128i(_mm512_cvtepi32_epi8(high), _mm512_cvtepi32_epi8(low)))
            }
        }
    }
}

/// Loads characters to lanes of 32 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load<U: Unit>(characters: &[U; LANES]) -> __m512i {
    let start: *const U = characters.as_ptr();
    // SAFETY: the vectors are as long as the array of sixteen units.
    unsafe {
        match size_of::<U>() {
            1 => _mm512_cvtepu8_epi32(_mm_loadu_si128(start.cast())),
            2 => _mm512_cvtepu16_epi32(_mm256_loadu_si256(start.cast())),
            _ => _mm512_loadu_si512(start.cast()),
        }
    }
}

/// The written UTF-8.
struct Utf8<'o> {
    out: &'o mut [MaybeUninit<u8>],
    /// The number of written bytes.
    at: usize,
    /// A bit for each lane in which a number was not a character.
    wrong_lanes: __mmask16,
}

impl Utf8<'_> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn push_ascii(&mut self, bytes: __m256i) {
        let place = &mut self.out[self.at..][..ASCII_RUN];
        // SAFETY: the place is as long as the vector.
        unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), bytes) };
        self.at += ASCII_RUN;
    }

    /// Appends the first `count` characters.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
    fn push<U: Unit>(&mut self, characters: &[U; LANES], count: usize) {
        let codes = load(characters);
        if size_of::<U>() > 1 {
            self.wrong_lanes |= wrong_lanes(codes);
        }
        let bytes = utf8_lanes(codes);
        // The last byte of each lane is a part of its character. The other bytes are parts if their highest bit is set.
        let is_part = (_mm512_movepi8_mask(bytes) | 0x8888_8888_8888_8888) & u64::MAX >> (64 - 4 * count);
        let place = &mut self.out[self.at..][..size_of::<__m512i>()];
        // SAFETY: the place is as long as the vector.
        unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), _mm512_maskz_compress_epi8(is_part, bytes)) };
        self.at += is_part.count_ones() as usize;
    }
}

/// Returns a bit for each lane whose number is not a character.
#[inline]
#[target_feature(enable = "avx512f")]
fn wrong_lanes(codes: __m512i) -> __mmask16 {
    let is_surrogate =
        _mm512_cmpeq_epi32_mask(_mm512_and_si512(codes, _mm512_set1_epi32(!0x7FF)), _mm512_set1_epi32(0xD800));
    is_surrogate | _mm512_cmpgt_epu32_mask(codes, _mm512_set1_epi32(0x10_FFFF))
}

/// Returns the UTF-8 of each character, in the last bytes of its lane. The other bytes of the lane are less than 0x80.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn utf8_lanes(codes: __m512i) -> __m512i {
    let fill = _mm512_set1_epi32;
    let is_longer = |than| _mm512_cmpgt_epu32_mask(codes, fill(than));
    // From the first to the last byte of a lane: the bits from bit 18, 12, 6 and 0 of the character on.
    let shifts = _mm512_set1_epi64(0x2026_2C32_0006_0C12);
    let six_bits = _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, codes), fill(0x3F3F_3F3F));
    let mut marks = fill(0x80C0_0000_u32 as i32);
    marks = _mm512_mask_mov_epi32(marks, is_longer(0x7FF), fill(0x8080_E000_u32 as i32));
    marks = _mm512_mask_mov_epi32(marks, is_longer(0xFFFF), fill(0x8080_80F0_u32 as i32));
    let ascii = _mm512_slli_epi32::<24>(codes);
    _mm512_mask_or_epi32(ascii, is_longer(0x7F), six_bits, marks)
}
