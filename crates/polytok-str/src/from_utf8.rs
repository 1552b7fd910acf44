//! Converts UTF-8 to the units of a `str`.
//!
//! The vectors compute for each byte of a window the unit of a character that would begin at this byte. Then the units
//! of those bytes at which no character begins are removed.

use std::mem::MaybeUninit;

use polytok_simd::SimdLevel;

use crate::Unit;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

/// A text, and what Python must know to create its `str`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredText<'t> {
    /// The text.
    pub text: &'t str,
    /// The number of characters.
    pub characters: usize,
    /// The largest code point that the smallest sufficient unit can have: U+007F, U+00FF, U+FFFF or U+10FFFF.
    pub max_code: u32,
}

/// Reports whether the conversion is faster than Python's decoder.
pub fn is_fast() -> bool {
    SimdLevel::current() >= SimdLevel::Avx2
}

/// Measures a text; returns None if the bytes are not UTF-8.
///
/// ```
/// use polytok_str::from_utf8::{MeasuredText, measure};
///
/// let text = "naïve";
/// assert_eq!(measure(text.as_bytes()), Some(MeasuredText { text, characters: 5, max_code: 0xFF }));
/// assert_eq!(measure(b"\xFF"), None);
/// ```
pub fn measure(bytes: &[u8]) -> Option<MeasuredText<'_>> {
    let (characters, max_byte) = starts_and_max(SimdLevel::current(), bytes);
    let text = match max_byte {
        // SAFETY: all bytes are ASCII.
        0..0x80 => unsafe { std::str::from_utf8_unchecked(bytes) },
        0x80.. => simdutf8::basic::from_utf8(bytes).ok()?,
    };
    let max_code = match max_byte {
        0..0x80 => 0x7F,
        // The characters U+0080 to U+00FF begin with 0xC2 or 0xC3.
        0x80..0xC4 => 0xFF,
        0xC4..0xF0 => 0xFFFF,
        _ => 0x10_FFFF,
    };
    Some(MeasuredText { text, characters, max_code })
}

/// Returns the number of bytes that are not continuation bytes, and the largest byte.
fn starts_and_max(level: SimdLevel, bytes: &[u8]) -> (usize, u8) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor supports the level.
        SimdLevel::Avx2 => unsafe { avx2::starts_and_max(bytes) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor supports the level.
        SimdLevel::Avx512 => unsafe { avx512::starts_and_max(bytes) },
        _ => count_starts(bytes),
    }
}

/// Does the work of `starts_and_max`. The compiler uses the vector instructions of the caller.
#[inline(always)]
fn count_starts(bytes: &[u8]) -> (usize, u8) {
    /// A count of this many bytes fits in a byte, so that the compiler adds many bytes with one instruction.
    const BLOCK: usize = 128;
    let is_start = |byte: u8| byte as i8 >= -64;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let (mut starts, mut max_bytes) = (0, [0; BLOCK]);
    for block in blocks {
        starts += usize::from(block.iter().map(|&byte| u8::from(is_start(byte))).sum::<u8>());
        max_bytes.iter_mut().zip(block).for_each(|(max_byte, &byte)| *max_byte = byte.max(*max_byte));
    }
    starts += rest.iter().filter(|&&byte| is_start(byte)).count();
    (starts, max_bytes.iter().chain(rest).fold(0, |max_byte, &byte| byte.max(max_byte)))
}

/// Writes the characters of a text to `units`, and returns the number of characters, whose units are all initialized.
/// `units` has a unit for each character. If a character does not fit in a unit, its unit has an arbitrary value.
///
/// ```
/// use std::mem::MaybeUninit;
///
/// let mut units = [MaybeUninit::uninit(); 5];
/// assert_eq!(polytok_str::from_utf8::fill::<u16>("naïve", &mut units), 5);
/// assert_eq!(unsafe { units[2].assume_init() }, 0xEF);
/// ```
pub fn fill<U: Unit>(text: &str, units: &mut [MaybeUninit<U>]) -> usize {
    fill_at(SimdLevel::current(), text, units)
}

fn fill_at<U: Unit>(level: SimdLevel, text: &str, units: &mut [MaybeUninit<U>]) -> usize {
    let is_ascii = text.len() == units.len();
    if is_ascii && size_of::<U>() == 1 {
        units.iter_mut().zip(text.bytes()).for_each(|(unit, byte)| _ = unit.write(U::new(byte.into())));
        return text.len();
    }
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor supports the level.
        SimdLevel::Avx2 => unsafe { avx2::fill(text, units) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor supports the level.
        SimdLevel::Avx512 => unsafe { avx512::fill(text.as_bytes(), units) },
        _ => fill_one_by_one(text, 0..text.len(), units, 0),
    }
}

/// Writes the characters that begin in a range of the text to `units[count..]`. Returns the new number of units.
fn fill_one_by_one<U: Unit>(
    text: &str,
    range: std::ops::Range<usize>,
    units: &mut [MaybeUninit<U>],
    mut count: usize,
) -> usize {
    let start = range.clone().find(|&at| text.is_char_boundary(at)).unwrap_or(range.end);
    let in_range = |&(at, _): &(usize, char)| start + at < range.end;
    for (_, character) in text[start..].char_indices().take_while(in_range) {
        units[count].write(U::new(character.into()));
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Characters of every length and unit, and the first and last of each.
    const CHARACTERS: &[char] = &[
        'a',
        '\0',
        '\u{7F}',
        '\u{80}',
        'é',
        '\u{FF}',
        '\u{100}',
        '\u{7FF}',
        '\u{800}',
        '語',
        '\u{D7FF}',
        '\u{E000}',
        '\u{FFFF}',
        '\u{10000}',
        '😀',
        '\u{10FFFF}',
    ];

    fn check<U: Unit + PartialEq + std::fmt::Debug>(text: &str) {
        let expected: Vec<U> = text.chars().map(|character| U::new(character.into())).collect();
        for level in SimdLevel::supported() {
            let mut units = vec![MaybeUninit::new(U::new(1)); expected.len()];
            assert_eq!(fill_at(level, text, &mut units), expected.len(), "{level:?} {text:?}");
            // SAFETY: all units are initialized.
            let actual: Vec<U> = units.into_iter().map(|unit| unsafe { unit.assume_init() }).collect();
            assert_eq!(actual, expected, "{level:?} {text:?}");
        }
    }

    fn check_all_units(text: &str) {
        let max_code = text.chars().map(u32::from).max().unwrap_or(0);
        let limits = [0x7F, 0xFF, 0xFFFF, 0x10_FFFF];
        let expected_limit = limits.into_iter().find(|&limit| max_code <= limit).unwrap();
        let characters = text.chars().count();
        assert_eq!(measure(text.as_bytes()), Some(MeasuredText { text, characters, max_code: expected_limit }));
        for level in SimdLevel::supported() {
            let max_byte = text.bytes().max().unwrap_or(0);
            assert_eq!(starts_and_max(level, text.as_bytes()), (characters, max_byte), "{text:?}");
        }
        if max_code <= 0xFF {
            check::<u8>(text);
        }
        if max_code <= 0xFFFF {
            check::<u16>(text);
        }
        check::<u32>(text);
    }

    #[test]
    fn every_character_is_written() {
        let characters = |limit: u32| (0..=limit).filter_map(char::from_u32).collect::<String>();
        [0x7F, 0xFF, 0xFFFF, 0x10_FFFF].into_iter().for_each(|limit| check_all_units(&characters(limit)));
    }

    /// Tests each character at each position of several windows, alone in ASCII and between equal characters.
    #[test]
    fn a_character_is_written_at_every_position() {
        for &character in CHARACTERS {
            for length in 0..90 {
                check_all_units(&character.to_string().repeat(length));
                for at in 0..length {
                    check_all_units(&format!("{}{character}{}", "a".repeat(at), "b".repeat(length - 1 - at)));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn random_texts_are_written(
            kinds in 1..=CHARACTERS.len(),
            picks in prop::collection::vec(0..CHARACTERS.len(), 0..300),
        ) {
            check_all_units(&picks.iter().map(|&pick| CHARACTERS[pick % kinds]).collect::<String>());
        }

        #[test]
        fn bytes_that_are_not_utf8_are_refused(bytes: Vec<u8>) {
            prop_assert_eq!(measure(&bytes).is_some(), std::str::from_utf8(&bytes).is_ok());
        }
    }
}
