//! Converts UTF-32, which Python copies from a `str`, to UTF-8. If the SIMD level includes AVX2, eight characters
//! are converted together.
//!
//! First the one, two or three bytes of each character are computed in a lane of 32 bits. Then a shuffle, chosen by the
//! lengths of four characters, moves the bytes of the characters together.

use polytok_simd::SimdLevel;

/// Encodes code points as UTF-8; returns None if a code point is a surrogate or is beyond U+10FFFF.
///
/// ```
/// let characters: Vec<u32> = "naïve 猫".chars().map(u32::from).collect();
/// assert_eq!(polytok_str::utf32::to_utf8(&characters).unwrap(), "naïve 猫".as_bytes());
/// assert_eq!(polytok_str::utf32::to_utf8(&[0xD800]), None);
/// ```
pub fn to_utf8(characters: &[u32]) -> Option<Vec<u8>> {
    to_utf8_at(SimdLevel::current(), characters)
}

/// Implements `to_utf8` with the instructions of a SIMD level, which the processor must support.
fn to_utf8_at(level: SimdLevel, characters: &[u32]) -> Option<Vec<u8>> {
    #[cfg(target_arch = "x86_64")]
    if level >= SimdLevel::Avx2 {
        // SAFETY: the processor has AVX2, because it supports the level.
        return unsafe { avx2::to_utf8(characters) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = level;
    encode_one_by_one(characters)
}

/// Encodes code points as [`to_utf8`] does, on any processor.
fn encode_one_by_one(characters: &[u32]) -> Option<Vec<u8>> {
    let text: Option<String> = characters.iter().map(|&code| char::from_u32(code)).collect();
    text.map(String::into_bytes)
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    /// The number of characters of a vector.
    const LANES: usize = 8;
    /// The number of vectors that are tested for ASCII together.
    const ASCII_VECTORS: usize = 4;
    /// The maximum number of bytes that a vector store writes beyond the end of the text.
    const STORE_SLACK: usize = 16;

    /// The shuffles for four characters. In the index of a shuffle, each character has a lower bit and an upper bit:
    /// bit `i` is set if character `i` has two or more bytes, bit `4 + i` if it has three bytes.
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

    #[target_feature(enable = "avx2")]
    pub(super) fn to_utf8(characters: &[u32]) -> Option<Vec<u8>> {
        let mut bytes: Vec<u8> = Vec::with_capacity(length(characters)? + STORE_SLACK);
        let (mut vectors, rest) = characters.as_chunks::<LANES>();
        while let Some((first_byte, after)) = vectors.split_first() {
            if let Some((first_vectors, after)) = vectors.split_first_chunk::<ASCII_VECTORS>()
                && push_ascii(&mut bytes, first_vectors)
            {
                vectors = after;
                continue;
            }
            push(&mut bytes, first_byte);
            vectors = after;
        }
        push_one_by_one(&mut bytes, rest);
        Some(bytes)
    }

    /// Returns the length of the text in bytes; None if a code point is not a character.
    #[target_feature(enable = "avx2")]
    fn length(characters: &[u32]) -> Option<usize> {
        let (vectors, rest) = characters.as_chunks::<LANES>();
        let (mut more, mut wrong) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for vector in vectors {
            let codes = load(vector);
            for least in [0x80, 0x800, 0x1_0000] {
                more = _mm256_sub_epi32(more, _mm256_cmpgt_epi32(codes, _mm256_set1_epi32(least - 1)));
            }
            let upper_bits = _mm256_srli_epi32::<11>(codes);
            wrong = _mm256_or_si256(wrong, _mm256_cmpeq_epi32(upper_bits, _mm256_set1_epi32(0xD800 >> 11)));
            wrong = _mm256_or_si256(wrong, _mm256_cmpgt_epi32(upper_bits, _mm256_set1_epi32(0x10_FFFF >> 11)));
        }
        let mut sums = [0u32; LANES];
        // SAFETY: the array is as long as the vector.
        unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), more) };
        let mut length = characters.len() + sums.iter().map(|&sum| sum as usize).sum::<usize>();
        for &code in rest {
            length += char::from_u32(code)?.len_utf8() - 1;
        }
        (_mm256_testz_si256(wrong, wrong) == 1).then_some(length)
    }

    /// Appends the characters of `vectors` if all of them are ASCII, and reports whether they are.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn push_ascii(bytes: &mut Vec<u8>, vectors: &[[u32; LANES]; ASCII_VECTORS]) -> bool {
        let [a, b, c, d] = [load(&vectors[0]), load(&vectors[1]), load(&vectors[2]), load(&vectors[3])];
        let all_bits = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
        if _mm256_testz_si256(all_bits, _mm256_set1_epi32(!0x7F)) == 0 {
            return false;
        }
        let narrow = _mm256_packus_epi16(_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d));
        // The packing instructions pack the two halves of a vector separately, so a permutation restores the order.
        let narrow = _mm256_permutevar8x32_epi32(narrow, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        let spare_bytes = &mut bytes.spare_capacity_mut()[..ASCII_VECTORS * LANES];
        // SAFETY: the reserved memory is as long as the vector, and the vector initializes all its bytes.
        unsafe {
            _mm256_storeu_si256(spare_bytes.as_mut_ptr().cast(), narrow);
            bytes.set_len(bytes.len() + ASCII_VECTORS * LANES);
        }
        true
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn push(bytes: &mut Vec<u8>, vector: &[u32; LANES]) {
        let codes = load(vector);
        let longer = |than| _mm256_cmpgt_epi32(codes, _mm256_set1_epi32(than));
        if _mm256_movemask_epi8(longer(0xFFFF)) != 0 {
            return push_one_by_one(bytes, vector);
        }
        let (has_two_or_more, has_three) = (longer(0x7F), longer(0x7FF));
        let utf8_lanes = spread_bytes(codes, has_two_or_more, has_three);
        let (has_two_or_more, has_three) = (mask(has_two_or_more), mask(has_three));
        push_four(bytes, _mm256_castsi256_si128(utf8_lanes), has_two_or_more & 15 | (has_three & 15) << 4);
        push_four(bytes, _mm256_extracti128_si256::<1>(utf8_lanes), has_two_or_more >> 4 | has_three & 0xF0);
    }

    /// Returns the UTF-8 bytes of each character, in the lowest bytes of the character's lane.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn spread_bytes(codes: __m256i, has_two_or_more: __m256i, has_three: __m256i) -> __m256i {
        let fill_lanes = _mm256_set1_epi32;
        let last_byte = _mm256_or_si256(_mm256_and_si256(codes, fill_lanes(0x3F)), fill_lanes(0x80));
        let upper_bits = _mm256_srli_epi32::<6>(codes);
        let middle_byte = _mm256_or_si256(_mm256_and_si256(upper_bits, fill_lanes(0x3F)), fill_lanes(0x80));
        let two_bytes =
            _mm256_or_si256(_mm256_or_si256(upper_bits, fill_lanes(0xC0)), _mm256_slli_epi32::<8>(last_byte));
        let first_byte = _mm256_or_si256(_mm256_srli_epi32::<12>(codes), fill_lanes(0xE0));
        let three_bytes = _mm256_or_si256(
            _mm256_or_si256(first_byte, _mm256_slli_epi32::<8>(middle_byte)),
            _mm256_slli_epi32::<16>(last_byte),
        );
        _mm256_blendv_epi8(_mm256_blendv_epi8(codes, two_bytes, has_two_or_more), three_bytes, has_three)
    }

    /// Appends four characters; `bits` encodes the lengths of the characters and selects the shuffle.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn push_four(bytes: &mut Vec<u8>, utf8_lanes: __m128i, bits: usize) {
        let spare_bytes = &mut bytes.spare_capacity_mut()[..STORE_SLACK];
        // SAFETY: a row of the table and the reserved memory are as long as the vector; the new length counts only
        // bytes of the characters.
        unsafe {
            let shuffle = _mm_loadu_si128(SHUFFLES[bits].as_ptr().cast());
            _mm_storeu_si128(spare_bytes.as_mut_ptr().cast(), _mm_shuffle_epi8(utf8_lanes, shuffle));
            bytes.set_len(bytes.len() + 4 + bits.count_ones() as usize);
        }
    }

    fn push_one_by_one(bytes: &mut Vec<u8>, characters: &[u32]) {
        for code in characters.iter().filter_map(|&code| char::from_u32(code)) {
            bytes.extend_from_slice(code.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(vector: &[u32; LANES]) -> __m256i {
        // SAFETY: the array is as long as the vector.
        unsafe { _mm256_loadu_si256(vector.as_ptr().cast()) }
    }

    /// Collects the highest bits of all lanes in a number.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(lanes: __m256i) -> usize {
        _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code points whose UTF-8 has every length, the first and last code points of each length, surrogates, and numbers
    /// beyond U+10FFFF.
    const TESTED_CODES: [u32; 18] = [
        0x20,
        0x61,
        0x7F,
        0x80,
        0xE9,
        0x7FF,
        0x800,
        0x732B,
        0xD7FF,
        0xD800,
        0xDFFF,
        0xE000,
        0xFFFF,
        0x1_F600,
        0x10_FFFF,
        0x11_0000,
        0x8000_0080,
        u32::MAX,
    ];

    #[test]
    fn vectors_agree_with_single_characters() {
        // Marsaglia's xorshift generates the numbers, so that a failure is reproducible.
        let mut state = 1u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as usize
        };
        for round in 0..20_000 {
            let length = random() % 100;
            let kinds = 1 + random() % TESTED_CODES.len();
            let mut characters: Vec<u32> = (0..length).map(|_| TESTED_CODES[random() % kinds]).collect();
            if round % 4 > 0 {
                characters.retain(|&code| char::from_u32(code).is_some());
            }
            for level in SimdLevel::supported() {
                let bytes = to_utf8_at(level, &characters);
                assert_eq!(bytes, encode_one_by_one(&characters), "{level:?}: {characters:x?}");
            }
        }
    }

    #[test]
    fn every_character_is_encoded() {
        let fill_lanes: String = ('\0'..=char::MAX).collect();
        let characters: Vec<u32> = fill_lanes.chars().map(u32::from).collect();
        for level in SimdLevel::supported() {
            assert_eq!(to_utf8_at(level, &characters).unwrap(), fill_lanes.as_bytes(), "{level:?}");
        }
    }
}
