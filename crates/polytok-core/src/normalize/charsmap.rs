//! Reads SentencePiece's `precompiled_charsmap`: a map from keys (byte strings that are rewritten) to their
//! replacements.
//!
//! Layout: a little-endian u32 `n`; `n` bytes of a Darts-clone double array (32-bit units); then replacement strings,
//! each ended by NUL. The value of a key is the offset of its replacement. A unit has a label (bits 0..8, and bit 31
//! which marks a value unit), an offset to its children (bits 10.., shifted left by 8 more if bit 9 is set) and bit 8,
//! which is set if one of the unit's children is a value unit; that child is called the *leaf*.
//!
//! SentencePiece 0.2.3 refuses arrays with offsets outside of the array; 0.2.1 loads such arrays and reads memory
//! outside of the array. Here an offset outside of the array ends the search, so both versions are safe, and agree with
//! the reference whenever the reference is defined.
//!
//! Cost: one array access for each byte up to the first byte with which no key continues; at most the length of the
//! longest key.

use polytok_memory::{self as memory, Grow};

use crate::error::{Error, Result};
use crate::spec::SentencePieceVersion;

/// The largest number of keys at one offset that the reference finds; each of these keys is a prefix of the next.
const MAX_NESTED_KEYS: usize = 32;

/// The number of bytes in a block of 256 units.
const BLOCK_BYTES: usize = 1024;

/// The number of bytes before the array.
const HEADER_LEN: usize = 4;

/// The double array.
#[derive(Clone, Copy)]
struct DoubleArrayUnits<'a>(&'a [[u8; 4]]);

impl DoubleArrayUnits<'_> {
    fn len(self) -> usize {
        self.0.len()
    }

    #[inline]
    fn get(self, at: usize) -> Option<u32> {
        self.0.get(at).map(|&unit| u32::from_le_bytes(unit))
    }

    /// Returns the base index of the root's children: the child with label `b` is at this index XOR `b`.
    #[inline]
    fn root_base(self) -> usize {
        offset(self.at(0))
    }

    /// Returns the unit at an index that is inside of the array.
    #[inline]
    fn at(self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at])
    }
}

/// The rewriting rules of a normalizer: keys and their replacements.
#[derive(Debug)]
pub struct Charsmap {
    /// The blob. The array is searched in the blob without a copy, because the blob is the largest part of a small
    /// model.
    blob: Vec<u8>,
    /// The number of bytes of the double array.
    size: usize,
    /// For each first byte, the set of the second bytes with which a key continues, as bits; all bits are set if the
    /// first byte alone is a key.
    second_bytes: Box<[[u64; 4]; 256]>,
}

impl Charsmap {
    /// Reads a blob that is not empty. (An empty blob means that there are no rules.)
    pub fn parse(blob: Vec<u8>, version: SentencePieceVersion) -> Result<Charsmap> {
        let Some((size, body)) = blob.split_first_chunk::<4>().filter(|(_, body)| !body.is_empty()) else {
            return Err(charsmap_error(format!("it has {} bytes, too few for a header and a body", blob.len())));
        };
        let size = u32::from_le_bytes(*size) as usize;
        if size >= body.len() {
            return Err(charsmap_error(format!(
                "its header says that its trie has {size} bytes, but only {} follow",
                body.len()
            )));
        }
        if size < BLOCK_BYTES || !size.is_multiple_of(BLOCK_BYTES) {
            return Err(charsmap_error(format!("its trie has {size} bytes, not a multiple of {BLOCK_BYTES}")));
        }
        let (array, replacements) = body.split_at(size);
        if replacements.last() != Some(&0) {
            return Err(charsmap_error("its replacement strings do not end in NUL".into()));
        }
        let units = DoubleArrayUnits(array.as_chunks().0);
        if version == SentencePieceVersion::V0_2_3 {
            check_units(units, replacements.len())?;
        }
        let second_bytes = compute_second_bytes(units);
        Ok(Charsmap { blob, size, second_bytes })
    }

    #[inline]
    fn units(&self) -> DoubleArrayUnits<'_> {
        DoubleArrayUnits(self.blob[HEADER_LEN..HEADER_LEN + self.size].as_chunks().0)
    }

    /// Returns the length and the replacement of the longest key that `text` starts with.
    #[inline]
    pub fn longest_prefix(&self, text: &[u8]) -> Option<(usize, &[u8])> {
        let mut longest = None;
        let mut match_count = 0;
        let units = self.units();
        let mut at = units.root_base();
        for (i, &byte) in text.iter().enumerate() {
            at ^= byte as usize;
            let Some(unit) = units.get(at).filter(|&unit| label(unit) == byte as u32) else {
                break;
            };
            at ^= offset(unit);
            if has_leaf(unit) {
                let Some(leaf) = units.get(at) else { break };
                longest = Some((i + 1, value(leaf)));
                match_count += 1;
                if match_count == MAX_NESTED_KEYS {
                    break;
                }
            }
        }
        let (len, start) = longest?;
        Some((len, self.replacement(start)?))
    }

    /// Returns the replacement of the shortest key that `text` starts with, as Hugging Face does: a U+0000 ends the
    /// search.
    pub fn shortest_prefix(&self, text: &[u8]) -> Option<&[u8]> {
        let units = self.units();
        let mut at = units.root_base();
        for &byte in text.iter().take_while(|&&byte| byte != 0) {
            at ^= byte as usize;
            let unit = units.get(at).filter(|&unit| label(unit) == byte as u32)?;
            at ^= offset(unit);
            if has_leaf(unit) {
                return self.replacement(value(units.get(at)?));
            }
        }
        None
    }

    /// Returns the replacement that starts at `start`; None if `start` is outside of the replacement strings.
    fn replacement(&self, start: usize) -> Option<&[u8]> {
        let strings = self.blob[HEADER_LEN + self.size..].get(start..)?;
        Some(&strings[..memchr::memchr(0, strings)?])
    }

    /// Returns the length and the replacement of the longest key that `text` starts with, as llama.cpp does: a NUL byte
    /// ends the search, and any number of keys can be prefixes of each other.
    pub fn longest_prefix_llama_cpp(&self, text: &[u8]) -> Option<(usize, &[u8])> {
        let mut longest = None;
        let units = self.units();
        let mut at = units.root_base();
        for (i, &byte) in text.iter().enumerate().take_while(|(_, byte)| **byte != 0) {
            at ^= byte as usize;
            let Some(unit) = units.get(at).filter(|&unit| label(unit) == byte as u32) else { break };
            at ^= offset(unit);
            if has_leaf(unit) {
                longest = Some((i + 1, value(units.get(at)?)));
            }
        }
        let (len, start) = longest?;
        Some((len, self.replacement(start)?))
    }

    /// Calls `visit` with the characters of all keys, shorter keys first. If keys share a unit of the array, `visit` is
    /// called once for the character that ends at this unit. Returns false if keys are not UTF-8, or the array is not a
    /// trie of keys.
    pub fn for_each_char<'a>(&'a self, visit: &mut impl FnMut(KeyChar<'a>)) -> bool {
        let units = self.units();
        // The children of each base as a linked list: the first child of a base, and the next child after each child.
        let (mut first, mut next) = (memory::zeroed(units.len()), memory::zeroed(units.len()));
        for at in (1..units.len()).rev() {
            if let label @ 1..256 = label(units.at(at))
                && let Some(head) = first.get_mut(at ^ label as usize)
            {
                next[at] = std::mem::replace(head, at);
            }
        }
        let root_base = units.root_base();
        let mut walk = KeyWalk { map: self, first, next, pending: vec![(root_base, 0)], budget: 16 * units.len() };
        let mut is_base_read = memory::filled(false, units.len());
        let mut at = 0;
        // Pending bases are read in the order in which they were added, so shorter keys come first.
        while let Some(&(base, depth)) = walk.pending.get(at) {
            at += 1;
            let is_new = is_base_read.get_mut(base).is_some_and(|seen| !std::mem::replace(seen, true));
            if is_new && !walk.read_chars(base, depth, &mut Vec::new(), visit) {
                return false;
            }
        }
        true
    }

    /// Reports whether a key starts with the bytes `first` and `second`, or is `first` alone.
    #[inline]
    pub fn can_start_with(&self, first: u8, second: u8) -> bool {
        self.second_bytes[first as usize][second as usize >> 6] >> (second & 63) & 1 != 0
    }
}

/// A character of a key.
pub struct KeyChar<'a> {
    /// The character itself.
    pub char: char,
    /// The number of bytes from the start of the key to the end of the character; of the keys that share the unit, the
    /// shortest counts.
    pub len: usize,
    /// True if the character is the first of its key.
    pub is_first: bool,
    /// The replacement of the key that ends with this character; None if no key ends here.
    pub replacement: Option<&'a [u8]>,
}

/// A walk over the characters of all keys. Keys can share units of the array.
struct KeyWalk<'a> {
    map: &'a Charsmap,
    /// The index of the first child of each base; 0 if the base has no child.
    first: Vec<usize>,
    /// The index of the next child of the same base, for each child; 0 for the last child.
    next: Vec<usize>,
    /// The bases after complete characters that the walk has not read yet, with the number of key bytes before each
    /// base.
    pending: Vec<(usize, usize)>,
    /// The number of remaining steps of the walk, which ends a walk over a hostile array.
    budget: usize,
}

impl<'a> KeyWalk<'a> {
    /// Reads the characters that start with `bytes` and continue with the children of `base`. Returns false if the keys
    /// are not UTF-8 or the budget is exhausted.
    fn read_chars(
        &mut self,
        base: usize,
        depth: usize,
        bytes: &mut Vec<u8>,
        visit: &mut impl FnMut(KeyChar<'a>),
    ) -> bool {
        let mut at = self.first.get(base).copied().unwrap_or(0);
        while at != 0 {
            if self.budget == 0 {
                return false;
            }
            self.budget -= 1;
            let unit = self.map.units().at(at);
            let below = at ^ offset(unit);
            bytes.checked_push(label(unit) as u8);
            let is_valid = match std::str::from_utf8(bytes) {
                Ok(text) => self.end_char(text.chars().next(), (unit, below), depth, bytes.len(), visit),
                Err(error) => {
                    let is_part_of_char = error.error_len().is_none() && !has_leaf(unit);
                    is_part_of_char && self.read_chars(below, depth, bytes, visit)
                }
            };
            if !is_valid {
                return false;
            }
            bytes.pop();
            at = self.next[at];
        }
        true
    }

    /// Calls `visit` with a character that is complete, and adds the base after the character to the pending bases.
    /// Returns false if the unit is not the end of a character in a trie.
    fn end_char(
        &mut self,
        char: Option<char>,
        (unit, below): (u32, usize),
        depth: usize,
        len: usize,
        visit: &mut impl FnMut(KeyChar<'a>),
    ) -> bool {
        let replacement = match has_leaf(unit) {
            true => self.map.units().get(below).and_then(|leaf| self.map.replacement(value(leaf))),
            false => None,
        };
        let is_root = below == self.map.units().root_base();
        let Some(char) = char.filter(|_| replacement.is_some() == has_leaf(unit) && !is_root) else { return false };
        visit(KeyChar { char, len: depth + len, is_first: depth == 0, replacement });
        self.pending.checked_push((below, depth + len));
        true
    }
}

fn charsmap_error(problem: String) -> Error {
    Error::Format(format!("precompiled_charsmap: {problem}; the model file is damaged"))
}

fn label(unit: u32) -> u32 {
    unit & 0x8000_00FF
}

fn has_leaf(unit: u32) -> bool {
    unit >> 8 & 1 != 0
}

fn value(unit: u32) -> usize {
    (unit & 0x7FFF_FFFF) as usize
}

fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 0x200) >> 6)) as usize
}

/// Checks, as SentencePiece 0.2.3 does, that every offset stays inside the array, every value stays inside the
/// replacement strings (of `strings_len` bytes), and every leaf is a value unit.
fn check_units(units: DoubleArrayUnits, strings_len: usize) -> Result<()> {
    let outside_error = |at: usize| Err(charsmap_error(format!("unit {at} of its trie points outside of the trie")));
    let is_inside = |at: usize| (at ^ offset(units.at(at))) | 0xFF < units.len();
    let root_base = units.at(0);
    if label(root_base) != 0 || has_leaf(root_base) || offset(root_base) == 0 || !is_inside(0) {
        return outside_error(0);
    }
    for at in 1..units.len() {
        let unit = units.at(at);
        let is_value = label(unit) > 0xFF;
        let is_valid = if is_value {
            value(unit) < strings_len
        } else {
            is_inside(at) && (!has_leaf(unit) || label(units.at(at ^ offset(unit))) > 0xFF)
        };
        if !is_valid {
            return outside_error(at);
        }
    }
    Ok(())
}

/// Returns for each first byte a set of bits. The bit of a second byte is set if a key starts with the two bytes; all
/// bits are set if the first byte alone is a key.
fn compute_second_bytes(units: DoubleArrayUnits) -> Box<[[u64; 4]; 256]> {
    let mut second_bytes = Box::new([[0; 4]; 256]);
    let child = |from: usize, byte: usize| {
        let unit = units.get(from ^ byte).filter(|&unit| label(unit) == byte as u32);
        unit.map(|unit| (unit, from ^ byte ^ offset(unit)))
    };
    for first in 0..256 {
        let Some((unit, below)) = child(units.root_base(), first) else { continue };
        for second in 0..256 {
            if has_leaf(unit) || child(below, second).is_some() {
                second_bytes[first][second >> 6] |= 1 << (second & 63);
            }
        }
    }
    second_bytes
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the blob of a few rules: one block of units for the root's children, then one block for the children of
    /// each inner node.
    pub(crate) fn blob(rules: &[(&str, &str)]) -> Vec<u8> {
        let mut units = vec![0u32; 256];
        units[0] = 1 << 18; // the children of the root_base are in block 1
        let mut strings = Vec::new();
        for (key, replacement) in rules {
            let mut block = 1usize;
            for (i, &byte) in key.as_bytes().iter().enumerate() {
                units.resize(units.len().max((block + 1) * 256), 0);
                let at = (block * 256) ^ byte as usize;
                if label(units[at]) != byte as u32 || units[at] == 0 {
                    let below = units.len() / 256;
                    units.resize(units.len() + 256, 0);
                    units[at] = byte as u32 | (at as u32 ^ (below as u32) << 8) << 10;
                }
                block = (at ^ offset(units[at])) / 256;
                if i + 1 == key.len() {
                    units[at] |= 1 << 8;
                    units[block * 256] = 1 << 31 | strings.len() as u32;
                }
            }
            strings.extend_from_slice(replacement.as_bytes());
            strings.push(0);
        }
        let mut out = ((units.len() * 4) as u32).to_le_bytes().to_vec();
        out.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        out.extend(strings);
        out
    }

    #[test]
    fn the_longest_key_is_found() {
        let map = Charsmap::parse(blob(&[("a", "1"), ("abc", "22"), ("é", "")]), SentencePieceVersion::V0_2_1).unwrap();
        assert_eq!(map.longest_prefix(b"abd"), Some((1, &b"1"[..])));
        assert_eq!(map.longest_prefix(b"abcd"), Some((3, &b"22"[..])));
        assert_eq!(map.longest_prefix("é".as_bytes()), Some((2, &b""[..])));
        assert_eq!(map.longest_prefix(b"b"), None);
        assert!(map.can_start_with(b'a', b'z') && map.can_start_with(0xC3, 0xA9) && !map.can_start_with(0xC3, 0xAA));
    }

    #[test]
    fn headers_are_checked() {
        let good_blob = blob(&[("a", "b")]);
        for bad_blob in [
            &good_blob[..4],
            &good_blob[..1028],
            &good_blob[..good_blob.len() - 1],
            b"\x00\x00\x00\x00\x00",
            b"\x04\0\0\0abcd\0",
        ] {
            for version in [SentencePieceVersion::V0_2_1, SentencePieceVersion::V0_2_3] {
                assert!(matches!(Charsmap::parse(bad_blob.to_vec(), version), Err(Error::Format(_))));
            }
        }
    }

    #[test]
    fn only_0_2_3_checks_units() {
        let mut bad_blob = blob(&[("a", "b")]);
        bad_blob[4 + 400] = 0x41;
        bad_blob[4 + 403] = 0x3F;
        assert!(Charsmap::parse(bad_blob.clone(), SentencePieceVersion::V0_2_1).is_ok());
        assert!(Charsmap::parse(bad_blob.clone(), SentencePieceVersion::V0_2_3).is_err());
    }

    proptest! {
        #[test]
        fn hostile_arrays_do_no_harm(units in proptest::collection::vec(any::<u32>(), 256),
                                     text in proptest::collection::vec(any::<u8>(), 1..40)) {
            let mut blob = 1024u32.to_le_bytes().to_vec();
            blob.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
            blob.extend(b"x\0yy\0");
            let map = Charsmap::parse(blob, SentencePieceVersion::V0_2_1).unwrap();
            if let Some((len, _)) = map.longest_prefix(&text) {
                prop_assert!(len <= text.len());
            }
        }
    }
}
