//! Splits a text into runs of letters. No piece crosses the border between two runs, and a run of a single character
//! needs no search.
//!
//! There is a boundary between two characters that are adjacent in no piece (see `boundary::neighbours`): no piece of
//! any segmentation crosses that offset. The text between two boundaries is a run of letters. A character that is in no
//! piece of two or more characters is a run by itself. Consecutive characters that are in no piece at all are one run.
//! A table has the properties of each code point, and records whether the normalizer copies the character (`raw`).
//!
//! Invariant: all pieces are UTF-8 (otherwise there are no `Letters`), so bytes of the text that are not UTF-8 are in
//! no piece, and are unknown as in the search. No piece contains a NUL, because the code of NUL marks the end of the
//! text and bytes that are not a character. Cost: one or two table lookups for each character.

use polytok_memory::Collect;

use crate::boundary::ascii_joins::{AsciiJoins, BLOCK_LEN};
use crate::boundary::char_table::CharTable;
use crate::boundary::neighbours::{CharPairs, EntryUnits};
use crate::boundary::pair_set::{PairSet, pack_pair};
use crate::space_mark;
use crate::utf8::{char_len, decode_four_bytes, decode_strict, only_char};

/// The largest number of runs that are processed together. A block of ASCII text has fewer than `BLOCK_LEN` runs.
pub(super) const RUN_BATCH: usize = 3 * BLOCK_LEN;

/// The properties of a character: the entry of the character as a piece, and flags for longer pieces and for the
/// normalizer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Letter(u32);

impl Letter {
    /// The character is in a piece of two or more characters.
    const IN_LONGER_PIECES: u32 = 1 << 31;
    /// The normalizer replaces the character by one space.
    pub const SPACE: u32 = 1 << 30;
    /// The normalizer replaces the character by other text, or the output for the character depends on later
    /// characters.
    pub const REWRITTEN: u32 = 1 << 29;
    /// The normalizer can replace the character together with the character before it.
    pub const FOLLOWS: u32 = 1 << 28;
    /// The flags of a character that the normalizer does not simply copy.
    pub const NOT_COPIED: u32 = Letter::SPACE | Letter::REWRITTEN | Letter::FOLLOWS;
    /// A piece has U+2581 before the character.
    pub const AFTER_SPACE: u32 = 1 << 27;
    /// The bits of the entry of the piece that is only this character; all bits are set if that piece is missing.
    const ENTRY: u32 = Letter::AFTER_SPACE - 1;
    /// A character that is in no piece.
    const UNKNOWN: Letter = Letter(Letter::ENTRY);

    /// Reports whether the character is in a piece of two or more characters.
    #[inline]
    pub fn can_join(self) -> bool {
        self.0 & Letter::IN_LONGER_PIECES != 0
    }

    /// Returns the entry of the piece that is only this character.
    #[inline]
    pub fn entry(self) -> Option<u32> {
        let entry = self.0 & Letter::ENTRY;
        (entry != Letter::ENTRY).then_some(entry)
    }

    /// Reports whether the character has one of these flags.
    #[inline]
    pub fn has_any(self, flags: u32) -> bool {
        self.0 & flags != 0
    }

    /// Returns the kind of a run that is only this character.
    #[inline]
    pub fn single_kind(self) -> RunKind {
        self.entry().map_or(RunKind::Unknown(1), RunKind::Piece)
    }

    /// Reports whether the character is in no piece, whatever the normalizer does with it.
    #[inline]
    pub fn is_unknown(self) -> bool {
        self.0 & (Letter::IN_LONGER_PIECES | Letter::ENTRY) == Letter::ENTRY
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

/// The kind of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunKind {
    /// Several characters that pieces can join.
    Word,
    /// A character that only this piece covers.
    Piece(u32),
    /// A run of this number of characters that no piece covers.
    Unknown(u32),
}

/// A part of the text between two boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LetterRun {
    pub start: u32,
    pub end: u32,
    pub kind: RunKind,
    /// True if a U+2581 is before the part after normalization, but not in the text.
    pub has_space: bool,
}

impl LetterRun {
    pub const NONE: LetterRun = LetterRun { start: 0, end: 0, kind: RunKind::Word, has_space: false };
}

/// The characters of all pieces.
pub(super) struct Letters {
    /// The pairs of characters that are adjacent in a piece, except pairs of ASCII characters.
    pairs: PairSet<3>,
    /// For each ASCII character, a bit for each ASCII character that follows it in a piece.
    ascii_pairs: Box<[u128; 128]>,
    /// The properties of the ASCII characters, a copy from `letters`.
    pub ascii: Box<[Letter; 128]>,
    /// The pairs of ASCII characters of a word in normalized text.
    word_pairs: AsciiJoins,
    /// The pairs of ASCII characters of a word in text before normalization: there a word also ends before a character
    /// that the normalizer does not copy. A space is joined to the character after it, if a piece has this character.
    pub raw_word_pairs: AsciiJoins,
    /// For each ASCII character before normalization, the kind of a run that is only this character.
    pub single_kinds: Box<[RunKind; 128]>,
    letters: CharTable,
}

impl Letters {
    /// Builds the tables from pieces and their entries; None if a piece is not UTF-8 or contains a NUL, or if there are
    /// too many pieces.
    pub fn new<'a>(pieces: impl Iterator<Item = (&'a [u8], u32)> + Clone) -> Option<Letters> {
        let is_supported = |(piece, entry): (&[u8], u32)| {
            entry < Letter::ENTRY && !piece.contains(&0) && std::str::from_utf8(piece).is_ok()
        };
        if !pieces.clone().all(is_supported) {
            return None;
        }
        let joined = CharPairs::from_entries(pieces.clone().map(|(piece, _)| piece), EntryUnits::Chars);
        let mut letters = joining_letters(&joined);
        for (char, entry) in pieces.filter_map(|(piece, entry)| Some((only_char(piece)?, entry))) {
            let letter = letters.get_mut(char);
            *letter = *letter & !Letter::ENTRY | entry;
        }
        let pairs: Vec<u64> =
            joined.other_char_pairs().map(|(left, right)| pack_pair(left as u32, right as u32)).checked_collect();
        let mut letters = Letters {
            pairs: PairSet::new(&pairs),
            word_pairs: AsciiJoins::new(&joined.ascii_pairs),
            raw_word_pairs: AsciiJoins::new(&[0; 128]),
            single_kinds: Box::new([RunKind::Word; 128]),
            ascii_pairs: joined.ascii_pairs,
            ascii: Box::new([Letter::UNKNOWN; 128]),
            letters,
        };
        letters.copy_ascii();
        Some(letters)
    }

    /// Records the flags of characters that the normalizer changes.
    pub fn add_flags(&mut self, marks: impl IntoIterator<Item = (char, u32)>) {
        for (char, flag) in marks {
            *self.letters.get_mut(char) |= flag;
        }
        self.copy_ascii();
        let chars_with = |is_in: &dyn Fn(Letter) -> bool| {
            (0..128).fold(0u128, |chars, char| chars | (is_in(self.ascii[char]) as u128) << char)
        };
        let copied = chars_with(&|letter| !letter.has_any(Letter::NOT_COPIED));
        let known = chars_with(&|letter| !letter.is_unknown());
        let right_chars = |left: usize| match self.ascii[left].has_any(Letter::SPACE) {
            true => known & copied,
            false => self.ascii_pairs[left] & copied,
        };
        self.raw_word_pairs = AsciiJoins::new(&std::array::from_fn(right_chars));
        let space_kind = self.letter(space_mark::CHAR as u32).single_kind();
        *self.single_kinds = self.ascii.map(|letter| match letter.has_any(Letter::SPACE) {
            true => space_kind,
            false if letter.is_unknown() => RunKind::Unknown(1),
            false => RunKind::Word,
        });
    }

    /// Updates the properties of ASCII characters from `letters`.
    fn copy_ascii(&mut self) {
        for code in 0..128 {
            self.ascii[code as usize] = self.letter(code);
        }
    }

    /// Returns the properties of the character with this code point.
    #[inline]
    pub fn letter(&self, code: u32) -> Letter {
        Letter(self.letters.get(code))
    }

    /// Returns the character at `at`. Bytes that are not a character are unknown and rewritten.
    #[inline(always)]
    pub fn char_at(&self, text: &[u8], at: usize) -> LetterChar {
        match text[at..] {
            [] => LetterChar::END,
            [byte @ 0..128, ..] => LetterChar { letter: self.ascii[byte as usize], code: byte as u32, len: 1 },
            [a, b, c, d, ..] => self.char_from(decode_four_bytes([a, b, c, d]), &text[at..]),
            _ => self.char_from(decode_strict(&text[at..]).map(|(char, len)| (char as u32, len)), &text[at..]),
        }
    }

    #[inline]
    fn char_from(&self, decoded: Option<(u32, usize)>, text: &[u8]) -> LetterChar {
        match decoded {
            Some((code, len)) => LetterChar { letter: self.letter(code), code, len },
            None => LetterChar { letter: Letter(Letter::ENTRY | Letter::REWRITTEN), code: 0, len: char_len(text) },
        }
    }

    /// Finds the runs from `at` on. Returns the number of runs, and the end of the last run.
    pub fn fill_runs(&self, text: &[u8], mut at: usize, runs: &mut [LetterRun; RUN_BATCH]) -> (usize, usize) {
        let mut char = self.char_at(text, at);
        for (i, run) in runs.iter_mut().enumerate() {
            if char.is_end() {
                return (i, at);
            }
            (*run, char) = self.next_run(text, at, char, false, 0);
            at = run.end as usize;
        }
        (RUN_BATCH, at)
    }

    /// Returns the run that starts with the character `char` at `at`, and the character after the run. Later characters
    /// of the run have none of the flags `stop_flags`, which are 0 or `NOT_COPIED`.
    #[inline(always)]
    pub fn next_run(
        &self,
        text: &[u8],
        at: usize,
        char: LetterChar,
        has_space: bool,
        stop_flags: u32,
    ) -> (LetterRun, LetterChar) {
        let char_end = at + char.len;
        let (end, next, kind) = if char.letter.can_join() {
            let (end, next) = self.word_end(text, char_end, char, stop_flags);
            let is_word = has_space || end > char_end;
            (end, next, if is_word { RunKind::Word } else { char.letter.single_kind() })
        } else if char.letter.is_unknown() {
            let (end, next, more) = self.unknown_end(text, char_end, stop_flags);
            (end, next, RunKind::Unknown(1 + more))
        } else {
            (char_end, self.char_at(text, char_end), char.letter.single_kind())
        };
        (LetterRun { start: at as u32, end: end as u32, kind, has_space }, next)
    }

    /// Returns the end of the word whose first character ends at `end`, and the character after the word. Later
    /// characters of the word have none of the flags `stop_flags`.
    #[inline(always)]
    fn word_end(
        &self,
        text: &[u8],
        mut end: usize,
        LetterChar { mut code, .. }: LetterChar,
        stop_flags: u32,
    ) -> (usize, LetterChar) {
        loop {
            if code < 128 {
                end = self.ascii_end(text, end, stop_flags);
                code = text[end - 1] as u32;
            }
            let next = self.char_at(text, end);
            let is_joined = match code | next.code {
                0..128 => !self.ascii_word_pairs(stop_flags).is_end(code as u8, next.code as u8),
                _ => {
                    next.letter.can_join()
                        && !next.letter.has_any(stop_flags)
                        && self.pairs.has(pack_pair(code, next.code))
                }
            };
            if !is_joined {
                return (end, next);
            }
            (code, end) = (next.code, end + next.len);
        }
    }

    /// Returns the end of a word whose last known character is ASCII and ends at `end`, or the offset of the next byte
    /// that is not ASCII, or an offset near the end of the text. Eight offsets are tested at a time, because a branch
    /// for each would be mispredicted.
    #[inline]
    fn ascii_end(&self, text: &[u8], mut end: usize, stop_flags: u32) -> usize {
        let word_pairs = self.ascii_word_pairs(stop_flags);
        while text.len() - end >= 8 {
            let end_bits = word_pairs.eight_ends(&text[end - 1..]);
            if end_bits != 0 {
                return end + end_bits.trailing_zeros() as usize;
            }
            end += 8;
        }
        end
    }

    /// Returns the pairs of a word whose later characters have none of the flags `stop_flags`.
    #[inline]
    fn ascii_word_pairs(&self, stop_flags: u32) -> &AsciiJoins {
        if stop_flags == 0 { &self.word_pairs } else { &self.raw_word_pairs }
    }

    /// Reports whether a piece can join these characters.
    pub fn joins(&self, left: u32, right: u32) -> bool {
        match left | right {
            0..128 => self.ascii_pairs[left as usize] >> right & 1 == 1,
            _ => self.pairs.has(pack_pair(left, right)),
        }
    }

    /// Counts the characters from `end` on that are in no piece and have none of the flags `stop_flags`. Returns the
    /// end of these characters, the character after them, and the number of characters.
    #[inline]
    fn unknown_end(&self, text: &[u8], mut end: usize, stop_flags: u32) -> (usize, LetterChar, u32) {
        let mut count = 0;
        loop {
            let next = self.char_at(text, end);
            if next.is_end() || !next.letter.is_unknown() || next.letter.has_any(stop_flags) {
                return (end, next, count);
            }
            end += next.len;
            count += 1;
        }
    }
}

/// Returns a table with the flags of all characters in these pairs.
fn joining_letters(joined: &CharPairs) -> CharTable {
    let mut letters = CharTable::new(Letter::UNKNOWN.0);
    for (left, right) in joined.ascii_char_pairs().chain(joined.other_char_pairs()) {
        *letters.get_mut(left) |= Letter::IN_LONGER_PIECES;
        *letters.get_mut(right) |=
            Letter::IN_LONGER_PIECES | if left == space_mark::CHAR { Letter::AFTER_SPACE } else { 0 };
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of NUL marks the end of the text, so a piece with a NUL would let words continue after the end.
    #[test]
    fn pieces_with_a_nul_are_refused() {
        assert!(Letters::new([(&b"ab"[..], 1)].into_iter()).is_some());
        assert!(Letters::new([(&b"a\0"[..], 1)].into_iter()).is_none());
    }
}
