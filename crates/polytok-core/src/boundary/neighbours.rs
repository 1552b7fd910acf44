//! Collects the pairs of units (bytes or characters) that are adjacent in an entry. Every search for boundaries uses
//! these pairs.
//!
//! Every token is an entry. If the units before and after an offset are neighbours in no entry, no token crosses the
//! offset, so the offset is a boundary. The units are bytes ([`BytePairs`]) or characters ([`CharPairs`]). An entry of
//! a byte-level vocabulary can start and end inside of a character, so a part of a character at its start or end is a
//! unit too.
//!
//! Both collections are exact. Code that scans texts stores the pairs in a [`PairSet`](super::pair_set), which is
//! smaller, but can report a pair that is in no entry. Cost: one pass over all entries, and a sort of the pairs that
//! are not ASCII. Twin: `naive_pairs` in the tests.

use polytok_memory::{self as memory, Grow};

use super::pair_set::pack_pair;
use crate::{space_mark, utf8};

/// The number of bits of the hash of a pair, by which pairs that repeat are skipped. Most pairs repeat, and a pair that
/// is skipped need not be sorted.
const RECENT_BITS: u32 = 12;

/// The multiplier of the hash: 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// The kind of units into which entries are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryUnits {
    Bytes,
    /// The units are characters; the first byte of a character decides its length.
    Chars,
    /// The units are characters. A part of a character at the start or end of an entry is also a unit.
    CharsAndParts,
}

/// Calls `on_pair` with every pair of adjacent units of an entry.
#[inline]
fn for_each_pair<'a>(entry: &'a [u8], units: EntryUnits, mut on_pair: impl FnMut(&'a [u8], &'a [u8])) {
    if entry.is_empty() {
        return;
    }
    let unit_len =
        |remaining_entry: &[u8]| if units == EntryUnits::Bytes { 1 } else { utf8::char_len(remaining_entry) };
    // Continuation bytes at the start of an entry are the end of a character.
    let is_end_part = |byte: &&u8| units == EntryUnits::CharsAndParts && utf8::is_continuation(**byte);
    let end_part_len = entry.iter().take(3).take_while(is_end_part).count();
    let (mut start, mut end) = (0, if end_part_len > 0 { end_part_len } else { unit_len(entry) });
    while end < entry.len() {
        let next_end = end + unit_len(&entry[end..]);
        on_pair(&entry[start..end], &entry[end..next_end]);
        (start, end) = (end, next_end);
    }
}

/// The pairs of bytes that are adjacent in an entry: for each byte, a bit for each byte that follows it.
pub(crate) struct BytePairs(Box<[[u64; 4]; 256]>);

impl BytePairs {
    /// Collects the pairs of all entries.
    pub fn from_entries<'a>(entries: impl Iterator<Item = &'a [u8]>) -> BytePairs {
        let mut pairs = BytePairs(Box::new([[0; 4]; 256]));
        for entry in entries {
            for_each_pair(entry, EntryUnits::Bytes, |left, right| pairs.insert(left[0], right[0]));
        }
        pairs
    }

    fn insert(&mut self, left: u8, right: u8) {
        self.0[left as usize][right as usize / 64] |= 1 << (right % 64);
    }

    /// Reports whether these bytes are adjacent in an entry.
    #[inline]
    pub fn has(&self, left: u8, right: u8) -> bool {
        self.0[left as usize][right as usize / 64] >> (right % 64) & 1 == 1
    }
}

/// The pairs of characters, or parts of characters, that are adjacent in an entry.
pub(crate) struct CharPairs {
    /// For each ASCII character, a bit for each ASCII character that follows it.
    pub ascii_pairs: Box<[u128; 128]>,
    /// The pairs with a unit that is not an ASCII character, packed by [`pack_pair`], without duplicates.
    pub other_pairs: Vec<u64>,
}

impl CharPairs {
    /// Collects the pairs of all entries.
    pub fn from_entries<'a>(entries: impl Iterator<Item = &'a [u8]>, units: EntryUnits) -> CharPairs {
        let mut pairs = CharPairs { ascii_pairs: Box::new([0; 128]), other_pairs: Vec::new() };
        let mut chars_after_mark = 0u128;
        let mut recent_pairs = memory::zeroed(1 << RECENT_BITS);
        for entry in entries {
            // Nearly all entries of a SentencePiece vocabulary consist of ASCII characters, most of them with U+2581 at
            // the start.
            let word = entry.strip_prefix(space_mark::BYTES);
            let text = word.unwrap_or(entry);
            if text.is_ascii() {
                for_each_pair(text, EntryUnits::Bytes, |left, right| pairs.insert_ascii(left[0], right[0]));
                word.and_then(<[u8]>::first).into_iter().for_each(|&first_char| chars_after_mark |= 1 << first_char);
            } else {
                for_each_pair(entry, units, |left, right| pairs.insert(left, right, &mut recent_pairs));
            }
        }
        let first_chars = (0..128u8).filter(|first_char| chars_after_mark >> first_char & 1 == 1);
        pairs.other_pairs.checked_extend(
            first_chars.map(|first_char| pack_pair(pack_unit(space_mark::BYTES), pack_unit(&[first_char]))),
        );
        pairs.other_pairs.sort_unstable();
        pairs.other_pairs.dedup();
        pairs
    }

    /// Inserts a pair of units. `recent_pairs` has the last pair of each hash; most pairs that repeat are found there.
    fn insert(&mut self, left: &[u8], right: &[u8], recent_pairs: &mut [u64]) {
        if let (&[left @ 0..128], &[right @ 0..128]) = (left, right) {
            return self.insert_ascii(left, right);
        }
        let pair = pack_pair(pack_unit(left), pack_unit(right));
        let recent_pair = &mut recent_pairs[(pair.wrapping_mul(MULTIPLIER) >> (64 - RECENT_BITS)) as usize];
        if *recent_pair != pair {
            *recent_pair = pair;
            self.other_pairs.checked_push(pair);
        }
    }

    fn insert_ascii(&mut self, left: u8, right: u8) {
        self.ascii_pairs[left as usize] |= 1 << right;
    }

    /// Returns the pairs of ASCII characters.
    pub fn ascii_char_pairs(&self) -> impl Iterator<Item = (char, char)> {
        let pairs = (0..128u8).flat_map(|left| (0..128u8).map(move |right| (left, right)));
        let pairs = pairs.filter(|&(left, right)| self.ascii_pairs[left as usize] >> right & 1 == 1);
        pairs.map(|(left, right)| (left as char, right as char))
    }

    /// Returns the pairs of characters of which at least one is not ASCII. Pairs with a part of a character are left
    /// out.
    pub fn other_char_pairs(&self) -> impl Iterator<Item = (char, char)> {
        self.other_pairs
            .iter()
            .filter_map(|&pair| Some((unpack_unit((pair >> 32) as u32).char()?, unpack_unit(pair as u32).char()?)))
    }
}

/// Packs a unit of up to four bytes into one number, with the first byte lowest. Two units that have the same number
/// are treated as equal. This adds pairs, and so can only remove boundaries.
#[inline]
pub(super) fn pack_unit(unit: &[u8]) -> u32 {
    match *unit {
        [a] => a as u32,
        [a, b] => a as u32 | (b as u32) << 8,
        [a, b, c] => a as u32 | (b as u32) << 8 | (c as u32) << 16,
        [a, b, c, d, ..] => u32::from_le_bytes([a, b, c, d]),
        [] => 0,
    }
}

/// The bytes of a packed unit.
pub(super) struct UnpackedUnit {
    bytes: [u8; 4],
    len: usize,
}

/// Returns the unit that [`pack_unit`] packed.
pub(super) fn unpack_unit(packed: u32) -> UnpackedUnit {
    UnpackedUnit { bytes: packed.to_le_bytes(), len: (4 - packed.leading_zeros() as usize / 8).max(1) }
}

impl UnpackedUnit {
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn char(&self) -> Option<char> {
        utf8::only_char(self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    type UnitPairs = HashSet<(Vec<u8>, Vec<u8>)>;

    /// The twin: splits each entry at all offsets at which a unit can start, and collects the pairs of adjacent units.
    fn naive_pairs(entries: &[Vec<u8>], units: EntryUnits) -> UnitPairs {
        let can_start_unit = |byte: u8| units == EntryUnits::Bytes || byte & 0xC0 != 0x80;
        let mut pairs = UnitPairs::new();
        for entry in entries {
            let mut unit_starts: Vec<usize> = (1..entry.len()).filter(|&at| can_start_unit(entry[at])).collect();
            unit_starts.insert(0, 0);
            unit_starts.push(entry.len());
            for offsets in unit_starts.windows(3) {
                pairs.insert((entry[offsets[0]..offsets[1]].to_vec(), entry[offsets[1]..offsets[2]].to_vec()));
            }
        }
        pairs
    }

    fn unpack_pairs(pairs: &CharPairs) -> UnitPairs {
        let ascii_pairs = pairs.ascii_char_pairs().map(|(left, right)| (vec![left as u8], vec![right as u8]));
        let unpack_bytes = |packed: u32| unpack_unit(packed).bytes().to_vec();
        let other_pairs: Vec<_> = pairs
            .other_pairs
            .iter()
            .map(|&pair| (unpack_bytes((pair >> 32) as u32), unpack_bytes(pair as u32)))
            .collect();
        let all_pairs: UnitPairs = ascii_pairs.chain(other_pairs.iter().cloned()).collect();
        assert_eq!(all_pairs.len(), pairs.ascii_char_pairs().count() + other_pairs.len(), "each pair once");
        all_pairs
    }

    fn collect_char_pairs(entries: &[Vec<u8>], units: EntryUnits) -> CharPairs {
        CharPairs::from_entries(entries.iter().map(Vec::as_slice), units)
    }

    proptest! {
        #[test]
        fn pairs_of_bytes_are_those_of_the_twin(entries in prop::collection::vec(prop::collection::vec(0u8..=255, 0..6), 0..8)) {
            let pairs = BytePairs::from_entries(entries.iter().map(Vec::as_slice));
            let all = (0..=255u8).flat_map(|left| (0..=255u8).map(move |right| (left, right)));
            let pairs: UnitPairs = all.filter(|&(left, right)| pairs.has(left, right)).map(|(left, right)| (vec![left], vec![right])).collect();
            prop_assert_eq!(pairs, naive_pairs(&entries, EntryUnits::Bytes));
        }

        #[test]
        fn pairs_of_characters_are_those_of_the_twin(entries in prop::collection::vec("[ab\0 ▁é世😀]{0,5}", 0..12)) {
            let entries: Vec<Vec<u8>> = entries.into_iter().map(String::into_bytes).collect();
            let pairs = collect_char_pairs(&entries, EntryUnits::Chars);
            let expected = naive_pairs(&entries, EntryUnits::Chars);
            prop_assert_eq!(&unpack_pairs(&pairs), &expected);
            let bytes = |c: char| c.to_string().into_bytes();
            let chars: UnitPairs = pairs.ascii_char_pairs().chain(pairs.other_char_pairs()).map(|(left, right)| (bytes(left), bytes(right))).collect();
            prop_assert_eq!(chars, expected);
        }

        #[test]
        fn parts_of_characters_are_units_at_the_ends_of_entries(
            words in prop::collection::vec(("[abé▁世界😀]{1,4}", 0usize..4, 0usize..4), 0..8)) {
            let clip_word = |(word, head, tail): (String, usize, usize)| {
                let end = word.len().saturating_sub(tail).max(1);
                word.as_bytes()[head.min(end - 1)..end].to_vec()
            };
            let entries: Vec<Vec<u8>> = words.into_iter().map(clip_word).collect();
            let units = EntryUnits::CharsAndParts;
            prop_assert_eq!(unpack_pairs(&collect_char_pairs(&entries, units)), naive_pairs(&entries, units));
        }
    }

    #[test]
    fn parts_of_characters_are_not_characters() {
        let entries = ["é世".as_bytes()[..3].to_vec(), "é世".into()];
        let pairs = collect_char_pairs(&entries, EntryUnits::CharsAndParts);
        assert_eq!((pairs.other_pairs.len(), pairs.other_char_pairs().collect::<Vec<_>>()), (2, vec![('é', '世')]));
    }
}
