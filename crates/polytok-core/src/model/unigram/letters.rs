//! Splits a text into parts that no piece crosses, and encodes single characters without a search.
//!
//! Between two characters that are adjacent in no piece is a certain cut (see `boundary::neighbours`): every
//! segmentation of the text has a border there. A character that is in no piece of two or more characters is a part by
//! itself. A run of characters that are in no piece at all is one part. A table has the properties of each character by
//! its code point, and what the normalizer does with the character (`raw`).
//!
//! Invariant: all pieces are UTF-8 (otherwise there are no `Letters`), so bytes of the text that are not UTF-8 are in
//! no piece, and are processed as the search processes them. No piece contains a NUL, because its code marks the end of
//! the text and bytes that are not a character. Cost: one or two table lookups for each character.

use crate::boundary::char_table::CharTable;
use crate::boundary::neighbours::{CharPairs, EntryUnits};
use crate::boundary::pair_set::{PairSet, pair};
use crate::space_mark;
use crate::utf8::{char_len, decode_four, decode_strict, only_char};

/// Stretches that are found at a time.
pub(super) const STRETCHES: usize = 64;

/// What a character is: the piece that it is alone, whether it stands in longer ones, and what becomes of it before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Letter(u32);

impl Letter {
    const JOINS: u32 = 1 << 31;
    /// The normalizer replaces the character by one space.
    pub const SPACE: u32 = 1 << 30;
    /// The normalizer replaces the character by other text, or its output depends on later characters.
    pub const REWRITTEN: u32 = 1 << 29;
    /// The normalizer can replace the character together with the character before it.
    pub const FOLLOWS: u32 = 1 << 28;
    /// The flags of a character that the normalizer does not simply copy.
    pub const NOT_COPIED: u32 = Letter::SPACE | Letter::REWRITTEN | Letter::FOLLOWS;
    /// A piece has U+2581 before the character.
    pub const AFTER_SPACE: u32 = 1 << 27;
    const ENTRY: u32 = Letter::AFTER_SPACE - 1;
    /// A character that is in no piece.
    const UNKNOWN: Letter = Letter(Letter::ENTRY);

    #[inline]
    pub fn joins(self) -> bool {
        self.0 & Letter::JOINS != 0
    }

    #[inline]
    pub fn entry(self) -> Option<u32> {
        let entry = self.0 & Letter::ENTRY;
        (entry != Letter::ENTRY).then_some(entry)
    }

    #[inline]
    pub fn is(self, flags: u32) -> bool {
        self.0 & flags != 0
    }

    /// The stretch that the character is without others.
    #[inline]
    pub fn alone(self) -> What {
        self.entry().map_or(What::Unknown(1), What::Piece)
    }

    /// Reports whether the character is in no piece, whatever the normalizer does with it.
    #[inline]
    fn is_unknown(self) -> bool {
        self.0 & (Letter::JOINS | Letter::ENTRY) == Letter::ENTRY
    }
}

/// A character of a text.
#[derive(Clone, Copy)]
pub(super) struct LetterChar {
    pub letter: Letter,
    pub code: u32,
    pub len: usize,
}

impl LetterChar {
    /// The mark of the end of the text.
    const END: LetterChar = LetterChar { letter: Letter::UNKNOWN, code: 0, len: 0 };

    #[inline]
    fn is_end(self) -> bool {
        self.len == 0
    }
}

/// What a stretch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Characters that pieces can join.
    Word,
    /// A character that only this piece covers.
    Piece(u32),
    /// This number of characters that no piece covers.
    Unknown(u32),
}

/// A part of the text that every way through it starts and ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub start: u32,
    pub end: u32,
    pub what: What,
    /// True if a U+2581 is before the part after normalization, but not in the text.
    pub has_space: bool,
}

impl Stretch {
    pub const NONE: Stretch = Stretch { start: 0, end: 0, what: What::Word, has_space: false };
}

/// The characters of all pieces.
pub(super) struct Letters {
    /// The pairs of characters that are adjacent in a piece, except pairs of ASCII characters.
    pairs: PairSet<3>,
    /// For each ASCII character, a bit for each ASCII character that follows it in a piece.
    ascii_pairs: Box<[u128; 128]>,
    /// The first characters once more.
    ascii: Box<[Letter; 128]>,
    /// For two bytes, of which the first is the lower half of the index, 1 if a word ends between them or if one of
    /// them is not ASCII. The second table is for text before normalization whose words are copied.
    ends: [Box<[u8; 1 << 16]>; 2],
    letters: CharTable,
}

impl Letters {
    /// Builds the tables from pieces and their entries; None if a piece is not UTF-8 or contains a NUL, or if there are
    /// too many pieces.
    pub fn new<'a>(pieces: impl Iterator<Item = (&'a [u8], u32)> + Clone) -> Option<Letters> {
        let is_taken = |(piece, entry): (&[u8], u32)| {
            entry < Letter::ENTRY && !piece.contains(&0) && std::str::from_utf8(piece).is_ok()
        };
        if !pieces.clone().all(is_taken) {
            return None;
        }
        let joined = CharPairs::of(pieces.clone().map(|(piece, _)| piece), EntryUnits::Chars);
        let mut letters = table(&joined);
        for (char, entry) in pieces.filter_map(|(piece, entry)| Some((only_char(piece)?, entry))) {
            let letter = letters.at(char);
            *letter = *letter & !Letter::ENTRY | entry;
        }
        let pairs: Vec<u64> = joined.other_chars().map(|(left, right)| pair(left as u32, right as u32)).collect();
        let mut letters = Letters {
            pairs: PairSet::new(&pairs),
            ascii_pairs: joined.ascii,
            ascii: Box::new([Letter::UNKNOWN; 128]),
            ends: [Box::new([1; 1 << 16]), Box::new([1; 1 << 16])],
            letters,
        };
        letters.copy_ascii();
        Some(letters)
    }

    /// Records the flags of characters that the normalizer changes.
    pub fn mark(&mut self, marks: impl IntoIterator<Item = (char, u32)>) {
        for (char, flag) in marks {
            *self.letters.at(char) |= flag;
        }
        self.copy_ascii();
    }

    fn copy_ascii(&mut self) {
        for code in 0..128 {
            self.ascii[code as usize] = self.of(code);
        }
        for (ends, stop) in self.ends.iter_mut().zip([0, Letter::NOT_COPIED]) {
            for (left, right) in (0..128).flat_map(|left| (0..128).map(move |right| (left, right))) {
                let goes_on = self.ascii_pairs[left] >> right & 1 == 1 && !self.ascii[right].is(stop);
                ends[left | right << 8] = !goes_on as u8;
            }
        }
    }

    /// Returns the properties of the character with this code point.
    #[inline]
    pub fn of(&self, code: u32) -> Letter {
        Letter(self.letters.get(code))
    }

    /// Returns the character at `at`. Bytes that are not a character are unknown and rewritten.
    #[inline(always)]
    pub fn char_at(&self, text: &[u8], at: usize) -> LetterChar {
        match text[at..] {
            [] => LetterChar::END,
            [byte @ 0..128, ..] => LetterChar { letter: self.ascii[byte as usize], code: byte as u32, len: 1 },
            [a, b, c, d, ..] => self.char_beyond(decode_four([a, b, c, d]), &text[at..]),
            _ => self.char_beyond(decode_strict(&text[at..]).map(|(char, len)| (char as u32, len)), &text[at..]),
        }
    }

    #[inline]
    fn char_beyond(&self, decoded: Option<(u32, usize)>, text: &[u8]) -> LetterChar {
        match decoded {
            Some((code, len)) => LetterChar { letter: self.of(code), code, len },
            None => LetterChar { letter: Letter(Letter::ENTRY | Letter::REWRITTEN), code: 0, len: char_len(text) },
        }
    }

    /// The stretches from `at` on; how many, and where the last one ends.
    pub fn fill(&self, text: &[u8], mut at: usize, stretches: &mut [Stretch; STRETCHES]) -> (usize, usize) {
        let mut char = self.char_at(text, at);
        for (i, stretch) in stretches.iter_mut().enumerate() {
            if char.is_end() {
                return (i, at);
            }
            (*stretch, char) = self.stretch(text, at, char, false, 0);
            at = stretch.end as usize;
        }
        (STRETCHES, at)
    }

    /// The stretch at `at`, where this character stands, and the character behind it. No other has one of the flags
    /// `stop`: none, or `NOT_COPIED`.
    #[inline(always)]
    pub fn stretch(
        &self,
        text: &[u8],
        at: usize,
        char: LetterChar,
        has_space: bool,
        stop: u32,
    ) -> (Stretch, LetterChar) {
        let char_end = at + char.len;
        let (end, next, what) = if char.letter.joins() {
            let (end, next) = self.word_end(text, char_end, char, stop);
            let is_word = has_space || end > char_end;
            (end, next, if is_word { What::Word } else { char.letter.alone() })
        } else if char.letter.is_unknown() {
            let (end, next, more) = self.unknown_end(text, char_end, stop);
            (end, next, What::Unknown(1 + more))
        } else {
            (char_end, self.char_at(text, char_end), char.letter.alone())
        };
        (Stretch { start: at as u32, end: end as u32, what, has_space }, next)
    }

    /// The end of the characters that are joined to the one that ends at `end`, and have none of the flags `stop`; and
    /// the character behind them.
    #[inline(always)]
    fn word_end(
        &self,
        text: &[u8],
        mut end: usize,
        LetterChar { mut code, .. }: LetterChar,
        stop: u32,
    ) -> (usize, LetterChar) {
        loop {
            if code < 128 {
                end = self.ascii_end(text, end, stop);
                code = text[end - 1] as u32;
            }
            let next = self.char_at(text, end);
            let goes_on = match code | next.code {
                0..128 => self.ends[(stop != 0) as usize][(code | next.code << 8) as usize] == 0,
                _ => next.letter.joins() && !next.letter.is(stop) && self.pairs.has(pair(code, next.code)),
            };
            if !goes_on {
                return (end, next);
            }
            (code, end) = (next.code, end + next.len);
        }
    }

    /// Returns the end of a word whose last known character is ASCII and ends at `end`, or the offset of the next byte
    /// that is not ASCII, or an offset near the end of the text. Eight offsets are tested at a time, because a branch
    /// for each would be mispredicted.
    #[inline]
    fn ascii_end(&self, text: &[u8], mut end: usize, stop: u32) -> usize {
        let ends = &self.ends[(stop != 0) as usize];
        while let Some(window) = text[end - 1..].first_chunk::<9>() {
            let mut found = 0;
            for i in 0..8 {
                found |= (ends[u16::from_le_bytes([window[i], window[i + 1]]) as usize] as u32) << i;
            }
            if found != 0 {
                return end + found.trailing_zeros() as usize;
            }
            end += 8;
        }
        end
    }

    /// Reports whether a piece can join these characters.
    pub fn joins(&self, left: u32, right: u32) -> bool {
        match left | right {
            0..128 => self.ascii_pairs[left as usize] >> right & 1 == 1,
            _ => self.pairs.has(pair(left, right)),
        }
    }

    /// The end of the characters from `end` on that are in no piece and have none of the flags `stop`, the character
    /// behind them, and how many they are.
    #[inline]
    fn unknown_end(&self, text: &[u8], mut end: usize, stop: u32) -> (usize, LetterChar, u32) {
        let mut count = 0;
        loop {
            let next = self.char_at(text, end);
            if next.is_end() || !next.letter.is_unknown() || next.letter.is(stop) {
                return (end, next, count);
            }
            end += next.len;
            count += 1;
        }
    }
}

/// The characters that these pairs join to others.
fn table(joined: &CharPairs) -> CharTable {
    let mut letters = CharTable::new(Letter::UNKNOWN.0);
    for (left, right) in joined.ascii_chars().chain(joined.other_chars()) {
        *letters.at(left) |= Letter::JOINS;
        *letters.at(right) |= Letter::JOINS | if left == space_mark::CHAR { Letter::AFTER_SPACE } else { 0 };
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A piece with a NUL, whose code marks the end of the text, would let words continue after the end.
    #[test]
    fn pieces_with_a_nul_have_no_letters() {
        assert!(Letters::new([(&b"ab"[..], 1)].into_iter()).is_some());
        assert!(Letters::new([(&b"a\0"[..], 1)].into_iter()).is_none());
    }
}
