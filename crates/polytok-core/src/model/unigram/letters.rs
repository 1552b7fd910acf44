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
use crate::utf8::{char_len, decode_strict};

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
    const ENTRY: u32 = Letter::FOLLOWS - 1;
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
        let mut letters = Letters { boundary, ascii, blocks, letters: vec![Letter::UNKNOWN; BLOCK] };
        for (piece, entry) in pieces {
            if entry >= Letter::ENTRY {
                return None;
            }
            let mut chars = std::str::from_utf8(piece).ok()?.chars();
            match (chars.next(), chars.next()) {
                (Some(only), None) => {
                    let letter = letters.entry(only);
                    *letter = Letter(letter.0 & Letter::JOINS | entry);
                }
                (first, second) => first.into_iter().chain(second).chain(chars).for_each(|char| {
                    letters.entry(char).0 |= Letter::JOINS;
                }),
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
    }

    fn entry(&mut self, char: char) -> &mut Letter {
        let block = &mut self.blocks[char as usize / BLOCK];
        if *block == 0 {
            *block = (self.letters.len() / BLOCK) as u16;
            self.letters.extend([Letter::UNKNOWN; BLOCK]);
        }
        &mut self.letters[*block as usize * BLOCK + char as usize % BLOCK]
    }

    /// What a character is.
    #[inline]
    pub fn of(&self, char: char) -> Letter {
        let block = self.blocks[char as usize / BLOCK] as usize;
        self.letters[block * BLOCK + char as usize % BLOCK]
    }

    /// The character at the start of `text`, and its length. What is none is unknown, and rewritten.
    #[inline]
    pub fn letter(&self, text: &[u8]) -> (Letter, usize) {
        if text[0] < 128 {
            return (self.ascii[text[0] as usize], 1);
        }
        match decode_strict(text) {
            Some((char, len)) => (self.of(char), len),
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

    /// The end of the characters that are joined to the one at `last`, which ends at `end`, and have none of the flags `stop`.
    #[inline]
    pub fn word_end(&self, text: &[u8], mut last: usize, mut end: usize, stop: u32) -> usize {
        while end < text.len() {
            let (left, right) = (text[last], text[end]);
            let next = if left < 128 && right < 128 {
                if !self.boundary.joins_ascii(left, right) || self.ascii[right as usize].is(stop) {
                    break;
                }
                end + 1
            } else {
                let (letter, len) = self.letter(&text[end..]);
                let joins = letter.joins() && !letter.is(stop);
                if !joins || !self.boundary.joins(&text[last..end], &text[end..end + len]) {
                    break;
                }
                end + len
            };
            (last, end) = (end, next);
        }
        end
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
