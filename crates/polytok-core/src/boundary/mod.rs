//! Boundaries inside a piece: places that no vocabulary entry, and so no merge, can cross.
//!
//! Nothing can ever merge between two characters that are adjacent in no entry. So the text between two such places can be merged
//! on its own, and its ids cached. SentencePiece vocabularies have a boundary before nearly every word (an entry has `▁` only at its
//! start); long pieces of scripts without spaces have many. The proof needs only the entries: a merge gives an entry, and an entry
//! that covers the place holds the end of one character and the start of the next. Byte-level entries may hold only a part of
//! either, so parts are looked up too. Where symbols are not walked by lead bytes (all except SentencePiece's), bytes that are not
//! UTF-8 would be walked differently here than there: such text has no boundaries.
//!
//! neighbours.rs collects the pairs that entries join, and a set of pairs (pair_set.rs) is looked into. It may hold a pair that is in
//! no entry, which costs a boundary, and time, but never changes ids.

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

/// Equal characters that are passed at once.
const RUN: usize = 16;

/// The pairs of neighbouring characters that some entry joins.
pub struct Boundary {
    /// For each ASCII character a bit for each that follows it.
    ascii: Table<u128>,
    /// All others.
    pairs: PairSet,
    /// Of what entries of bytes hold.
    sides: Sides,
    symbols: Symbols,
}

impl Boundary {
    /// Collects the pairs of all entries that merging can reach. `symbols` is what merging starts from.
    pub fn new<'a>(entries: impl Iterator<Item = &'a [u8]>, symbols: Symbols) -> Boundary {
        let units = if symbols == Symbols::Bytes { EntryUnits::CharsAndParts } else { EntryUnits::Chars };
        let CharPairs { ascii, others } = CharPairs::of(entries, units);
        let sides = if symbols == Symbols::Bytes { Sides::of(&others) } else { Sides::default() };
        Boundary { ascii: ascii.to_vec().into(), pairs: PairSet::new(&others), sides, symbols }
    }

    /// Whether this text may be cut.
    pub fn can_cut(&self, text: &[u8]) -> bool {
        self.symbols == Symbols::Chars || std::str::from_utf8(text).is_ok()
    }

    /// The end of the stretch that starts at `at`, which must be inside the text.
    #[inline]
    pub fn next_cut(&self, text: &[u8], at: usize) -> usize {
        let mut left = self.unit(text, at);
        let mut end = at + left.len;
        loop {
            if left.packed < 128 {
                end = self.next_ascii_cut(text, end);
                left = self.unit(text, end - 1);
            }
            let Some(&next) = text.get(end) else { return end };
            let right = self.unit(text, end);
            if left.packed < 128 && next < 128 || !self.joins_units(left, right) {
                return end;
            }
            end += right.len;
            left = right;
        }
    }

    /// The same behind an ASCII character that ends at `end`, up to the next character that is none.
    #[inline]
    fn next_ascii_cut(&self, text: &[u8], mut end: usize) -> usize {
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

    /// Whether there is a cut behind each of the 64 characters from `at` on, a bit for each; None where not all of them, and the next
    /// one, are ASCII.
    #[inline]
    pub fn ascii_cuts(&self, text: &[u8], at: usize) -> Option<u64> {
        let chars = text.get(at..)?.first_chunk::<65>()?;
        if chars[0] >= 128 || !chars.is_ascii() {
            return None;
        }
        let cut = |(place, pair): (usize, &[u8])| (!self.joins_ascii(pair[0], pair[1]) as u64) << place;
        Some(chars.windows(2).enumerate().map(cut).fold(0, |cuts, cut| cuts | cut))
    }

    /// The character that starts at `at`.
    #[inline]
    fn unit(&self, text: &[u8], at: usize) -> CharUnit {
        let rest = &text[at..];
        self.sides.unit(&rest[..utf8::char_len(rest)])
    }

    /// Whether an entry joins these two ASCII characters.
    #[inline]
    pub fn joins_ascii(&self, left: u8, right: u8) -> bool {
        self.ascii[left as usize] >> right & 1 == 1
    }

    /// Whether an entry may join these characters, which are not both ASCII.
    #[inline]
    pub fn joins(&self, left: &[u8], right: &[u8]) -> bool {
        if self.symbols != Symbols::Bytes {
            return self.has(pack(left), pack(right));
        }
        self.joins_units(self.sides.unit(left), self.sides.unit(right))
    }

    #[inline]
    fn joins_units(&self, left: CharUnit, right: CharUnit) -> bool {
        // Entries of bytes may start and end inside a character.
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
            _ => Err(part.wrong("ascii", "are not a boundary's")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// No entry crosses a cut: the property that makes cutting exact.
    fn check(entries: &[Vec<u8>], text: &[u8], symbols: Symbols) {
        let boundary = Boundary::new(entries.iter().map(Vec::as_slice), symbols);
        let mut at = 0;
        while at < text.len() {
            if let Some(cuts) = boundary.ascii_cuts(text, at) {
                (0..64).for_each(|place| assert_eq!(cuts >> place & 1 == 0, joins(&boundary, text, at + place + 1)));
            }
            let from = at;
            at = boundary.next_cut(text, at);
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

    /// Whether an entry may join the characters before and behind a place of the text.
    fn joins(boundary: &Boundary, text: &[u8], at: usize) -> bool {
        let start = (0..at).rfind(|&start| text[start] & 0xC0 != 0x80).unwrap_or_default();
        match (&text[start..at], &text[at..at + utf8::char_len(&text[at..])]) {
            (&[left @ 0..128], &[right @ 0..128]) => boundary.joins_ascii(left, right),
            (left, right) => boundary.joins(left, right),
        }
    }

    proptest! {
        #[test]
        fn runs_are_cut_where_their_characters_are(
            entries in prop::collection::vec("[ab▁é]{1,4}", 0..8), runs in prop::collection::vec(("[ab▁é世]", 1usize..70), 0..6)) {
            let entries: Vec<Vec<u8>> = entries.into_iter().map(String::into_bytes).collect();
            let text: String = runs.into_iter().map(|(unit, count)| unit.repeat(count)).collect();
            check(&entries, text.as_bytes(), Symbols::Chars);
            check(&entries, text.as_bytes(), Symbols::Bytes);
        }

        #[test]
        fn no_character_entry_crosses_a_cut(entries in prop::collection::vec("[ab▁é世😀]{1,4}", 0..8), text in "[ab▁é世😀]{0,20}") {
            let entries: Vec<Vec<u8>> = entries.into_iter().map(String::into_bytes).collect();
            check(&entries, text.as_bytes(), Symbols::Chars);
        }

        #[test]
        fn no_byte_entry_crosses_a_cut(
            words in prop::collection::vec(("[abé世界😀]{1,4}", 0usize..4, 0usize..4), 0..8), text in "[abé世界😀]{0,20}") {
            let cut = |(word, head, tail): (String, usize, usize)| {
                let bytes = word.into_bytes();
                let end = bytes.len().saturating_sub(tail).max(1);
                bytes[head.min(end - 1)..end].to_vec()
            };
            let entries: Vec<Vec<u8>> = words.into_iter().map(cut).collect();
            check(&entries, text.as_bytes(), Symbols::Bytes);
        }
    }
}
