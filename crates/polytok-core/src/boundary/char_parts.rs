//! Flags of characters: the kinds of pairs in byte-level entries that contain the character or a part of it.
//!
//! A byte-level entry can start or end inside of a character. So two characters can be adjacent in an entry in four
//! ways: each of them is whole, or only a part of it is in the entry. These are the four kinds of pairs. Each code point
//! of the first two planes, which include emoji, has a byte of flags: the low four bits are the kinds of pairs in which
//! the character is on the left, and the high four bits the kinds in which it is on the right. Two characters can only
//! be adjacent in a pair whose kind is in the flags of both, so most pairs of characters need no lookup, and most others
//! only one: the lookup of both whole characters. Other code points have all flags.

use polytok_memory as memory;

use super::neighbours::{pack_unit, unpack_unit};
use crate::table::Table;
use crate::utf8::{is_continuation, lead_len, only_char};

/// The number of code points that have a byte of flags.
const FLAGGED_CODE_POINTS: usize = 0x2_0000;

/// The kind of pairs of two whole characters; see [`pair_kind`].
const WHOLE_PAIR: u8 = 1;

/// The flags of a character of a vocabulary whose entries consist of whole characters.
const WHOLE_PAIR_FLAGS: u8 = WHOLE_PAIR | WHOLE_PAIR << 4;

/// The position of the flags in a record.
const FLAGS_SHIFT: u32 = 56;

/// The byte of flags of each code point; empty if entries consist of whole characters.
#[derive(Default)]
pub struct CharPartFlags(pub Table<u8>);

/// A character and its record: a number whose highest byte has the flags of the character.
#[derive(Clone, Copy)]
pub struct CharWithRecord {
    /// The bytes of the character as one number.
    pub packed: u32,
    /// The number of bytes of the character.
    pub len: usize,
    /// The record.
    pub record: u64,
}

impl CharWithRecord {
    /// The end of a text. It joins no character.
    pub const NONE: CharWithRecord = CharWithRecord { packed: 0, len: 0, record: 0 };

    /// Reads the character at `text[at..end]`, which must not be empty. Its length is computed from its first byte.
    /// `record_of` returns the record of a code point; it is called with an invalid code point for bytes that are not
    /// UTF-8.
    #[inline(always)]
    pub fn read(text: &[u8], at: usize, end: usize, record_of: impl Fn(usize) -> u64) -> CharWithRecord {
        let four_bytes = text.get(at..).and_then(<[u8]>::first_chunk);
        let word = four_bytes.map_or_else(|| pack_unit(&text[at..]), |&four_bytes| u32::from_le_bytes(four_bytes));
        let inner_bits = |shift: u32| (word >> shift & 63) as usize;
        // Most characters of long pieces have three bytes.
        if word & 0x00C0_C0F0 == 0x0080_80E0 && at + 3 <= end {
            let code_point = (word as usize & 15) << 12 | inner_bits(8) << 6 | inner_bits(16);
            return CharWithRecord { packed: word & 0xFF_FFFF, len: 3, record: record_of(code_point) };
        }
        let len = lead_len(word as u8).min(end - at);
        let packed = word & u32::MAX >> (32 - 8 * len as u32);
        let code_point = match len {
            1 => packed as usize,
            2 => (packed as usize & 31) << 6 | inner_bits(8),
            4 if word & 0xC0C0_C0F8 == 0x8080_80F0 => {
                (word as usize & 7) << 18 | inner_bits(8) << 12 | inner_bits(16) << 6 | inner_bits(24)
            }
            _ => usize::MAX,
        };
        CharWithRecord { packed, len, record: record_of(code_point) }
    }

    /// Reports whether the character is ASCII, or the end of the text.
    #[inline]
    pub fn is_ascii(self) -> bool {
        self.packed < 128
    }

    /// Reports whether the character can be adjacent to the character on its right. Calls `joins` with the two
    /// characters, or parts of them, packed into numbers with the first byte lowest.
    #[inline(always)]
    pub fn can_join(self, right: CharWithRecord, joins: impl Fn(u32, u32) -> bool) -> bool {
        let (kinds_on_left, kinds_on_right) = (self.record, right.record >> 4);
        let common_kinds = (kinds_on_left & kinds_on_right) >> FLAGS_SHIFT;
        match common_kinds as u8 & 15 {
            0 => false,
            WHOLE_PAIR => joins(self.packed, right.packed),
            kinds => any_pair_joins(kinds, self, right, joins),
        }
    }
}

impl CharPartFlags {
    /// Builds the table from the adjacent units (characters or parts of characters) of entries.
    pub fn from_pairs(pairs: &[u64]) -> CharPartFlags {
        let mut flags = memory::zeroed(FLAGGED_CODE_POINTS);
        for &pair in pairs {
            add_flags(&mut flags, unpack_unit((pair >> 32) as u32).bytes(), unpack_unit(pair as u32).bytes());
        }
        CharPartFlags(flags.into())
    }

    /// Returns the flags of a code point, as a record without other contents.
    #[inline]
    pub fn record_of(&self, code_point: usize) -> u64 {
        let flags_of_others = if self.0.is_empty() { WHOLE_PAIR_FLAGS } else { u8::MAX };
        (self.0.get(code_point).copied().unwrap_or(flags_of_others) as u64) << FLAGS_SHIFT
    }
}

/// Calls `joins` with each end of the left character and each start of the right character that are a pair of one of
/// these kinds, and reports whether any call returns true.
#[cold]
fn any_pair_joins(kinds: u8, left: CharWithRecord, right: CharWithRecord, joins: impl Fn(u32, u32) -> bool) -> bool {
    let joins_without = |(left_cut, right_cut): (usize, usize)| {
        let kind = pair_kind(left_cut > 0, right_cut > 0);
        let start = right.packed & u32::MAX >> (32 - 8 * (right.len - right_cut));
        kinds & kind != 0 && joins(left.packed >> (8 * left_cut), start)
    };
    (0..left.len).flat_map(|left_cut| (0..right.len).map(move |right_cut| (left_cut, right_cut))).any(joins_without)
}

/// Returns the kind of a pair, a single bit.
fn pair_kind(is_left_part: bool, is_right_part: bool) -> u8 {
    WHOLE_PAIR << (is_left_part as u8 | (is_right_part as u8) << 1)
}

/// Code points at equal distances.
struct CodePoints {
    first: usize,
    step: usize,
    count: usize,
}

/// Sets the flags for two adjacent units of an entry: `left` is a character or the end of a character, and `right` is a
/// character or the start of a character. Bytes that are not a part of any character are ignored, because no text has
/// such bytes.
fn add_flags(flags: &mut [u8], left: &[u8], right: &[u8]) {
    let (left_char, right_char) = (only_char(left), only_char(right));
    let is_end_part = left.iter().all(|&byte| is_continuation(byte));
    let is_start_part = right[0] >= 0xC2 && right[1..].iter().all(|&byte| is_continuation(byte));
    if left_char.is_none() && !is_end_part || right_char.is_none() && !is_start_part {
        return;
    }
    let kind = pair_kind(left_char.is_none(), right_char.is_none());
    let one = |c: char| CodePoints { first: c as usize, step: 1, count: 1 };
    set_bits(flags, left_char.map_or_else(|| code_points_that_end_with(left), one), kind);
    set_bits(flags, right_char.map_or_else(|| code_points_that_start_with(right), one), kind << 4);
}

/// Returns the code points with flags whose characters end with these continuation bytes.
fn code_points_that_end_with(part: &[u8]) -> CodePoints {
    // Every 64th code point has the same last byte, and every 4096th has the same last two bytes. The last three bytes
    // are those of one code point with flags.
    let first = part.iter().fold(0, |low_bits, &byte| low_bits << 6 | byte as usize & 63);
    CodePoints { first, step: 64usize.pow(part.len() as u32), count: FLAGGED_CODE_POINTS }
}

/// Returns the code points with flags whose characters start with these bytes and have more bytes.
fn code_points_that_start_with(part: &[u8]) -> CodePoints {
    let (first, count) = match *part {
        [lead @ 0xC2..=0xDF] => ((lead as usize & 31) << 6, 64),
        [lead @ 0xE0..=0xEF] => ((lead as usize & 15) << 12, 4096),
        [lead @ 0xE0..=0xEF, next] => ((lead as usize & 15) << 12 | (next as usize & 63) << 6, 64),
        [0xF0] => (0x1_0000, 0x1_0000),
        [0xF0, next] => ((next as usize & 63) << 12, 4096),
        [0xF0, next, third] => ((next as usize & 63) << 12 | (third as usize & 63) << 6, 64),
        _ => (FLAGGED_CODE_POINTS, 0),
    };
    CodePoints { first, step: 1, count }
}

/// Sets bits in the flags of these code points.
fn set_bits(flags: &mut [u8], CodePoints { first, step, count }: CodePoints, bits: u8) {
    flags.iter_mut().skip(first).step_by(step).take(count).for_each(|flags| *flags |= bits);
}
