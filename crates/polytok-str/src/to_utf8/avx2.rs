//! Converts characters to UTF-8 with AVX2, eight characters at a time.
//!
//! First the one, two or three bytes of each character are computed in a lane of 32 bits. Then a shuffle, chosen by the
//! lengths of four characters, moves the bytes of the characters together. Characters of four bytes are converted one
//! by one.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::{ASCII_RUN, convert_one_by_one};
use crate::Unit;

/// The number of characters of a vector.
const LANES: usize = 8;

/// The shuffles for four characters. In the index of a shuffle, each character has a lower bit and an upper bit: bit `i`
/// is set if character `i` has two or more bytes, bit `4 + i` if it has three bytes.
static SHUFFLES: [[u8; 16]; 256] = shuffles();

const fn shuffles() -> [[u8; 16]; 256] {
    let mut table = [[0x80; 16]; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut lane, mut to) = (0, 0);
        while lane < 4 {
            let bytes = 1 + (bits >> lane & 1) + (bits >> (lane + 4) & 1);
            let mut byte = 0;
            while byte < bytes {
                table[bits][to] = (lane * 4 + byte) as u8;
                byte += 1;
                to += 1;
            }
            lane += 1;
        }
        bits += 1;
    }
    table
}

/// Converts a block, as `super::convert_block` does.
#[target_feature(enable = "avx2,popcnt")]
pub fn convert<U: Unit>(characters: &[U], out: &mut [MaybeUninit<u8>]) -> Option<usize> {
    let mut utf8 = Utf8 { out, at: 0 };
    let (runs, rest) = characters.as_chunks::<ASCII_RUN>();
    for run in runs {
        match ascii_bytes(run) {
            Some(bytes) => utf8.push_ascii(bytes),
            None => utf8.push_all(run)?,
        }
    }
    utf8.push_all(rest)?;
    Some(utf8.at)
}

/// Returns the bytes of the characters if all of them are ASCII.
#[inline]
#[target_feature(enable = "avx2")]
fn ascii_bytes<U: Unit>(run: &[U; ASCII_RUN]) -> Option<__m256i> {
    let start: *const U = run.as_ptr();
    // SAFETY: the vectors are as long as the array of 32 units.
    let vector = |at: usize| unsafe { _mm256_loadu_si256(start.add(at).cast()) };
    let is_ascii = |vector, bits| _mm256_testz_si256(vector, bits) == 1;
    match size_of::<U>() {
        1 => is_ascii(vector(0), _mm256_set1_epi8(!0x7F)).then_some(vector(0)),
        2 => {
            let [a, b] = [vector(0), vector(16)];
            // The instruction packs the halves of the vectors in turn, and the permutation restores the order.
            is_ascii(_mm256_or_si256(a, b), _mm256_set1_epi16(!0x7F))
                .then(|| _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(a, b)))
        }
        _ => {
            let [a, b, c, d] = [vector(0), vector(8), vector(16), vector(24)];
            let all_bits = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
            is_ascii(all_bits, _mm256_set1_epi32(!0x7F)).then(|| {
                let bytes = _mm256_packus_epi16(_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d));
                _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
            })
        }
    }
}

/// Loads characters to lanes of 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn load<U: Unit>(characters: &[U; LANES]) -> __m256i {
    let start: *const U = characters.as_ptr();
    // SAFETY: the vectors are as long as the array of eight units.
    unsafe {
        match size_of::<U>() {
            1 => _mm256_cvtepu8_epi32(_mm_loadl_epi64(start.cast())),
            2 => _mm256_cvtepu16_epi32(_mm_loadu_si128(start.cast())),
            _ => _mm256_loadu_si256(start.cast()),
        }
    }
}

/// The written UTF-8.
struct Utf8<'o> {
    out: &'o mut [MaybeUninit<u8>],
    /// The number of written bytes.
    at: usize,
}

impl Utf8<'_> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn push_ascii(&mut self, bytes: __m256i) {
        let place = &mut self.out[self.at..][..ASCII_RUN];
        // SAFETY: the place is as long as the vector.
        unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), bytes) };
        self.at += ASCII_RUN;
    }

    /// Appends characters; returns None if a number is not a character.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn push_all<U: Unit>(&mut self, characters: &[U]) -> Option<()> {
        let (vectors, rest) = characters.as_chunks();
        for vector in vectors {
            self.push(vector)?;
        }
        self.at = convert_one_by_one(rest, self.out, self.at)?;
        Some(())
    }

    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn push<U: Unit>(&mut self, characters: &[U; LANES]) -> Option<()> {
        let codes = load(characters);
        if size_of::<U>() > 1 && has_wrong_or_long(codes) {
            self.at = convert_one_by_one(characters, self.out, self.at)?;
            return Some(());
        }
        let is_longer = |than| _mm256_cmpgt_epi32(codes, _mm256_set1_epi32(than));
        let (has_two_or_more, has_three) = (is_longer(0x7F), is_longer(0x7FF));
        let utf8_lanes = spread_bytes(codes, has_two_or_more, has_three);
        let (has_two_or_more, has_three) = (mask(has_two_or_more), mask(has_three));
        self.push_four(_mm256_castsi256_si128(utf8_lanes), has_two_or_more & 15 | (has_three & 15) << 4);
        self.push_four(_mm256_extracti128_si256::<1>(utf8_lanes), has_two_or_more >> 4 | has_three & 0xF0);
        Some(())
    }

    /// Appends four characters; `bits` encodes the lengths of the characters and selects the shuffle.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn push_four(&mut self, utf8_lanes: __m128i, bits: usize) {
        let place = &mut self.out[self.at..][..size_of::<__m128i>()];
        // SAFETY: a row of the table and the place are as long as the vector.
        unsafe {
            let shuffle = _mm_loadu_si128(SHUFFLES[bits].as_ptr().cast());
            _mm_storeu_si128(place.as_mut_ptr().cast(), _mm_shuffle_epi8(utf8_lanes, shuffle));
        }
        self.at += 4 + bits.count_ones() as usize;
    }
}

/// Reports whether a number is not a character, or is a character of four bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn has_wrong_or_long(codes: __m256i) -> bool {
    let upper_bits = _mm256_srli_epi32::<11>(codes);
    let is_surrogate = _mm256_cmpeq_epi32(upper_bits, _mm256_set1_epi32(0xD800 >> 11));
    let is_long = _mm256_cmpgt_epi32(upper_bits, _mm256_set1_epi32(0xFFFF >> 11));
    _mm256_movemask_epi8(_mm256_or_si256(is_surrogate, is_long)) != 0
}

/// Returns the UTF-8 bytes of each character, in the lowest bytes of the character's lane.
#[inline]
#[target_feature(enable = "avx2")]
fn spread_bytes(codes: __m256i, has_two_or_more: __m256i, has_three: __m256i) -> __m256i {
    let fill_lanes = _mm256_set1_epi32;
    let last_byte = _mm256_or_si256(_mm256_and_si256(codes, fill_lanes(0x3F)), fill_lanes(0x80));
    let upper_bits = _mm256_srli_epi32::<6>(codes);
    let middle_byte = _mm256_or_si256(_mm256_and_si256(upper_bits, fill_lanes(0x3F)), fill_lanes(0x80));
    let two_bytes = _mm256_or_si256(_mm256_or_si256(upper_bits, fill_lanes(0xC0)), _mm256_slli_epi32::<8>(last_byte));
    let first_byte = _mm256_or_si256(_mm256_srli_epi32::<12>(codes), fill_lanes(0xE0));
    let three_bytes = _mm256_or_si256(
        _mm256_or_si256(first_byte, _mm256_slli_epi32::<8>(middle_byte)),
        _mm256_slli_epi32::<16>(last_byte),
    );
    _mm256_blendv_epi8(_mm256_blendv_epi8(codes, two_bytes, has_two_or_more), three_bytes, has_three)
}

/// Collects the highest bits of all lanes in a number.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(lanes: __m256i) -> usize {
    _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as usize
}
