//! Cut points inside a piece: places that no vocabulary entry, and so no merge, can cross.
//!
//! Between two neighbouring characters that stand side by side in no entry nothing can ever merge, so what lies between two
//! such places may be merged on its own, and its result cached. SentencePiece vocabularies have one before nearly every
//! word (an entry has `▁` only at its start); long pieces of scripts without spaces have many. The proof needs only the
//! entries: a merge gives an entry, and an entry that covers the place holds the end of one character and the start of the next.
//! Byte-level entries may hold only a part of either, so parts are looked up too. Where symbols are not walked by lead bytes
//! (all but SentencePiece's), bytes that are no UTF-8 would be walked differently here than there: such text is not cut.
//!
//! The pairs are kept in a bit set under a hash. A false hit joins what need not be joined, which is slower, never wrong.

pub(crate) mod char_table;
pub(crate) mod pair_set;
mod sides;

use hashbrown::HashSet;

use crate::error::Result;
use crate::native::{Part, PartWriter, Stored};
use crate::spec::Symbols;
use crate::table::Table;
use crate::utf8;
use sides::{Sides, Unit};

/// Bits of the set for each pair in it: one false hit in about sixteen.
const BITS_PER_PAIR: usize = 16;

/// Equal characters that are passed at once.
const RUN: usize = 16;

/// A space as SentencePiece writes it.
const SPACE: &[u8] = "▁".as_bytes();

/// The pairs of neighbouring characters that some entry joins.
pub struct Boundary {
    /// For each ASCII character a bit for each that follows it.
    ascii: Table<u128>,
    bits: Table<u64>,
    shift: u32,
    /// Of what entries of bytes hold.
    sides: Sides,
    symbols: Symbols,
}

impl Boundary {
    /// Collects the pairs of all entries that merging can reach. `symbols` is what merging starts from.
    pub fn new<'a>(entries: impl Iterator<Item = &'a [u8]>, symbols: Symbols) -> Boundary {
        let has_parts = symbols == Symbols::Bytes;
        let mut ascii = vec![0u128; 128];
        let (mut pairs, mut after_space) = (Vec::new(), 0u128);
        let mut parts = HashSet::new();
        for entry in entries {
            // Nearly all entries of a SentencePiece vocabulary are ASCII but for their space.
            let word = if has_parts { None } else { entry.strip_prefix(SPACE) };
            let rest = word.unwrap_or(entry);
            if rest.is_ascii() {
                rest.windows(2).for_each(|pair| ascii[pair[0] as usize] |= 1 << pair[1]);
                word.and_then(<[u8]>::first).into_iter().for_each(|first| after_space |= 1 << first);
                continue;
            }
            neighbours(entry, has_parts, |left, right| match (left, right) {
                (&[left @ 0..128], &[right @ 0..128]) => ascii[left as usize] |= 1 << right,
                _ => {
                    pairs.push(pair(left, right));
                    if has_parts {
                        parts.insert((left, right));
                    }
                }
            });
        }
        let firsts = (0..128u8).filter(|first| after_space >> first & 1 == 1);
        pairs.extend(firsts.map(|first| pair(SPACE, &[first])));
        // Most pairs come many times. How many there are is seen in a set with room for all.
        let all = bit_set(&pairs, pairs.len());
        let count = all.iter().map(|word| word.count_ones() as usize).sum();
        let bits = bit_set(&pairs, count);
        let shift = shift_of(&bits);
        let mut sides = vec![0; if has_parts { sides::SIZE } else { 0 }];
        parts.iter().for_each(|(left, right)| sides::note(&mut sides, left, right));
        Boundary { ascii: ascii.into(), bits: bits.into(), shift, sides: Sides(sides.into()), symbols }
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
    fn unit(&self, text: &[u8], at: usize) -> Unit {
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
    fn joins_units(&self, left: Unit, right: Unit) -> bool {
        // Entries of bytes may start and end inside a character.
        match self.symbols {
            Symbols::Bytes => Sides::any(left, right, |end, start| self.has(end, start)),
            _ => self.has(left.packed, right.packed),
        }
    }

    #[inline]
    fn has(&self, left: u32, right: u32) -> bool {
        let bit = bit((left as u64) << 32 | right as u64, self.shift);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1
    }
}

impl Stored for Boundary {
    fn write(&self, out: &mut PartWriter) {
        out.table("ascii", &self.ascii);
        out.table("bits", &self.bits);
        out.table("sides", &self.sides.0);
        out.table("symbols", &[self.symbols as u32]);
    }

    fn read(part: &Part) -> Result<Boundary> {
        let (ascii, bits): (Table<u128>, Table<u64>) = (part.table("ascii")?, part.table("bits")?);
        let kinds = [Symbols::Bytes, Symbols::Chars, Symbols::Groups, Symbols::Scalars];
        let number: u32 = part.number("symbols")?;
        let symbols = kinds.into_iter().find(|&symbols| symbols as u32 == number);
        match symbols {
            Some(symbols) if ascii.len() == 128 && bits.len().is_power_of_two() => {
                Ok(Boundary { ascii, shift: shift_of(&bits), bits, sides: Sides(part.table("sides")?), symbols })
            }
            _ => Err(part.wrong("bits", "are not a boundary's")),
        }
    }
}

/// The set of these pairs, with room for so many different ones.
fn bit_set(pairs: &[u64], count: usize) -> Vec<u64> {
    let mut bits = vec![0; (count * BITS_PER_PAIR).next_power_of_two().max(64) / 64];
    let shift = shift_of(&bits);
    for &pair in pairs {
        let bit = bit(pair, shift);
        bits[bit / 64] |= 1 << (bit % 64);
    }
    bits
}

fn shift_of(bits: &[u64]) -> u32 {
    64 - (bits.len() * 64).trailing_zeros()
}

/// The place of a pair in a set of 2^(64 - shift) bits.
#[inline]
fn bit(pair: u64, shift: u32) -> usize {
    ((pair ^ pair >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) as usize
}

/// Calls `found` with the characters, or parts of them, on both sides of every place in the entry where a character may start.
fn neighbours<'a>(entry: &'a [u8], has_parts: bool, mut found: impl FnMut(&'a [u8], &'a [u8])) {
    if entry.is_empty() {
        return;
    }
    // In a byte-level entry the bytes before the first lead byte are the end of a character that starts outside.
    let is_inside = |byte: &&u8| has_parts && **byte & 0xC0 == 0x80;
    let head = entry.iter().take(3).take_while(is_inside).count();
    let (mut last, mut at) = if head > 0 { (0, head) } else { (0, utf8::char_len(entry)) };
    while at < entry.len() {
        let next = at + utf8::char_len(&entry[at..]);
        found(&entry[last..at], &entry[at..next]);
        (last, at) = (at, next);
    }
}

/// Two units of up to four bytes in one number.
#[inline]
fn pair(left: &[u8], right: &[u8]) -> u64 {
    (pack(left) as u64) << 32 | pack(right) as u64
}

/// A unit's bytes in one number; two units that share one only join more.
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
