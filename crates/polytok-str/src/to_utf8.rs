//! Converts the characters of a `str` to UTF-8.

use std::mem::MaybeUninit;

use polytok_simd::SimdLevel;

use crate::Unit;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

/// The number of characters that are converted before memory is reserved for more. Each step reserves memory for the
/// longest characters, so a step must be much shorter than a long text.
const BLOCK: usize = 1 << 14;
/// The number of bytes beyond the end of the text that the vector code can write.
const STORE_SLACK: usize = 64;
/// The number of characters that are tested for ASCII together.
#[cfg(target_arch = "x86_64")]
const ASCII_RUN: usize = 32;

/// The reason why characters were not converted.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// A number is not a character: a surrogate, or a number beyond U+10FFFF.
    NotACharacter,
    /// The system has not enough memory.
    OutOfMemory,
}

/// Converts characters to UTF-8, in the memory of `buffer`.
///
/// ```
/// use polytok_str::to_utf8::{Failure, convert};
///
/// let characters: Vec<u32> = "naïve 猫".chars().map(u32::from).collect();
/// assert_eq!(convert(&characters, String::new()).unwrap(), "naïve 猫");
/// assert_eq!(convert(&[0xD800_u16], String::new()), Err(Failure::NotACharacter));
/// ```
pub fn convert<U: Unit>(characters: &[U], buffer: String) -> Result<String, Failure> {
    convert_at(SimdLevel::current(), characters, buffer)
}

/// Implements `convert` with the instructions of a SIMD level, which the processor must support.
fn convert_at<U: Unit>(level: SimdLevel, characters: &[U], buffer: String) -> Result<String, Failure> {
    let mut bytes = buffer.into_bytes();
    bytes.clear();
    for block in characters.chunks(BLOCK) {
        bytes.try_reserve(block.len() * U::MAX_UTF8_BYTES + STORE_SLACK).map_err(|_| Failure::OutOfMemory)?;
        let written = convert_block(level, block, bytes.spare_capacity_mut()).ok_or(Failure::NotACharacter)?;
        // SAFETY: the block's conversion has initialized this number of bytes after the length.
        unsafe { bytes.set_len(bytes.len() + written) };
    }
    // SAFETY: each block's conversion has written the UTF-8 of whole characters.
    Ok(unsafe { String::from_utf8_unchecked(bytes) })
}

/// Converts characters with surrogates: each pair of surrogates is joined, and each other surrogate is replaced by
/// U+FFFD. Returns None if the system has not enough memory.
///
/// ```
/// assert_eq!(polytok_str::to_utf8::repair(&[0x61, 0xD83D, 0xDE00, 0xDC00_u16]).unwrap(), "a😀\u{FFFD}");
/// ```
pub fn repair<U: Unit>(characters: &[U]) -> Option<String> {
    // A surrogate is its own unit of UTF-16, so decoding UTF-16 joins the pairs.
    let units = characters.iter().flat_map(|&code| {
        let (mut units, code) = ([0; 2], code.into());
        let length = match char::from_u32(code) {
            Some(character) => character.encode_utf16(&mut units).len(),
            None => {
                units[0] = code as u16;
                1
            }
        };
        units.into_iter().take(length)
    });
    let mut text = String::new();
    for character in char::decode_utf16(units).map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER)) {
        text.try_reserve(character.len_utf8()).ok()?;
        text.push(character);
    }
    Some(text)
}

/// Writes the UTF-8 of characters to `out`, and returns the number of written bytes, all of which are initialized;
/// None if a number is not a character. `out` has `MAX_UTF8_BYTES` bytes for each character, and `STORE_SLACK` more. The
/// processor must support the level.
fn convert_block<U: Unit>(level: SimdLevel, characters: &[U], out: &mut [MaybeUninit<u8>]) -> Option<usize> {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor supports the level.
        SimdLevel::Avx2 => unsafe { avx2::convert(characters, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor supports the level.
        SimdLevel::Avx512 => unsafe { avx512::convert(characters, out) },
        _ => convert_one_by_one(characters, out, 0),
    }
}

/// Writes the UTF-8 of characters to `out[at..]`, and returns the end of the written bytes; None if a number is not a
/// character.
fn convert_one_by_one<U: Unit>(characters: &[U], out: &mut [MaybeUninit<u8>], mut at: usize) -> Option<usize> {
    for &code in characters {
        let mut bytes = [0; 4];
        let utf8 = char::from_u32(code.into())?.encode_utf8(&mut bytes).as_bytes();
        out[at..][..utf8.len()].iter_mut().zip(utf8).for_each(|(place, &byte)| _ = place.write(byte));
        at += utf8.len();
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Code points whose UTF-8 has every length, the first and last code points of each length and of each unit,
    /// surrogates, and numbers beyond U+10FFFF.
    const CODES: [u32; 20] = [
        0x20,
        0x61,
        0x7F,
        0x80,
        0xE9,
        0xFF,
        0x100,
        0x7FF,
        0x800,
        0x732B,
        0xD7FF,
        0xE000,
        0xFFFF,
        0x1_F600,
        0x10_FFFF,
        0xD800,
        0xDFFF,
        0x11_0000,
        0x8000_0080,
        u32::MAX,
    ];
    const CHARACTERS: usize = 15;

    fn check<U: Unit>(codes: &[u32]) {
        let limit = u64::MAX >> (64 - 8 * size_of::<U>());
        let codes: Vec<u32> = codes.iter().copied().filter(|&code| u64::from(code) <= limit).collect();
        let units: Vec<U> = codes.iter().map(|&code| U::new(code)).collect();
        let expected: Option<String> = codes.iter().map(|&code| char::from_u32(code)).collect();
        for level in SimdLevel::supported() {
            let actual = convert_at(level, &units, "previous text".to_string());
            assert_eq!(actual.ok(), expected, "{level:?} {codes:x?}");
        }
    }

    fn check_all_units(codes: &[u32]) {
        check::<u8>(codes);
        check::<u16>(codes);
        check::<u32>(codes);
    }

    #[test]
    fn every_character_is_converted() {
        let codes: Vec<u32> = ('\0'..=char::MAX).map(u32::from).collect();
        check_all_units(&codes);
    }

    /// Tests each number at each position of two runs of ASCII and in the shorter vectors after them.
    #[test]
    fn a_number_is_converted_at_every_position() {
        for code in CODES {
            for length in 0..100 {
                for at in 0..length {
                    let mut codes = vec![0x61; length];
                    codes[at] = code;
                    check_all_units(&codes);
                }
            }
        }
    }

    #[test]
    fn texts_longer_than_a_block_are_converted() {
        for at in [0, BLOCK - 1, BLOCK, 2 * BLOCK] {
            for code in CODES {
                let mut codes = vec![0x732B; 2 * BLOCK + 1];
                codes[at] = code;
                check::<u16>(&codes);
                check::<u32>(&codes);
            }
        }
    }

    #[test]
    fn surrogates_are_repaired_as_in_utf16() {
        let units = [0x61, 0xDC00, 0xD83D, 0xDE00, 0xD83D, 0xD83D, 0xDE00, 0xE9, 0xD800_u16];
        let expected = String::from_utf16_lossy(&units);
        assert_eq!(repair(&units).unwrap(), expected);
        assert_eq!(repair(&units.map(u32::from)).unwrap(), expected);
        assert_eq!(repair(&[0x1_F600, 0xDE00_u32]).unwrap(), "😀\u{FFFD}");
    }

    proptest! {
        #[test]
        fn random_characters_are_converted(picks in prop::collection::vec(0..CHARACTERS, 0..200)) {
            check_all_units(&picks.iter().map(|&pick| CODES[pick]).collect::<Vec<_>>());
        }

        #[test]
        fn random_numbers_are_converted_or_refused(picks in prop::collection::vec(0..CODES.len(), 0..60)) {
            check_all_units(&picks.iter().map(|&pick| CODES[pick]).collect::<Vec<_>>());
        }

        #[test]
        fn random_units_are_repaired_as_in_utf16(units in prop::collection::vec(0xD7F0..0xE010_u16, 0..40)) {
            prop_assert_eq!(repair(&units).unwrap(), String::from_utf16_lossy(&units));
        }
    }
}
