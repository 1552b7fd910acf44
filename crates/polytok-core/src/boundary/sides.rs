//! The ends and starts of characters that are next to a border between characters in a byte-level entry.
//!
//! A byte-level entry can start or end inside of a character. So two characters are tested with each end of the left
//! character and each start of the right character. For most characters, at most one end and one start occur in
//! entries. Each code point of the basic plane has a byte of flags: bit n - 1 is set if the last n bytes of the
//! character occur, bit 3 + n if the first n bytes occur. For code points above the basic plane all ends and starts
//! count as occurring.

use super::neighbours::{pack, unpack};
use crate::table::Table;
use crate::utf8::{is_continuation, only_char};

/// The number of code points that have a byte of flags.
const SIZE: usize = 0x1_0000;

/// The byte of flags of each code point; empty if entries consist of whole characters.
#[derive(Default)]
pub struct Sides(pub Table<u8>);

/// A character and its byte of flags.
#[derive(Clone, Copy)]
pub struct CharUnit {
    /// The bytes of the character as one number.
    pub packed: u32,
    /// The number of bytes of the character.
    pub len: usize,
    flags: u8,
}

impl Sides {
    /// Builds the table from the pairs of characters, or parts of characters, that are adjacent in entries.
    pub fn of(pairs: &[u64]) -> Sides {
        let mut flags = vec![0; SIZE];
        for &pair in pairs {
            add_flags(&mut flags, unpack((pair >> 32) as u32).bytes(), unpack(pair as u32).bytes());
        }
        Sides(flags.into())
    }

    /// Looks a character up.
    #[inline]
    pub fn unit(&self, bytes: &[u8]) -> CharUnit {
        let flags = code(bytes).and_then(|code| self.0.get(code)).copied().unwrap_or(u8::MAX);
        CharUnit { packed: pack(bytes), len: bytes.len(), flags }
    }

    /// Reports whether `joins` returns true for any end of the left character and any start of the right character that
    /// occur in entries. The end and the start are packed into numbers; the first byte is the lowest.
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
                let excess = 3 - starts.trailing_zeros();
                starts &= starts - 1;
                if joins(left.packed >> (8 * before), right.packed << (8 * excess) >> (8 * excess)) {
                    return true;
                }
            }
        }
        false
    }
}

/// Returns the code point of a character of at most three bytes, which is below [`SIZE`].
#[inline]
fn code(unit: &[u8]) -> Option<usize> {
    match *unit {
        [a] => Some(a as usize),
        [a, b] => Some((a as usize & 31) << 6 | b as usize & 63),
        [a, b, c] => Some((a as usize & 15) << 12 | (b as usize & 63) << 6 | c as usize & 63),
        _ => None,
    }
}

/// Records the parts of characters next to a border: `left` is a whole character or the end of a character, `right` is
/// a whole character or the start of a character. Bytes that are not a part of any character are ignored, because no
/// text has such bytes.
fn add_flags(flags: &mut [u8], left: &[u8], right: &[u8]) {
    let is_inside = |byte: &u8| is_continuation(*byte);
    if only_char(left).is_some() {
        set(flags, code(left), 0, 1, left.len() - 1);
    } else if left.iter().all(is_inside) {
        // The last byte of a character repeats at every 64th code point, the last two bytes at every 4096th.
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

/// Sets a bit for `count` code points: for `first` and every `step`-th code point after it.
fn set(flags: &mut [u8], first: Option<usize>, step: usize, count: usize, bit: usize) {
    let Some(first) = first else { return };
    for flag in flags.iter_mut().skip(first).step_by(step.max(1)).take(count) {
        *flag |= 1 << bit;
    }
}
