//! Flags for the parts of characters that are adjacent to another character in a byte-level entry.
//!
//! A byte-level entry can start or end inside of a character. So the test whether two characters are adjacent in an
//! entry tries each end of the left character with each start of the right character. For most characters, at most one
//! end and one start occur in entries. Each code point of the basic plane has a byte of flags: bit n - 1 is set if an
//! entry starts with the last n bytes of the character and continues with another character; bit 3 + n is set if an
//! entry ends with the first n bytes of the character after another character. Code points above the basic plane have
//! no flags, so for them all ends and starts are tried.

use super::neighbours::{pack_unit, unpack_unit};
use crate::table::Table;
use crate::utf8::{is_continuation, only_char};

/// The number of code points that have a byte of flags.
const FLAGGED_CODE_POINTS: usize = 0x1_0000;

/// The byte of flags of each code point; empty if entries consist of whole characters.
#[derive(Default)]
pub struct CharPartFlags(pub Table<u8>);

/// A character and its byte of flags.
#[derive(Clone, Copy)]
pub struct FlaggedChar {
    /// The bytes of the character as one number.
    pub packed: u32,
    /// The number of bytes of the character.
    pub len: usize,
    flags: u8,
}

impl FlaggedChar {
    /// Reports whether the character is ASCII.
    #[inline]
    pub fn is_ascii(self) -> bool {
        self.packed < 128
    }
}

impl CharPartFlags {
    /// Builds the table from the adjacent units (characters or parts of characters) of entries.
    pub fn from_pairs(pairs: &[u64]) -> CharPartFlags {
        let mut flags = vec![0; FLAGGED_CODE_POINTS];
        for &pair in pairs {
            add_flags(&mut flags, unpack_unit((pair >> 32) as u32).bytes(), unpack_unit(pair as u32).bytes());
        }
        CharPartFlags(flags.into())
    }

    /// Returns the character with these bytes, and its flags.
    #[inline]
    pub fn look_up(&self, bytes: &[u8]) -> FlaggedChar {
        let flags = code_point(bytes).and_then(|code_point| self.0.get(code_point)).copied().unwrap_or(u8::MAX);
        FlaggedChar { packed: pack_unit(bytes), len: bytes.len(), flags }
    }

    /// Calls `joins` with each end of the left character and each start of the right character that occur in entries,
    /// and reports whether any call returns true. An end or start is packed into a number, with its first byte lowest.
    #[inline]
    pub fn any_parts_join(left: FlaggedChar, right: FlaggedChar, joins: impl Fn(u32, u32) -> bool) -> bool {
        let (mut ends, starts) = (left.flags & 15, right.flags >> 4);
        if ends == 0 || starts == 0 {
            return false;
        }
        while ends != 0 {
            let len = 1 + ends.trailing_zeros();
            ends &= ends - 1;
            let Some(bytes_before) = (left.len as u32).checked_sub(len) else { break };
            let mut starts = starts;
            while starts != 0 {
                let bytes_after = 3 - starts.trailing_zeros();
                starts &= starts - 1;
                if joins(left.packed >> (8 * bytes_before), right.packed << (8 * bytes_after) >> (8 * bytes_after)) {
                    return true;
                }
            }
        }
        false
    }
}

/// Returns the code point of a character of at most three bytes, which is below [`SIZE`].
#[inline]
fn code_point(character: &[u8]) -> Option<usize> {
    match *character {
        [a] => Some(a as usize),
        [a, b] => Some((a as usize & 31) << 6 | b as usize & 63),
        [a, b, c] => Some((a as usize & 15) << 12 | (b as usize & 63) << 6 | c as usize & 63),
        _ => None,
    }
}

/// Sets the flags for two adjacent units of an entry: `left` is a character or the end of a character, and `right` is a
/// character or the start of a character. Bytes that are not a part of any character are ignored, because no text has
/// such bytes.
fn add_flags(flags: &mut [u8], left: &[u8], right: &[u8]) {
    let is_inner_byte = |byte: &u8| is_continuation(*byte);
    if only_char(left).is_some() {
        set_bits(flags, code_point(left), 0, 1, left.len() - 1);
    } else if left.iter().all(is_inner_byte) {
        // Every 64th code point has the same last byte, and every 4096th code point has the same last two bytes.
        let low_bits = left.iter().fold(0, |low_bits, &byte| low_bits << 6 | byte as usize & 63);
        set_bits(flags, Some(low_bits), 64usize.pow(left.len() as u32), FLAGGED_CODE_POINTS, left.len() - 1);
    }
    if only_char(right).is_some() {
        set_bits(flags, code_point(right), 0, 1, right.len() + 3);
    } else if right[1..].iter().all(is_inner_byte) {
        let (first_code_point, count) = match *right {
            [lead @ 0xC2..=0xDF] => ((lead as usize & 31) << 6, 64),
            [lead @ 0xE0..=0xEF] => ((lead as usize & 15) << 12, 4096),
            [lead @ 0xE0..=0xEF, next] => ((lead as usize & 15) << 12 | (next as usize & 63) << 6, 64),
            _ => return,
        };
        set_bits(flags, Some(first_code_point), 1, count, right.len() + 3);
    }
}

/// Sets a bit in the flags of `count` code points: the first code point and every `step`-th code point after it.
fn set_bits(flags: &mut [u8], first_code_point: Option<usize>, step: usize, count: usize, bit: usize) {
    let Some(first_code_point) = first_code_point else { return };
    for flag in flags.iter_mut().skip(first_code_point).step_by(step.max(1)).take(count) {
        *flag |= 1 << bit;
    }
}
