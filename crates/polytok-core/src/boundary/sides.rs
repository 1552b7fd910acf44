//! Which ends and which starts of a character stand beside a border between characters in some byte-level entry.
//!
//! Such an entry may start or end inside of a character, so whether one joins two characters is asked for each end of the left one
//! and each start of the right one. Of most characters none or one occurs at all, which a byte for each code point of the
//! basic plane tells: bit n - 1 for the last n bytes, bit 3 + n for the first n. Above it everything may occur.

use super::neighbours::{pack, unpack};
use crate::table::Table;
use crate::utf8::{is_continuation, only_char};

/// Code points that have a byte.
const SIZE: usize = 0x1_0000;

/// The table; empty where entries are made of characters.
#[derive(Default)]
pub struct Sides(pub Table<u8>);

/// A character, with what is known of it.
#[derive(Clone, Copy)]
pub struct CharUnit {
    /// Its bytes as one number.
    pub packed: u32,
    /// How many there are.
    pub len: usize,
    flags: u8,
}

impl Sides {
    /// Of these pairs of characters, or parts of them, that are adjacent in entries.
    pub fn of(pairs: &[u64]) -> Sides {
        let mut flags = vec![0; SIZE];
        for &pair in pairs {
            note(&mut flags, unpack((pair >> 32) as u32).bytes(), unpack(pair as u32).bytes());
        }
        Sides(flags.into())
    }

    /// A character, looked up.
    #[inline]
    pub fn unit(&self, bytes: &[u8]) -> CharUnit {
        let flags = code(bytes).and_then(|code| self.0.get(code)).copied().unwrap_or(u8::MAX);
        CharUnit { packed: pack(bytes), len: bytes.len(), flags }
    }

    /// Whether `joins` holds for an end of the left character and a start of the right one, of those that occur. A part is a
    /// number of which the lowest byte is the first.
    #[inline]
    pub fn any(left: CharUnit, right: CharUnit, joins: impl Fn(u32, u32) -> bool) -> bool {
        let (mut ends, starts) = (left.flags & 15, right.flags >> 4);
        if ends == 0 || starts == 0 {
            return false;
        }
        while ends != 0 {
            let len = 1 + ends.trailing_zeros();
            ends &= ends - 1;
            let Some(before) = (left.len as u32).checked_sub(len) else { break };
            let mut starts = starts;
            while starts != 0 {
                let behind = 3 - starts.trailing_zeros();
                starts &= starts - 1;
                if joins(left.packed >> (8 * before), right.packed << (8 * behind) >> (8 * behind)) {
                    return true;
                }
            }
        }
        false
    }
}

/// A code point below [`SIZE`] of a character of at most three bytes.
#[inline]
fn code(unit: &[u8]) -> Option<usize> {
    match *unit {
        [a] => Some(a as usize),
        [a, b] => Some((a as usize & 31) << 6 | b as usize & 63),
        [a, b, c] => Some((a as usize & 15) << 12 | (b as usize & 63) << 6 | c as usize & 63),
        _ => None,
    }
}

/// Notes what stands beside a border: the left part is the end of a character, the right one the start of one, or either a whole
/// one. Parts that no character has are in no text.
fn note(flags: &mut [u8], left: &[u8], right: &[u8]) {
    let is_inside = |byte: &u8| is_continuation(*byte);
    if only_char(left).is_some() {
        set(flags, code(left), 0, 1, left.len() - 1);
    } else if left.iter().all(is_inside) {
        // Every 64th code point ends with one byte, every 4096th with two.
        let low = left.iter().fold(0, |low, &byte| low << 6 | byte as usize & 63);
        set(flags, Some(low), 64usize.pow(left.len() as u32), SIZE, left.len() - 1);
    }
    if only_char(right).is_some() {
        set(flags, code(right), 0, 1, right.len() + 3);
    } else if right[1..].iter().all(is_inside) {
        let (first, count) = match *right {
            [lead @ 0xC2..=0xDF] => ((lead as usize & 31) << 6, 64),
            [lead @ 0xE0..=0xEF] => ((lead as usize & 15) << 12, 4096),
            [lead @ 0xE0..=0xEF, next] => ((lead as usize & 15) << 12 | (next as usize & 63) << 6, 64),
            _ => return,
        };
        set(flags, Some(first), 1, count, right.len() + 3);
    }
}

/// Sets a bit for so many code points, from this one on in these steps.
fn set(flags: &mut [u8], first: Option<usize>, step: usize, count: usize, bit: usize) {
    let Some(first) = first else { return };
    for flag in flags.iter_mut().skip(first).step_by(step.max(1)).take(count) {
        *flag |= 1 << bit;
    }
}
