//! Collects the pairs of units that are adjacent in an entry. All boundaries are found with these pairs.
//!
//! Every token is an entry. If no entry contains the units before and after an offset as neighbours, no token crosses
//! the offset, so the offset is a boundary. The units are bytes ([`BytePairs`]) or characters ([`CharPairs`]). An entry
//! of a byte-level vocabulary can start and end inside of a character, so the parts of characters at its ends are units
//! too.
//!
//! Both collections are exact. Scanners store the pairs of characters in a [`PairSet`](super::pair_set), which can also
//! report pairs that it does not contain. Cost: one pass over all entries, and a sort of the pairs that are not ASCII.
//! Twin: `naive_pairs` in the tests.

use super::pair_set::pair;
use crate::{space_mark, utf8};

/// The units into which entries of a vocabulary are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryUnits {
    Bytes,
    /// The units are characters; the first byte of a character decides its length.
    Chars,
    /// The units are characters, and the parts of characters at the start and end of an entry.
    CharsAndParts,
}

/// Calls `take` with every pair of adjacent units of an entry.
#[inline]
fn for_each_pair<'a>(entry: &'a [u8], units: EntryUnits, mut take: impl FnMut(&'a [u8], &'a [u8])) {
    if entry.is_empty() {
        return;
    }
    let unit_len = |rest: &[u8]| if units == EntryUnits::Bytes { 1 } else { utf8::char_len(rest) };
    // The leading continuation bytes are the end of a character that starts before the entry.
    let is_end_part = |byte: &&u8| units == EntryUnits::CharsAndParts && utf8::is_continuation(**byte);
    let end_part = entry.iter().take(3).take_while(is_end_part).count();
    let (mut start, mut end) = (0, if end_part > 0 { end_part } else { unit_len(entry) });
    while end < entry.len() {
        let next = end + unit_len(&entry[end..]);
        take(&entry[start..end], &entry[end..next]);
        (start, end) = (end, next);
    }
}

/// The pairs of bytes that are adjacent in an entry: for each byte, a bit for each byte that follows it.
pub(crate) struct BytePairs(Box<[[u64; 4]; 256]>);

impl BytePairs {
    /// Collects the pairs of all entries.
    pub fn of<'a>(entries: impl Iterator<Item = &'a [u8]>) -> BytePairs {
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
    pub ascii: Box<[u128; 128]>,
    /// The pairs that are not both ASCII, as packed bytes (see [`pack`]), without duplicates.
    pub others: Vec<u64>,
}

impl CharPairs {
    /// Collects the pairs of all entries.
    pub fn of<'a>(entries: impl Iterator<Item = &'a [u8]>, units: EntryUnits) -> CharPairs {
        let mut pairs = CharPairs { ascii: Box::new([0; 128]), others: Vec::new() };
        let mut after_mark = 0u128;
        for entry in entries {
            // Nearly all entries of a SentencePiece vocabulary are ASCII, most of them after U+2581.
            let word = entry.strip_prefix(space_mark::BYTES);
            let rest = word.unwrap_or(entry);
            if rest.is_ascii() {
                for_each_pair(rest, EntryUnits::Bytes, |left, right| pairs.insert_ascii(left[0], right[0]));
                word.and_then(<[u8]>::first).into_iter().for_each(|&first| after_mark |= 1 << first);
            } else {
                for_each_pair(entry, units, |left, right| pairs.insert(left, right));
            }
        }
        let firsts = (0..128u8).filter(|first| after_mark >> first & 1 == 1);
        pairs.others.extend(firsts.map(|first| pair(pack(space_mark::BYTES), pack(&[first]))));
        pairs.others.sort_unstable();
        pairs.others.dedup();
        pairs
    }

    fn insert(&mut self, left: &[u8], right: &[u8]) {
        match (left, right) {
            (&[left @ 0..128], &[right @ 0..128]) => self.insert_ascii(left, right),
            _ => self.others.push(pair(pack(left), pack(right))),
        }
    }

    fn insert_ascii(&mut self, left: u8, right: u8) {
        self.ascii[left as usize] |= 1 << right;
    }

    /// Returns the pairs of ASCII characters.
    pub fn ascii_chars(&self) -> impl Iterator<Item = (char, char)> {
        let pairs = (0..128u8).flat_map(|left| (0..128u8).map(move |right| (left, right)));
        let pairs = pairs.filter(|&(left, right)| self.ascii[left as usize] >> right & 1 == 1);
        pairs.map(|(left, right)| (left as char, right as char))
    }

    /// Returns the pairs of characters that are not both ASCII. Units that are not a character are left out.
    pub fn other_chars(&self) -> impl Iterator<Item = (char, char)> {
        self.others.iter().filter_map(|&pair| Some((unpack((pair >> 32) as u32).char()?, unpack(pair as u32).char()?)))
    }
}

/// Packs a unit of up to four bytes into one number, with the first byte lowest. Units with the same number are treated
/// as equal, which makes more pairs and so fewer boundaries.
#[inline]
pub(super) fn pack(unit: &[u8]) -> u32 {
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

/// Returns the unit that [`pack`] packed.
pub(super) fn unpack(packed: u32) -> UnpackedUnit {
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

    /// The twin: collects, at each offset of an entry at which a unit can start, the units before and after the offset.
    fn naive_pairs(entries: &[Vec<u8>], units: EntryUnits) -> UnitPairs {
        let can_begin = |byte: u8| units == EntryUnits::Bytes || byte & 0xC0 != 0x80;
        let mut pairs = UnitPairs::new();
        for entry in entries {
            let mut borders: Vec<usize> = (1..entry.len()).filter(|&at| can_begin(entry[at])).collect();
            borders.insert(0, 0);
            borders.push(entry.len());
            for around in borders.windows(3) {
                pairs.insert((entry[around[0]..around[1]].to_vec(), entry[around[1]..around[2]].to_vec()));
            }
        }
        pairs
    }

    fn char_pairs(pairs: &CharPairs) -> UnitPairs {
        let ascii = pairs.ascii_chars().map(|(left, right)| (vec![left as u8], vec![right as u8]));
        let unit = |packed: u32| unpack(packed).bytes().to_vec();
        let others: Vec<_> = pairs.others.iter().map(|&pair| (unit((pair >> 32) as u32), unit(pair as u32))).collect();
        let all: UnitPairs = ascii.chain(others.iter().cloned()).collect();
        assert_eq!(all.len(), pairs.ascii_chars().count() + others.len(), "each pair once");
        all
    }

    fn of_chars(entries: &[Vec<u8>], units: EntryUnits) -> CharPairs {
        CharPairs::of(entries.iter().map(Vec::as_slice), units)
    }

    proptest! {
        #[test]
        fn pairs_of_bytes_are_those_of_the_twin(entries in prop::collection::vec(prop::collection::vec(0u8..=255, 0..6), 0..8)) {
            let pairs = BytePairs::of(entries.iter().map(Vec::as_slice));
            let all = (0..=255u8).flat_map(|left| (0..=255u8).map(move |right| (left, right)));
            let pairs: UnitPairs = all.filter(|&(left, right)| pairs.has(left, right)).map(|(left, right)| (vec![left], vec![right])).collect();
            prop_assert_eq!(pairs, naive_pairs(&entries, EntryUnits::Bytes));
        }

        #[test]
        fn pairs_of_characters_are_those_of_the_twin(entries in prop::collection::vec("[ab\0 ▁é世😀]{0,5}", 0..12)) {
            let entries: Vec<Vec<u8>> = entries.into_iter().map(String::into_bytes).collect();
            let pairs = of_chars(&entries, EntryUnits::Chars);
            let expected = naive_pairs(&entries, EntryUnits::Chars);
            prop_assert_eq!(&char_pairs(&pairs), &expected);
            let bytes = |c: char| c.to_string().into_bytes();
            let chars: UnitPairs = pairs.ascii_chars().chain(pairs.other_chars()).map(|(left, right)| (bytes(left), bytes(right))).collect();
            prop_assert_eq!(chars, expected);
        }

        #[test]
        fn parts_of_characters_are_units_at_the_ends_of_entries(
            words in prop::collection::vec(("[abé▁世界😀]{1,4}", 0usize..4, 0usize..4), 0..8)) {
            let clipped = |(word, head, tail): (String, usize, usize)| {
                let end = word.len().saturating_sub(tail).max(1);
                word.as_bytes()[head.min(end - 1)..end].to_vec()
            };
            let entries: Vec<Vec<u8>> = words.into_iter().map(clipped).collect();
            let units = EntryUnits::CharsAndParts;
            prop_assert_eq!(char_pairs(&of_chars(&entries, units)), naive_pairs(&entries, units));
        }
    }

    #[test]
    fn parts_of_characters_are_not_characters() {
        let entries = ["é世".as_bytes()[..3].to_vec(), "é世".into()];
        let pairs = of_chars(&entries, EntryUnits::CharsAndParts);
        assert_eq!((pairs.others.len(), pairs.other_chars().collect::<Vec<_>>()), (2, vec![('é', '世')]));
    }
}
