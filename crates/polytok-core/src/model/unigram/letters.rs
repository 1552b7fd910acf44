//! Where a text falls into stretches that no piece crosses, and what needs no search: single characters.
//!
//! Two neighbouring characters that stand side by side in no piece are a certain cut (see `split::boundary`): every way through the
//! text passes between them. A character that stands in no piece of two or more is a stretch by itself; many of them are in no piece
//! at all, and a run of such characters is one stretch. What a character is stands in a table by its code point, together with
//! what the normalizer does with it (`raw`).
//!
//! Invariant: pieces are UTF-8 (else there are no `Letters`), so bytes of the text that are not are in no piece, and are walked as
//! the search walks them. Cost: one or two table lookups for each character.

use crate::spec::Symbols;
use crate::split::boundary::Boundary;
use crate::utf8::{char_len, decode_four, decode_strict};

/// Stretches that are found at a time.
pub(super) const STRETCHES: usize = 64;

/// Code points of a block.
const BLOCK: usize = 64;

/// What a character is: the piece that it is alone, whether it stands in longer ones, and what becomes of it before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Letter(u32);

impl Letter {
    const JOINS: u32 = 1 << 31;
    /// The normalizer makes one space of it.
    pub const SPACE: u32 = 1 << 30;
    /// The normalizer makes something else of it, or looks further.
    pub const REWRITTEN: u32 = 1 << 29;
    /// The normalizer may make something of it and what is before it.
    pub const FOLLOWS: u32 = 1 << 28;
    /// The normalizer does not simply copy it.
    pub const NOT_COPIED: u32 = Letter::SPACE | Letter::REWRITTEN | Letter::FOLLOWS;
    /// Some piece has a U+2581 before it.
    pub const AFTER_SPACE: u32 = 1 << 27;
    const ENTRY: u32 = Letter::AFTER_SPACE - 1;
    /// In no piece.
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

    /// In no piece, whatever the normalizer does.
    #[inline]
    fn is_unknown(self) -> bool {
        self.0 & (Letter::JOINS | Letter::ENTRY) == Letter::ENTRY
    }
}

/// What a stretch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Characters that pieces join.
    Word,
    /// One character that only this piece covers.
    Piece(u32),
    /// So many characters that no piece covers.
    Unknown(u32),
}

/// A part of the text that every way through it starts and ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub start: u32,
    pub end: u32,
    pub what: What,
    /// A U+2581 comes before it, which does not stand in the text.
    pub has_space: bool,
}

impl Stretch {
    pub const NONE: Stretch = Stretch { start: 0, end: 0, what: What::Word, has_space: false };
}

/// The characters of all pieces.
pub(super) struct Letters {
    pub boundary: Boundary,
    /// The first characters once more.
    ascii: Box<[Letter; 128]>,
    /// For two bytes, the first one low, 1 if a word ends between them, or if they are not both ASCII; the second table for text
    /// of which the words are copied.
    ends: [Box<[u8; 1 << 16]>; 2],
    /// The block of a code point's first bits; block 0 has unknown characters.
    blocks: Vec<u16>,
    letters: Vec<Letter>,
}

impl Letters {
    /// Takes pieces with their entries; None if a piece is no UTF-8 or there are too many.
    pub fn new<'a>(pieces: impl Iterator<Item = (&'a [u8], u32)> + Clone) -> Option<Letters> {
        let boundary = Boundary::new(pieces.clone().map(|(piece, _)| piece), Symbols::Chars);
        let blocks = vec![0; (char::MAX as usize + 1) / BLOCK];
        let ascii = Box::new([Letter::UNKNOWN; 128]);
        let ends = [Box::new([1; 1 << 16]), Box::new([1; 1 << 16])];
        let mut letters = Letters { boundary, ascii, ends, blocks, letters: vec![Letter::UNKNOWN; BLOCK] };
        for (piece, entry) in pieces {
            if entry >= Letter::ENTRY {
                return None;
            }
            let mut chars = std::str::from_utf8(piece).ok()?.chars();
            match (chars.next(), chars.next()) {
                (Some(only), None) => {
                    let letter = letters.entry(only);
                    *letter = Letter(letter.0 & !Letter::ENTRY | entry);
                }
                (first, second) => {
                    let mut last = None;
                    for char in first.into_iter().chain(second).chain(chars) {
                        let after_space = if last == Some('\u{2581}') { Letter::AFTER_SPACE } else { 0 };
                        letters.entry(char).0 |= Letter::JOINS | after_space;
                        last = Some(char);
                    }
                }
            }
        }
        letters.copy_ascii();
        Some(letters)
    }

    /// Notes what the normalizer does with characters.
    pub fn mark(&mut self, marks: impl IntoIterator<Item = (char, u32)>) {
        for (char, flag) in marks {
            self.entry(char).0 |= flag;
        }
        self.copy_ascii();
    }

    fn copy_ascii(&mut self) {
        for code in 0..128usize {
            let block = self.blocks[code / BLOCK] as usize;
            self.ascii[code] = self.letters[block * BLOCK + code % BLOCK];
        }
        for (ends, stop) in self.ends.iter_mut().zip([0, Letter::NOT_COPIED]) {
            for (left, right) in (0..128).flat_map(|left| (0..128).map(move |right| (left, right))) {
                let goes_on = self.boundary.joins_ascii(left, right) && !self.ascii[right as usize].is(stop);
                ends[left as usize | (right as usize) << 8] = !goes_on as u8;
            }
        }
    }

    fn entry(&mut self, char: char) -> &mut Letter {
        let block = &mut self.blocks[char as usize / BLOCK];
        if *block == 0 {
            *block = (self.letters.len() / BLOCK) as u16;
            self.letters.extend([Letter::UNKNOWN; BLOCK]);
        }
        &mut self.letters[*block as usize * BLOCK + char as usize % BLOCK]
    }

    /// What the character with this code point is.
    #[inline]
    pub fn of(&self, code: u32) -> Letter {
        let block = self.blocks[code as usize / BLOCK] as usize;
        self.letters[block * BLOCK + code as usize % BLOCK]
    }

    /// The character at the start of `text`, and its length. What is none is unknown, and rewritten.
    #[inline(always)]
    pub fn letter(&self, text: &[u8]) -> (Letter, usize) {
        if text[0] < 128 { (self.ascii[text[0] as usize], 1) } else { self.letter_beyond(text) }
    }

    fn letter_beyond(&self, text: &[u8]) -> (Letter, usize) {
        let decoded = match text.first_chunk() {
            Some(&four) => decode_four(four),
            None => decode_strict(text).map(|(char, len)| (char as u32, len)),
        };
        match decoded {
            Some((code, len)) => (self.of(code), len),
            None => (Letter(Letter::ENTRY | Letter::REWRITTEN), char_len(text)),
        }
    }

    /// The stretches from `at` on; how many, and where the last one ends.
    pub fn fill(&self, text: &[u8], mut at: usize, stretches: &mut [Stretch; STRETCHES]) -> (usize, usize) {
        for (i, stretch) in stretches.iter_mut().enumerate() {
            if at >= text.len() {
                return (i, at);
            }
            *stretch = self.stretch(text, at);
            at = stretch.end as usize;
        }
        (STRETCHES, at)
    }

    #[inline]
    fn stretch(&self, text: &[u8], at: usize) -> Stretch {
        let (letter, len) = self.letter(&text[at..]);
        let char_end = at + len;
        let end = if letter.joins() { self.word_end(text, at, char_end, 0) } else { char_end };
        let stretch = |end: usize, what| Stretch { start: at as u32, end: end as u32, what, has_space: false };
        match letter.entry() {
            _ if end > char_end => stretch(end, What::Word),
            Some(entry) => stretch(end, What::Piece(entry)),
            None if letter.joins() => stretch(end, What::Unknown(1)),
            None => {
                let (end, count) = self.unknown_end(text, char_end, 0);
                stretch(end, What::Unknown(1 + count))
            }
        }
    }

    /// The end of the characters that are joined to the one at `last`, which ends at `end`, and have none of the flags `stop`: none,
    /// or `NOT_COPIED`.
    #[inline]
    pub fn word_end(&self, text: &[u8], mut last: usize, mut end: usize, stop: u32) -> usize {
        while end < text.len() {
            if text[end - 1] < 128 {
                end = self.ascii_end(text, end, stop);
                last = end - 1;
                match text.get(end) {
                    Some(&right) if right >= 128 => {}
                    Some(&right) if self.ends_between(text[last], right, stop) => break,
                    Some(_) => {
                        end += 1;
                        continue;
                    }
                    None => break,
                }
            }
            let (letter, len) = self.letter(&text[end..]);
            let joins = letter.joins() && !letter.is(stop);
            if !joins || !self.joins(&text[last..end], &text[end..end + len]) {
                break;
            }
            (last, end) = (end, end + len);
        }
        end
    }

    #[inline]
    fn ends_between(&self, left: u8, right: u8, stop: u32) -> bool {
        self.ends[(stop != 0) as usize][u16::from_le_bytes([left, right]) as usize] != 0
    }

    /// Where a word that has an ASCII character before `end` ends, or a byte comes that is none; or near the end of the text. Eight
    /// places are tried at a time, since where it is cannot be foreseen.
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

    /// Whether a piece may join these characters.
    #[inline]
    pub fn joins(&self, left: &[u8], right: &[u8]) -> bool {
        match (left, right) {
            (&[left @ 0..128], &[right @ 0..128]) => self.boundary.joins_ascii(left, right),
            _ => self.boundary.joins(left, right),
        }
    }

    /// The end of the characters from `end` on that are in no piece and have none of the flags `stop`, and how many they are.
    #[inline]
    pub fn unknown_end(&self, text: &[u8], mut end: usize, stop: u32) -> (usize, u32) {
        let mut count = 0;
        while end < text.len() {
            let (letter, len) = self.letter(&text[end..]);
            if !letter.is_unknown() || letter.is(stop) {
                break;
            }
            end += len;
            count += 1;
        }
        (end, count)
    }
}
