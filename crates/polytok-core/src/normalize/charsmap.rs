//! The reader of SentencePiece's `precompiled_charsmap`: which byte strings are rewritten, and to what.
//!
//! Layout: a little-endian u32 `n`; `n` bytes of a Darts-clone double array (32-bit units); then replacement strings,
//! each ended by NUL. The value of a key is the offset of its replacement. A unit has a label (bits 0..8, and bit 31
//! which marks a value unit), an offset to its children (bits 10.., shifted left by 8 more if bit 9 is set) and bit 8
//! which says that a value hangs under it.
//!
//! 0.2.3 refuses arrays that could lead outside of themselves; 0.2.1 loads them and reads what lies there. Here such a
//! step ends the walk, so both lines are safe and agree wherever the reference is defined.
//!
//! Cost: one array access for each byte of the longest key that the text could still be; at most the key's length.

use crate::error::{Error, Result};
use crate::spec::Line;

/// Only this many keys that are prefixes of each other are looked at, shortest first.
const MAX_NESTED: usize = 32;

/// A block of 256 units.
const BLOCK_BYTES: usize = 1024;

/// Bytes before the array.
const HEADER: usize = 4;

/// The array.
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

    /// Where the children of the root are.
    #[inline]
    fn root(self) -> usize {
        offset(self.at(0))
    }

    /// A unit that is inside.
    #[inline]
    fn at(self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at])
    }
}

/// The rewriting rules of a normalizer.
#[derive(Debug)]
pub struct Charsmap {
    /// The blob, which is used where it is: it is most of a small model.
    blob: Vec<u8>,
    /// Bytes of the array.
    size: usize,
    /// For each first byte a bit for each second byte with which some key goes on; all bits if the first is a key.
    seconds: Box<[[u64; 4]; 256]>,
}

impl Charsmap {
    /// Reads a blob that is not empty (an empty one means that there are no rules).
    pub fn parse(blob: Vec<u8>, line: Line) -> Result<Charsmap> {
        let Some((size, rest)) = blob.split_first_chunk::<4>().filter(|(_, rest)| !rest.is_empty()) else {
            return Err(broken(format!("it has {} bytes, too few for a header and a body", blob.len())));
        };
        let size = u32::from_le_bytes(*size) as usize;
        if size >= rest.len() {
            return Err(broken(format!("its trie is said to have {size} bytes, but only {} follow", rest.len())));
        }
        if size < BLOCK_BYTES || !size.is_multiple_of(BLOCK_BYTES) {
            return Err(broken(format!("its trie has {size} bytes, not a multiple of {BLOCK_BYTES}")));
        }
        let (array, replacements) = rest.split_at(size);
        if replacements.last() != Some(&0) {
            return Err(broken("its replacement strings do not end in NUL".into()));
        }
        let units = DoubleArrayUnits(array.as_chunks().0);
        if line == Line::V0_2_3 {
            check_units(units, replacements.len())?;
        }
        let seconds = second_bytes(units);
        Ok(Charsmap { blob, size, seconds })
    }

    #[inline]
    fn units(&self) -> DoubleArrayUnits<'_> {
        DoubleArrayUnits(self.blob[HEADER..HEADER + self.size].as_chunks().0)
    }

    /// The longest key that `text` starts with: its length and its replacement.
    #[inline]
    pub fn longest_prefix(&self, text: &[u8]) -> Option<(usize, &[u8])> {
        let mut found = None;
        let mut matches = 0;
        let units = self.units();
        let mut at = units.root();
        for (i, &byte) in text.iter().enumerate() {
            at ^= byte as usize;
            let Some(unit) = units.get(at).filter(|&unit| label(unit) == byte as u32) else {
                break;
            };
            at ^= offset(unit);
            if has_leaf(unit) {
                let Some(leaf) = units.get(at) else { break };
                found = Some((i + 1, value(leaf)));
                matches += 1;
                if matches == MAX_NESTED {
                    break;
                }
            }
        }
        let (len, start) = found?;
        Some((len, self.string(start)?))
    }

    /// The replacement of the shortest key that `text` starts with; a U+0000 ends the search (Hugging Face).
    pub fn shortest_prefix(&self, text: &[u8]) -> Option<&[u8]> {
        let units = self.units();
        let mut at = units.root();
        for &byte in text.iter().take_while(|&&byte| byte != 0) {
            at ^= byte as usize;
            let unit = units.get(at).filter(|&unit| label(unit) == byte as u32)?;
            at ^= offset(unit);
            if has_leaf(unit) {
                return self.string(value(units.get(at)?));
            }
        }
        None
    }

    /// The replacement that starts at `start`; a start outside of the strings is no rule.
    fn string(&self, start: usize) -> Option<&[u8]> {
        let rest = self.blob[HEADER + self.size..].get(start..)?;
        Some(&rest[..memchr::memchr(0, rest)?])
    }

    /// The same as llama.cpp has it: keys end before a NUL byte, and any number of them may be prefixes of each other.
    pub fn longest_prefix_llama_cpp(&self, text: &[u8]) -> Option<(usize, &[u8])> {
        let mut found = None;
        let units = self.units();
        let mut at = units.root();
        for (i, &byte) in text.iter().enumerate().take_while(|(_, byte)| **byte != 0) {
            at ^= byte as usize;
            let Some(unit) = units.get(at).filter(|&unit| label(unit) == byte as u32) else { break };
            at ^= offset(unit);
            if has_leaf(unit) {
                found = Some((i + 1, value(units.get(at)?)));
            }
        }
        let (len, start) = found?;
        let rest = self.blob[HEADER + self.size..].get(start..)?;
        Some((len, &rest[..memchr::memchr(0, rest)?]))
    }

    /// Calls `found` with the characters of all keys: each first one, and each that stands behind others, once for each
    /// place of the array that it is read at. False if keys are no UTF-8, or the array is no automaton of keys.
    pub fn characters<'a>(&'a self, found: &mut impl FnMut(KeyChar<'a>)) -> bool {
        let units = self.units();
        // The children of each place, as lists: the first one, and the next of each.
        let (mut first, mut next) = (vec![0; units.len()], vec![0; units.len()]);
        for at in (1..units.len()).rev() {
            if let label @ 1..256 = label(units.at(at))
                && let Some(head) = first.get_mut(at ^ label as usize)
            {
                next[at] = std::mem::replace(head, at);
            }
        }
        let root = units.root();
        let mut chars = CharWalk { map: self, first, next, todo: vec![(root, 0)], budget: 16 * units.len() };
        let mut is_seen = vec![false; units.len()];
        let mut at = 0;
        // Shorter keys come first, as places are read in the order in which they are found.
        while let Some(&(base, depth)) = chars.todo.get(at) {
            at += 1;
            let is_new = is_seen.get_mut(base).is_some_and(|seen| !std::mem::replace(seen, true));
            if is_new && !chars.under(base, depth, &mut Vec::new(), found) {
                return false;
            }
        }
        true
    }

    /// Whether some key starts with `first` and then goes on with `second` (or is `first` alone).
    #[inline]
    pub fn may_start(&self, first: u8, second: u8) -> bool {
        self.seconds[first as usize][second as usize >> 6] >> (second & 63) & 1 != 0
    }
}

/// A character of a key.
pub struct KeyChar<'a> {
    /// The character.
    pub char: char,
    /// The bytes of the shortest key that ends with it here.
    pub len: usize,
    /// It is the first of its key.
    pub is_first: bool,
    /// What a key that ends here becomes.
    pub text: Option<&'a [u8]>,
}

/// A walk over the characters of all keys; keys may share places of the array.
struct CharWalk<'a> {
    map: &'a Charsmap,
    first: Vec<usize>,
    next: Vec<usize>,
    /// Places between characters, and how many bytes lead there.
    todo: Vec<(usize, usize)>,
    /// Steps that may still be taken.
    budget: usize,
}

impl<'a> CharWalk<'a> {
    /// The characters under a place, of which these bytes were read.
    fn under(&mut self, base: usize, depth: usize, bytes: &mut Vec<u8>, found: &mut impl FnMut(KeyChar<'a>)) -> bool {
        let mut at = self.first.get(base).copied().unwrap_or(0);
        while at != 0 {
            if self.budget == 0 {
                return false;
            }
            self.budget -= 1;
            let unit = self.map.units().at(at);
            let below = at ^ offset(unit);
            bytes.push(label(unit) as u8);
            let is_fine = match std::str::from_utf8(bytes) {
                Ok(text) => self.end(text.chars().next(), (unit, below), depth, bytes.len(), found),
                Err(error) => error.error_len().is_none() && !has_leaf(unit) && self.under(below, depth, bytes, found),
            };
            if !is_fine {
                return false;
            }
            bytes.pop();
            at = self.next[at];
        }
        true
    }

    /// A character has been read.
    fn end(
        &mut self,
        char: Option<char>,
        (unit, below): (u32, usize),
        depth: usize,
        len: usize,
        found: &mut impl FnMut(KeyChar<'a>),
    ) -> bool {
        let text = match has_leaf(unit) {
            true => self.map.units().get(below).and_then(|leaf| self.map.string(value(leaf))),
            false => None,
        };
        let is_root = below == self.map.units().root();
        let Some(char) = char.filter(|_| text.is_some() == has_leaf(unit) && !is_root) else { return false };
        found(KeyChar { char, len: depth + len, is_first: depth == 0, text });
        self.todo.push((below, depth + len));
        true
    }
}

fn broken(what: String) -> Error {
    Error::Format(format!("precompiled_charsmap: {what}; the model file is damaged"))
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

/// 0.2.3's check: every offset stays inside the array, every value inside the strings, every leaf is a value.
fn check_units(units: DoubleArrayUnits, strings: usize) -> Result<()> {
    let bad = |at: usize| Err(broken(format!("unit {at} of its trie points outside")));
    let inside = |at: usize| (at ^ offset(units.at(at))) | 0xFF < units.len();
    let root = units.at(0);
    if label(root) != 0 || has_leaf(root) || offset(root) == 0 || !inside(0) {
        return bad(0);
    }
    for at in 1..units.len() {
        let unit = units.at(at);
        let is_value = label(unit) > 0xFF;
        let fine = if is_value {
            value(unit) < strings
        } else {
            inside(at) && (!has_leaf(unit) || label(units.at(at ^ offset(unit))) > 0xFF)
        };
        if !fine {
            return bad(at);
        }
    }
    Ok(())
}

fn second_bytes(units: DoubleArrayUnits) -> Box<[[u64; 4]; 256]> {
    let mut seconds = Box::new([[0; 4]; 256]);
    let child = |from: usize, byte: usize| {
        let unit = units.get(from ^ byte).filter(|&unit| label(unit) == byte as u32);
        unit.map(|unit| (unit, from ^ byte ^ offset(unit)))
    };
    for first in 0..256 {
        let Some((unit, below)) = child(units.root(), first) else { continue };
        for second in 0..256 {
            if has_leaf(unit) || child(below, second).is_some() {
                seconds[first][second >> 6] |= 1 << (second & 63);
            }
        }
    }
    seconds
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A blob for a few rules: one block for the root's children, and one for each inner node after it.
    pub(crate) fn blob(rules: &[(&str, &str)]) -> Vec<u8> {
        let mut units = vec![0u32; 256];
        units[0] = 1 << 18; // the children of the root are in block 1
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
    fn the_longest_key_wins() {
        let map = Charsmap::parse(blob(&[("a", "1"), ("abc", "22"), ("é", "")]), Line::V0_2_1).unwrap();
        assert_eq!(map.longest_prefix(b"abd"), Some((1, &b"1"[..])));
        assert_eq!(map.longest_prefix(b"abcd"), Some((3, &b"22"[..])));
        assert_eq!(map.longest_prefix("é".as_bytes()), Some((2, &b""[..])));
        assert_eq!(map.longest_prefix(b"b"), None);
        assert!(map.may_start(b'a', b'z') && map.may_start(0xC3, 0xA9) && !map.may_start(0xC3, 0xAA));
    }

    #[test]
    fn headers_are_checked() {
        let good = blob(&[("a", "b")]);
        for bad in [&good[..4], &good[..1028], &good[..good.len() - 1], b"\x00\x00\x00\x00\x00", b"\x04\0\0\0abcd\0"] {
            for line in [Line::V0_2_1, Line::V0_2_3] {
                assert!(matches!(Charsmap::parse(bad.to_vec(), line), Err(Error::Format(_))));
            }
        }
    }

    #[test]
    fn only_0_2_3_checks_units() {
        let mut bad = blob(&[("a", "b")]);
        bad[4 + 400] = 0x41;
        bad[4 + 403] = 0x3F;
        assert!(Charsmap::parse(bad.clone(), Line::V0_2_1).is_ok());
        assert!(Charsmap::parse(bad.clone(), Line::V0_2_3).is_err());
    }

    proptest! {
        #[test]
        fn hostile_arrays_do_no_harm(units in proptest::collection::vec(any::<u32>(), 256),
                                     text in proptest::collection::vec(any::<u8>(), 1..40)) {
            let mut blob = 1024u32.to_le_bytes().to_vec();
            blob.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
            blob.extend(b"x\0yy\0");
            let map = Charsmap::parse(blob, Line::V0_2_1).unwrap();
            if let Some((len, _)) = map.longest_prefix(&text) {
                prop_assert!(len <= text.len());
            }
        }
    }
}
