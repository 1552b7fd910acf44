//! Boundaries inside a piece: offsets that no vocabulary entry can cross. No merge can cross a boundary either.
//!
//! If two characters are adjacent in no entry, nothing can merge across the boundary between them. So the text between
//! two boundaries can be merged alone, and its ids can be cached. SentencePiece vocabularies have a boundary before
//! nearly every word, because `▁` is only at the start of entries. Long pieces of scripts without spaces have many
//! boundaries. The proof needs only the entries: the result of a merge is an entry, and an entry that crosses the
//! boundary contains both characters as neighbours. A byte-level entry can contain a part of the first character and a
//! part of the second, so parts of characters are looked up too. The length of a character is computed from its first
//! byte, as SentencePiece does. Models with other initial symbols treat text that is not UTF-8 differently, so for
//! these models such text has no boundaries.
//!
//! neighbours.rs collects the pairs of characters that are adjacent in entries; pair_set.rs stores the pairs in a set.
//! The set can report a pair that is in no entry. Such a false hit loses a boundary, which costs time but never changes
//! ids.

pub(crate) mod ascii_joins;
mod char_parts;
pub(crate) mod char_table;
pub(crate) mod neighbours;
pub(crate) mod pair_set;

use std::ops::ControlFlow;

use char_parts::CharPartFlags;
use polytok_memory::Copied;

use crate::error::Result;
use crate::native::{FilePart, PartWriter, Stored};
use crate::spec::Symbols;
use crate::table::Table;
pub(crate) use char_parts::CharWithRecord;
use neighbours::{CharPairs, EntryUnits};
use pair_set::{PairSet, pack_pair};

/// The number of equal ASCII characters that `next_ascii_boundary` compares and skips in one step.
const SKIP_LEN: usize = 16;

/// The pairs of characters that are adjacent in an entry.
pub struct Boundary {
    /// For each ASCII character, a bit for each ASCII character that follows it in an entry.
    ascii_pairs: Table<u128>,
    /// The pairs in which at least one character is not ASCII.
    other_pairs: PairSet<1>,
    /// The parts of characters that occur in byte-level entries.
    char_parts: CharPartFlags,
    symbols: Symbols,
}

impl Boundary {
    /// Collects the pairs of adjacent characters of `entries`, for a model with these initial symbols.
    pub fn new<'a>(entries: impl Iterator<Item = &'a [u8]>, symbols: Symbols) -> Boundary {
        let units = if symbols == Symbols::Bytes { EntryUnits::CharsAndParts } else { EntryUnits::Chars };
        let CharPairs { ascii_pairs, other_pairs } = CharPairs::from_entries(entries, units);
        let char_parts =
            if symbols == Symbols::Bytes { CharPartFlags::from_pairs(&other_pairs) } else { CharPartFlags::default() };
        Boundary {
            ascii_pairs: ascii_pairs.checked_to_vec().into(),
            other_pairs: PairSet::new(&other_pairs),
            char_parts,
            symbols,
        }
    }

    /// Reports whether this text can be split at boundaries: if not, the text is not UTF-8.
    pub fn can_split(&self, text: &[u8]) -> bool {
        self.symbols == Symbols::Chars || std::str::from_utf8(text).is_ok()
    }

    /// Returns the next boundary after `start`, or `end`, which must be greater.
    #[inline]
    pub fn next_boundary(&self, text: &[u8], (start, end): (usize, usize)) -> usize {
        let record_of = |code_point| self.record_of(code_point);
        match self.for_each_part_to_ascii(text, (start, end), record_of, |_, part_end, _| ControlFlow::Break(part_end))
        {
            ControlFlow::Break(part_end) | ControlFlow::Continue(part_end) => part_end,
        }
    }

    /// Returns the flags of a code point as a record, which `for_each_part_to_ascii` needs.
    #[inline]
    pub fn record_of(&self, code_point: usize) -> u64 {
        self.char_parts.record_of(code_point)
    }

    /// Calls `on_part` with the start and the end of each part of `text[start..end]` between two boundaries, until
    /// `on_part` breaks.
    #[inline]
    pub fn for_each_part<B>(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        mut on_part: impl FnMut(usize, usize) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let record_of = |code_point| self.record_of(code_point);
        let mut at = start;
        while at < end {
            let start = at;
            for offset in self.ascii_boundaries(&text[..end], at).into_iter().flat_map(positions_of_set_bits) {
                let part_end = start + offset + 1;
                on_part(at, part_end)?;
                at = part_end;
            }
            if at == start {
                at = self.for_each_part_to_ascii(text, (at, end), record_of, |start, end, _| on_part(start, end))?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Does the work of `for_each_part` for at least one part, up to a part that starts with an ASCII character. Returns
    /// the end of the last part. Reads each character beyond ASCII once. `on_part` also receives the last character of
    /// the part. `record_of` returns the record of a code point: `Boundary::record_of`, with any number in the lower 56
    /// bits.
    #[inline(always)]
    pub fn for_each_part_to_ascii<B>(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        record_of: impl Fn(usize) -> u64,
        mut on_part: impl FnMut(usize, usize, CharWithRecord) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        let read_char = |at| CharWithRecord::read(text, at, end, &record_of);
        // `left` is the last character before `at`. `NONE` has no flags, so it joins nothing.
        let mut part_start = start;
        let mut left = read_char(start);
        let mut at = start + left.len;
        loop {
            if left.is_ascii() {
                at = self.next_ascii_boundary(&text[..end], at);
                left = read_char(at - 1);
            }
            let right = if at < end { read_char(at) } else { CharWithRecord::NONE };
            if left.is_ascii() && right.is_ascii() || !self.can_join(left, right) {
                on_part(part_start, at, left)?;
                if right.is_ascii() {
                    return ControlFlow::Continue(at);
                }
                part_start = at;
            }
            at += right.len;
            left = right;
        }
    }

    /// Returns the next boundary at or after `end`, which is the end of an ASCII character. If a character that is not
    /// ASCII comes first, returns the start of that character.
    #[inline]
    fn next_ascii_boundary(&self, text: &[u8], mut end: usize) -> usize {
        let mut left = text[end - 1];
        while let Some(&right @ 0..128) = text.get(end)
            && self.joins_ascii(left, right)
        {
            end += 1;
            if left == right {
                let (chunks, _) = text[end..].as_chunks();
                end += SKIP_LEN * chunks.iter().take_while(|chunk| **chunk == [left; SKIP_LEN]).count();
            }
            left = right;
        }
        end
    }

    /// Returns a bit for each of the 64 characters from `at` on. The bit is set if a boundary follows the character.
    /// Returns None unless these characters and the next character are ASCII.
    #[inline]
    fn ascii_boundaries(&self, text: &[u8], at: usize) -> Option<u64> {
        let chars = text.get(at..)?.first_chunk::<65>()?;
        if chars[0] >= 128 || !chars.is_ascii() {
            return None;
        }
        let boundary_bit = |(index, pair): (usize, &[u8])| (!self.joins_ascii(pair[0], pair[1]) as u64) << index;
        Some(
            chars
                .windows(2)
                .enumerate()
                .map(boundary_bit)
                .fold(0, |boundaries, boundary_bit| boundaries | boundary_bit),
        )
    }

    /// Reports whether these ASCII characters are adjacent in an entry.
    #[inline]
    pub fn joins_ascii(&self, left: u8, right: u8) -> bool {
        self.ascii_pairs[left as usize] >> right & 1 == 1
    }

    /// Reports whether these characters can be adjacent in an entry. At least one of them is not ASCII.
    #[inline(always)]
    fn can_join(&self, left: CharWithRecord, right: CharWithRecord) -> bool {
        left.can_join(right, |end, start| self.other_pairs.has(pack_pair(end, start)))
    }
}

/// Returns the positions of the set bits, from the lowest to the highest.
fn positions_of_set_bits(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let position = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (position < 64).then_some(position)
    })
}

impl Stored for Boundary {
    fn write(&self, out: &mut PartWriter) {
        out.table("ascii", &self.ascii_pairs);
        out.table("sides", &self.char_parts.0);
        out.table("symbols", &[self.symbols as u32]);
        self.other_pairs.write(out);
    }

    fn read(part: &FilePart) -> Result<Boundary> {
        let ascii_pairs: Table<u128> = part.table("ascii")?;
        let kinds = [Symbols::Bytes, Symbols::Chars, Symbols::Groups, Symbols::Scalars];
        let symbols_number: u32 = part.number("symbols")?;
        let symbols = kinds.into_iter().find(|&symbols| symbols as u32 == symbols_number);
        match symbols {
            Some(symbols) if ascii_pairs.len() == 128 => Ok(Boundary {
                ascii_pairs,
                other_pairs: PairSet::read(part)?,
                char_parts: CharPartFlags(part.table("sides")?),
                symbols,
            }),
            _ => Err(part.section_error("ascii", "are not a table of boundaries")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks that no entry crosses a boundary of the text, and that no other offset is a boundary.
    fn check_boundaries(entries: &[Vec<u8>], text: &[u8], symbols: Symbols) {
        let boundary = Boundary::new(entries.iter().map(Vec::as_slice), symbols);
        let mut next_at = 0;
        let all_parts = boundary.for_each_part::<()>(text, (0, text.len()), |start, end| {
            assert_eq!((start, end), (next_at, boundary.next_boundary(text, (start, text.len()))), "{text:?}");
            next_at = end;
            ControlFlow::Continue(())
        });
        assert_eq!((all_parts, next_at), (ControlFlow::Continue(()), text.len()), "{text:?}");
        let mut at = 0;
        while at < text.len() {
            if let Some(boundaries) = boundary.ascii_boundaries(text, at) {
                (0..64)
                    .for_each(|index| assert_eq!(boundaries >> index & 1 == 0, joins(&boundary, text, at + index + 1)));
            }
            let from = at;
            at = boundary.next_boundary(text, (at, text.len()));
            let all_join =
                (from + 1..at).filter(|&end| text[end] & 0xC0 != 0x80).all(|end| joins(&boundary, text, end));
            assert!(all_join && (at == text.len() || !joins(&boundary, text, at)), "{from}..{at} of {text:?}");
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
        let read_char = |at| CharWithRecord::read(text, at, text.len(), |code_point| boundary.record_of(code_point));
        match (read_char(start), read_char(at)) {
            (left, right) if left.is_ascii() && right.is_ascii() => {
                boundary.joins_ascii(left.packed as u8, right.packed as u8)
            }
            (left, right) => boundary.can_join(left, right),
        }
    }

    proptest! {
        #[test]
        fn repeated_characters_have_exact_boundaries(
            entries in prop::collection::vec("[ab▁é]{1,4}", 0..8), runs in prop::collection::vec(("[ab▁é世]", 1usize..70), 0..6)) {
            let entries: Vec<Vec<u8>> = entries.into_iter().map(String::into_bytes).collect();
            let text: String = runs.into_iter().map(|(char_at, count)| char_at.repeat(count)).collect();
            check_boundaries(&entries, text.as_bytes(), Symbols::Chars);
            check_boundaries(&entries, text.as_bytes(), Symbols::Bytes);
        }

        #[test]
        fn no_character_entry_crosses_a_boundary(entries in prop::collection::vec("[ab▁é世😀𠀀]{1,4}", 0..8), text in "[ab▁é世😀𠀀]{0,20}") {
            let entries: Vec<Vec<u8>> = entries.into_iter().map(String::into_bytes).collect();
            check_boundaries(&entries, text.as_bytes(), Symbols::Chars);
        }

        #[test]
        fn no_byte_entry_crosses_a_boundary(
            words in prop::collection::vec(("[abé世界😀😂🎉𐍈𠀀]{1,4}", 0usize..4, 0usize..4), 0..8),
            text in "[abé世界😀😂🎉𐍈𠀀]{0,20}") {
            let clip_word = |(word, head, tail): (String, usize, usize)| {
                let bytes = word.into_bytes();
                let end = bytes.len().saturating_sub(tail).max(1);
                bytes[head.min(end - 1)..end].to_vec()
            };
            let entries: Vec<Vec<u8>> = words.into_iter().map(clip_word).collect();
            check_boundaries(&entries, text.as_bytes(), Symbols::Bytes);
        }
    }
}
