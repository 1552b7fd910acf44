//! Boundaries inside a piece: offsets that no vocabulary entry, and so no merge, can cross.
//!
//! If two characters are adjacent in no entry, nothing can merge across the boundary between them. So the text between
//! two boundaries can be merged alone, and its ids can be cached. SentencePiece vocabularies have a boundary before
//! nearly every word, because `▁` is only at the start of entries. Long pieces of scripts without spaces have many
//! boundaries. The proof needs only the entries: the result of a merge is an entry, and an entry that covers the
//! boundary contains the end of one character and the start of the next. A byte-level entry can contain only a part of
//! each of the two characters, so parts of characters are looked up too. Characters are found by their lead bytes here,
//! which is how only SentencePiece finds its initial symbols. With other initial symbols, text that is not UTF-8 has no
//! boundaries.
//!
//! neighbours.rs collects the pairs of characters that are adjacent in entries; pair_set.rs stores the pairs in a set.
//! The set can report a pair that is in no entry. Such a false hit loses a boundary, which costs time but never changes
//! ids.

pub(crate) mod char_table;
pub(crate) mod neighbours;
pub(crate) mod pair_set;
mod sides;

use crate::error::Result;
use crate::native::{FilePart, PartWriter, Stored};
use crate::spec::Symbols;
use crate::table::Table;
use crate::utf8;
use neighbours::{CharPairs, EntryUnits, pack};
use pair_set::{PairSet, pair};
use sides::{CharUnit, Sides};

/// The number of equal characters that are skipped together.
const RUN: usize = 16;

/// The pairs of characters that are adjacent in an entry.
pub struct Boundary {
    /// For each ASCII character, a bit for each ASCII character that follows it in an entry.
    ascii: Table<u128>,
    /// The pairs that are not both ASCII.
    pairs: PairSet<1>,
    /// The ends and starts of characters that byte-level entries contain.
    sides: Sides,
    symbols: Symbols,
}

impl Boundary {
    /// Collects the pairs of all entries that merging can reach from these initial symbols.
    pub fn new<'a>(entries: impl Iterator<Item = &'a [u8]>, symbols: Symbols) -> Boundary {
        let units = if symbols == Symbols::Bytes { EntryUnits::CharsAndParts } else { EntryUnits::Chars };
        let CharPairs { ascii, others } = CharPairs::of(entries, units);
        let sides = if symbols == Symbols::Bytes { Sides::of(&others) } else { Sides::default() };
        Boundary { ascii: ascii.to_vec().into(), pairs: PairSet::new(&others), sides, symbols }
    }

    /// Reports whether this text can be split at boundaries.
    pub fn can_split(&self, text: &[u8]) -> bool {
        self.symbols == Symbols::Chars || std::str::from_utf8(text).is_ok()
    }

    /// Returns the next boundary after `at`, or the end of the text. `at` must be inside the text.
    #[inline]
    pub fn next_boundary(&self, text: &[u8], at: usize) -> usize {
        let mut left = self.unit(text, at);
        let mut end = at + left.len;
        loop {
            if left.packed < 128 {
                end = self.next_ascii_boundary(text, end);
                left = self.unit(text, end - 1);
            }
            let Some(&next) = text.get(end) else { return end };
            let right = self.unit(text, end);
            if left.packed < 128 && next < 128 || !self.can_join_units(left, right) {
                return end;
            }
            end += right.len;
            left = right;
        }
    }

    /// Returns the next boundary at or after `end`, the end of an ASCII character; or the start of the next character
    /// that is not ASCII, if that comes first.
    #[inline]
    fn next_ascii_boundary(&self, text: &[u8], mut end: usize) -> usize {
        let mut left = text[end - 1];
        while let Some(&right @ 0..128) = text.get(end)
            && self.joins_ascii(left, right)
        {
            end += 1;
            if left == right {
                let (chunks, _) = text[end..].as_chunks();
                end += RUN * chunks.iter().take_while(|chunk| **chunk == [left; RUN]).count();
            }
            left = right;
        }
        end
    }

    /// Returns a bit for each of the 64 characters from `at` on, set if a boundary is after that character; None if one
    /// of these 64 characters or the character after them is not ASCII.
    #[inline]
    pub fn ascii_boundaries(&self, text: &[u8], at: usize) -> Option<u64> {
        let chars = text.get(at..)?.first_chunk::<65>()?;
        if chars[0] >= 128 || !chars.is_ascii() {
            return None;
        }
        let bit = |(place, pair): (usize, &[u8])| (!self.joins_ascii(pair[0], pair[1]) as u64) << place;
        Some(chars.windows(2).enumerate().map(bit).fold(0, |boundaries, bit| boundaries | bit))
    }

    /// Returns the character that starts at `at`.
    #[inline]
    fn unit(&self, text: &[u8], at: usize) -> CharUnit {
        let rest = &text[at..];
        self.sides.unit(&rest[..utf8::char_len(rest)])
    }

    /// Reports whether these ASCII characters are adjacent in an entry.
    #[inline]
    pub fn joins_ascii(&self, left: u8, right: u8) -> bool {
        self.ascii[left as usize] >> right & 1 == 1
    }

    /// Reports whether these characters, which are not both ASCII, can be adjacent in an entry.
    #[inline]
    pub fn joins(&self, left: &[u8], right: &[u8]) -> bool {
        if self.symbols != Symbols::Bytes {
            return self.has(pack(left), pack(right));
        }
        self.can_join_units(self.sides.unit(left), self.sides.unit(right))
    }

    #[inline]
    fn can_join_units(&self, left: CharUnit, right: CharUnit) -> bool {
        // Byte-level entries can start and end inside of a character.
        match self.symbols {
            Symbols::Bytes => Sides::any(left, right, |end, start| self.has(end, start)),
            _ => self.has(left.packed, right.packed),
        }
    }

    #[inline]
    fn has(&self, left: u32, right: u32) -> bool {
        self.pairs.has(pair(left, right))
    }
}

impl Stored for Boundary {
    fn write(&self, out: &mut PartWriter) {
        out.table("ascii", &self.ascii);
        out.table("sides", &self.sides.0);
        out.table("symbols", &[self.symbols as u32]);
        self.pairs.write(out);
    }

    fn read(part: &FilePart) -> Result<Boundary> {
        let ascii: Table<u128> = part.table("ascii")?;
        let kinds = [Symbols::Bytes, Symbols::Chars, Symbols::Groups, Symbols::Scalars];
        let number: u32 = part.number("symbols")?;
        let symbols = kinds.into_iter().find(|&symbols| symbols as u32 == number);
        match symbols {
            Some(symbols) if ascii.len() == 128 => {
                Ok(Boundary { ascii, pairs: PairSet::read(part)?, sides: Sides(part.table("sides")?), symbols })
            }
            _ => Err(part.section_error("ascii", "are not a boundary's")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks that no entry crosses a boundary, which makes splitting exact.
    fn check(entries: &[Vec<u8>], text: &[u8], symbols: Symbols) {
        let boundary = Boundary::new(entries.iter().map(Vec::as_slice), symbols);
        let mut at = 0;
        while at < text.len() {
            if let Some(boundaries) = boundary.ascii_boundaries(text, at) {
                (0..64)
                    .for_each(|place| assert_eq!(boundaries >> place & 1 == 0, joins(&boundary, text, at + place + 1)));
            }
            let from = at;
            at = boundary.next_boundary(text, at);
            let joined = (from + 1..at).filter(|&end| text[end] & 0xC0 != 0x80).all(|end| joins(&boundary, text, end));
            assert!(joined && (at == text.len() || !joins(&boundary, text, at)), "{from}..{at} of {text:?}");
            for entry in entries.iter().filter(|entry| !entry.is_empty()) {
                for start in at.saturating_sub(entry.len() - 1)..at {
                    assert!(
                        at == text.len() || !text[start..].starts_with(entry),
                        "{entry:?} crosses {at} in {text:?}"
                    );
                }
            }
        }
    }

    /// Reports whether the characters before and after an offset can be adjacent in an entry.
    fn joins(boundary: &Boundary, text: &[u8], at: usize) -> bool {
        let start = (0..at).rfind(|&start| text[start] & 0xC0 != 0x80).unwrap_or_default();
        match (&text[start..at], &text[at..at + utf8::char_len(&text[at..])]) {
            (&[left @ 0..128], &[right @ 0..128]) => boundary.joins_ascii(left, right),
            (left, right) => boundary.joins(left, right),
        }
    }

    proptest! {
        #[test]
        fn equal_characters_have_the_boundaries_of_single_ones(
            entries in prop::collection::vec("[ab▁é]{1,4}", 0..8), runs in prop::collection::vec(("[ab▁é世]", 1usize..70), 0..6)) {
            let entries: Vec<Vec<u8>> = entries.into_iter().map(String::into_bytes).collect();
            let text: String = runs.into_iter().map(|(unit, count)| unit.repeat(count)).collect();
            check(&entries, text.as_bytes(), Symbols::Chars);
            check(&entries, text.as_bytes(), Symbols::Bytes);
        }

        #[test]
        fn no_character_entry_crosses_a_boundary(entries in prop::collection::vec("[ab▁é世😀]{1,4}", 0..8), text in "[ab▁é世😀]{0,20}") {
            let entries: Vec<Vec<u8>> = entries.into_iter().map(String::into_bytes).collect();
            check(&entries, text.as_bytes(), Symbols::Chars);
        }

        #[test]
        fn no_byte_entry_crosses_a_boundary(
            words in prop::collection::vec(("[abé世界😀]{1,4}", 0usize..4, 0usize..4), 0..8), text in "[abé世界😀]{0,20}") {
            let clip = |(word, head, tail): (String, usize, usize)| {
                let bytes = word.into_bytes();
                let end = bytes.len().saturating_sub(tail).max(1);
                bytes[head.min(end - 1)..end].to_vec()
            };
            let entries: Vec<Vec<u8>> = words.into_iter().map(clip).collect();
            check(&entries, text.as_bytes(), Symbols::Bytes);
        }
    }
}
