//! Converts UTF-8 to UTF-16, which Python decodes to a `str` in less time than UTF-8.
//!
//! The 16 bytes of a window are decoded together. For each byte, the code computes the UTF-16 unit of a character that
//! would begin at this byte. A shuffle from a table then removes the units of those bytes at which no character begins.
//! The only branches test whether the window is ASCII, and whether a character of four bytes begins in the window. In a
//! window with a character of four bytes, and at the end of the text, characters are encoded one by one. Cost: 0.2 ns
//! per byte of Chinese or of mixed scripts, including the check of the UTF-8.

use polytok_simd::SimdLevel;

/// The number of bytes of a window.
const LANES: usize = 16;

/// Reports whether a conversion to UTF-16 makes Python decode `bytes` faster: if the SIMD level includes AVX2, and at
/// least one byte in eight is not ASCII. In measurements with one such byte in a hundred, as in English, Python's UTF-8
/// decoder was as fast.
pub fn is_worthwhile(bytes: &[u8]) -> bool {
    // Each sum fits into one byte, so that the compiler adds many bytes with one instruction.
    let count = |bytes: &[u8]| usize::from(bytes.iter().map(|byte| byte >> 7).sum::<u8>());
    SimdLevel::current() >= SimdLevel::Avx2 && 8 * bytes.chunks(LANES * 8).map(count).sum::<usize>() >= bytes.len()
}

/// Encodes bytes to UTF-16 in `units`, whose memory is reused; returns None if the bytes are not UTF-8.
pub fn encode<'u>(bytes: &[u8], units: &'u mut Vec<u16>) -> Option<&'u [u16]> {
    encode_at(SimdLevel::current(), bytes, units)
}

/// Implements `encode` with the instructions of a SIMD level, which the processor must support.
fn encode_at<'u>(level: SimdLevel, bytes: &[u8], units: &'u mut Vec<u16>) -> Option<&'u [u16]> {
    let text = simdutf8::basic::from_utf8(bytes).ok()?;
    // The code writes a whole window of units even if it keeps only some units.
    let room = text.len() + LANES;
    if units.len() < room {
        units.resize(room, 0);
    }
    let (at, count) = windows(level, text, units);
    let count = encode_one_by_one(text, at, text.len(), units, count);
    Some(&units[..count])
}

/// Encodes all whole windows; returns the number of bytes read and the number of units written.
fn windows(level: SimdLevel, text: &str, units: &mut [u16]) -> (usize, usize) {
    #[cfg(target_arch = "x86_64")]
    if level >= SimdLevel::Avx2 {
        // SAFETY: the processor has AVX2, because it supports the level.
        return unsafe { avx2::windows(text, units) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (level, text, units);
    (0, 0)
}

/// Encodes the characters that begin in the bytes `from..to`, and writes their units to `units[count..]`. Returns the
/// new number of units.
fn encode_one_by_one(text: &str, from: usize, to: usize, units: &mut [u16], mut count: usize) -> usize {
    let mut at = (from..to).find(|&at| text.is_char_boundary(at)).unwrap_or(to);
    while at < to
        && let Some(c) = text[at..].chars().next()
    {
        count += c.encode_utf16(&mut units[count..]).len();
        at += c.len_utf8();
    }
    count
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::*;
    use std::arch::x86_64::*;

    /// Encodes all whole windows, as `super::windows` does.
    #[target_feature(enable = "avx2")]
    pub(super) fn windows(text: &str, units: &mut [u16]) -> (usize, usize) {
        let (mut at, mut count) = (0, 0);
        while let Some(bytes) = text.as_bytes()[at..].first_chunk() {
            count = window(text, at, bytes, units, count);
            at += LANES;
        }
        (at, count)
    }

    /// Encodes the characters that begin in a window. The last character can extend two bytes beyond the window.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn window(text: &str, at: usize, bytes: &[u8; LANES + 2], units: &mut [u16], count: usize) -> usize {
        let first = widen(&bytes[..LANES]);
        let window_bytes = load(&bytes[..LANES]);
        if _mm_movemask_epi8(window_bytes) == 0 {
            store_all(&mut units[count..], first);
            return count + LANES;
        }
        // As signed numbers, the bytes from 0xF0 on are the largest negative numbers, and the bytes of the form
        // 10xxxxxx are the smallest.
        let is_four_byte_start = _mm_and_si128(
            _mm_cmpgt_epi8(window_bytes, _mm_set1_epi8(0xEF_u8 as i8)),
            _mm_cmplt_epi8(window_bytes, _mm_setzero_si128()),
        );
        if _mm_movemask_epi8(is_four_byte_start) != 0 {
            return encode_one_by_one(text, at, at + LANES, units, count);
        }
        let character_starts = _mm_movemask_epi8(_mm_cmpgt_epi8(window_bytes, _mm_set1_epi8(-65))) as usize;
        let all_units = characters(first, widen(&bytes[1..]), widen(&bytes[2..]));
        let count = write_selected(_mm256_castsi256_si128(all_units), character_starts & 0xFF, units, count);
        write_selected(_mm256_extracti128_si256::<1>(all_units), character_starts >> 8, units, count)
    }

    /// Returns the UTF-16 units of characters that have one to three bytes in UTF-8. The arguments are the first,
    /// second and third bytes of the characters.
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

    /// Appends to `units[..count]` those units of `all_units` whose bits in the mask are set. Returns the new count of
    /// units.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn write_selected(all_units: __m128i, bits: usize, units: &mut [u16], count: usize) -> usize {
        let kept = _mm_shuffle_epi8(all_units, load(&SHUFFLES[bits]));
        let units = &mut units[count..][..LANES / 2];
        // SAFETY: the slice has the eight units that are written.
        unsafe { _mm_storeu_si128(units.as_mut_ptr().cast(), kept) };
        count + bits.count_ones() as usize
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn store_all(units: &mut [u16], all_units: __m256i) {
        let units = &mut units[..LANES];
        // SAFETY: the slice has the sixteen units that are written.
        unsafe { _mm256_storeu_si256(units.as_mut_ptr().cast(), all_units) };
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, units: &mut Vec<u16>) {
        let expected: Vec<u16> = text.encode_utf16().collect();
        for level in SimdLevel::supported() {
            assert_eq!(encode_at(level, text.as_bytes(), units), Some(&expected[..]), "{level:?}");
        }
    }

    /// Tests each character at changing positions of a window, between characters of other lengths.
    #[test]
    fn every_character_is_encoded() {
        let mut units = Vec::new();
        for code in (0..0x30000).chain(0x10_FF00..0x11_0000).filter_map(char::from_u32) {
            let before = "aaaaaaaaaaaaaaaa".split_at(code as usize % 16).0;
            check(&format!("{before}{code}é語{code}😀{code}{code}bbbbbbbbbbbbbbbbbb"), &mut units);
        }
    }

    proptest! {
        #[test]
        fn text_is_encoded_as_by_the_standard_library(
            text in prop_oneof!["[a-zé語한😀\u{7ff}\u{800}\u{ffff}\u{10ffff}]{0,100}", "[a語]{0,80}", "\\PC{0,60}", "[a-z]{0,50}[語é😀]?[a-z]{0,40}"],
            more in ".{0,20}",
        ) {
            let mut units = Vec::new();
            check(&text, &mut units);
            check(&more, &mut units);
        }

        #[test]
        fn bytes_that_are_not_utf8_are_refused(bytes: Vec<u8>) {
            let text = std::str::from_utf8(&bytes).ok();
            let expected: Option<Vec<u16>> = text.map(|text| text.encode_utf16().collect());
            for level in SimdLevel::supported() {
                let mut units = Vec::new();
                prop_assert_eq!(encode_at(level, &bytes, &mut units), expected.as_deref(), "{:?}", level);
            }
        }
    }
}
