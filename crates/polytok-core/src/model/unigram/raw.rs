//! Stretches of a text that is not normalized yet: most of it the normalizer only copies.
//!
//! SentencePiece's normalizer goes step by step: it takes the longest key of its rules, or copies one character. A
//! character that is no key by itself, and that none follows which stands inside of a key, is copied, whatever is
//! around it. One that a rule turns into a single space is a space like any other: of several in a row one stays, as
//! U+2581, and none at the end. So the text is cut as `letters` cuts the normalized one, with the U+2581 before a
//! stretch as a mark, as long as characters are copied.
//!
//! Where something else comes, the steps are really taken, from the last cut that is certain whatever comes (`ScanStop`) up
//! to the next certain cut before a character that is copied (`rewrite`). A cut needs both its neighbours as they will
//! be: the left one must not be followed by a character that stands inside of a key, nor the right one, and neither may
//! be rewritten. A character that no piece joins to another is cut off on both sides, whatever its neighbours.
//!
//! Cost: linear. Worst input: characters that are all rewritten, which costs what normalizing costs. Twin: the
//! normalized text.

use super::letters::{Letter, LetterChar, Letters, STRETCHES, Stretch};
use crate::normalize::charsmap::KeyChar;
use crate::normalize::sentencepiece::SentencePieceNormalizer;
use crate::space_mark;
use crate::utf8::decode_strict;

/// Characters that end a run of copied ones.
const STOP: u32 = Letter::REWRITTEN | Letter::FOLLOWS;

/// Longer texts are normalized first, so that no sum of lengths overflows.
pub(super) const LONGEST: usize = 1 << 26;

/// The most bytes that a rule may make of one, so that no text becomes more than the normalizer lets pass.
const MOST_GROWTH: usize = 30;

/// How far a text is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawCursor {
    pub at: usize,
    /// A space before it waits for a stretch.
    pub has_space: bool,
}

/// Why no more stretches come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanStop {
    /// There is no more room.
    Full,
    /// From the cursor on, steps must be taken.
    Rewrite,
    End,
}

impl Letters {
    /// Notes what the normalizer does with each character; false if its texts must be normalized first.
    pub fn learn<'a>(
        &mut self,
        normalizer: &SentencePieceNormalizer,
        user_defined: impl Iterator<Item = &'a [u8]> + Clone,
        mut pieces: impl Iterator<Item = &'a [u8]>,
    ) -> bool {
        let mut rules = LetterRules {
            marks: vec![(' ', Letter::SPACE), ('\0', Letter::REWRITTEN)],
            is_fine: normalizer.is_usual(),
        };
        let is_listed = normalizer.charsmap().is_none_or(|map| map.for_each_char(&mut |char| rules.add(&char)));
        if !is_listed
            || !rules.is_fine
            || pieces.any(|piece| piece.windows(3).skip(1).any(|part| part == space_mark::BYTES))
        {
            return false;
        }
        if !rules.marks.iter().any(|&(char, _)| char == '\u{2581}') {
            rules.marks.push(('\u{2581}', Letter::REWRITTEN));
        }
        // A piece that is one character is copied, unless it starts a longer one.
        for piece in user_defined.clone() {
            let Some((first, len)) = decode_strict(piece) else { return false };
            let others = user_defined.clone().filter(|other| other.starts_with(&piece[..len]));
            let is_copied = piece.len() == len && others.count() == 1;
            let is_key = rules.marks.iter().any(|&(char, flag)| char == first && flag != Letter::FOLLOWS);
            if !is_copied || is_key {
                rules.marks.push((first, Letter::REWRITTEN));
            }
        }
        self.mark(rules.marks);
        (0..128u8).all(|byte| !self.of(byte as u32).is(Letter::FOLLOWS))
    }

    /// The stretches from the cursor on; how many.
    pub fn fill_raw(
        &self,
        text: &[u8],
        cursor: &mut RawCursor,
        stretches: &mut [Stretch; STRETCHES],
    ) -> (usize, ScanStop) {
        let mut count = 0;
        let mut char = self.char_at(text, cursor.at);
        while count < STRETCHES {
            let before = *cursor;
            while char.letter.is(Letter::SPACE) && !char.letter.is(STOP) {
                *cursor = RawCursor { at: cursor.at + char.len, has_space: true };
                char = self.char_at(text, cursor.at);
            }
            if cursor.at == text.len() {
                // Spaces at the end are nothing.
                return (count, ScanStop::End);
            }
            if char.letter.is(STOP) {
                // What follows a space may be one with it.
                *cursor = if char.letter.is(Letter::FOLLOWS) { before } else { *cursor };
                return (count, ScanStop::Rewrite);
            }
            let Some((stretch, next, is_last)) = self.raw_stretch(text, *cursor, char) else {
                return (count, ScanStop::Rewrite);
            };
            stretches[count] = stretch;
            *cursor = RawCursor { at: stretch.end as usize, has_space: false };
            char = next;
            count += 1;
            if is_last {
                return (count, ScanStop::Rewrite);
            }
        }
        (count, ScanStop::Full)
    }

    /// The stretch at the cursor, where this copied character stands, the character behind it, and whether that is
    /// rewritten; None if the stretch does not end with a certain cut.
    #[inline(always)]
    fn raw_stretch(&self, text: &[u8], cursor: RawCursor, char: LetterChar) -> Option<(Stretch, LetterChar, bool)> {
        let RawCursor { at, has_space } = cursor;
        if has_space && !char.letter.is(Letter::AFTER_SPACE) {
            // The space alone, if the next character stays what it is.
            let what = self.of('\u{2581}' as u32).alone();
            let stretch = Stretch { start: at as u32, end: at as u32, what, has_space };
            return (!self.follows(text, at + char.len)).then_some((stretch, char, false));
        }
        let (stretch, next) = self.stretch(text, at, char, has_space, Letter::NOT_COPIED);
        let end = stretch.end as usize;
        if end == text.len() {
            return Some((stretch, next, false));
        }
        if next.letter.is(Letter::FOLLOWS) {
            return None;
        }
        let is_certain = !next.letter.is(Letter::REWRITTEN) && !self.follows(text, end + next.len);
        (is_certain || !char.letter.joins()).then_some((stretch, next, !is_certain))
    }

    /// Whether the character at `at` may be one with what is before it.
    #[inline]
    fn follows(&self, text: &[u8], at: usize) -> bool {
        text.get(at).is_some_and(|&byte| byte >= 128) && self.char_at(text, at).letter.is(Letter::FOLLOWS)
    }

    /// Normalizes from the cursor up to the next certain cut, into `out`.
    pub fn rewrite(
        &self,
        normalizer: &SentencePieceNormalizer,
        text: &[u8],
        cursor: &mut RawCursor,
        out: &mut Vec<u8>,
    ) {
        out.clear();
        let mut after_space = cursor.has_space;
        out.extend_from_slice(if after_space { space_mark::BYTES } else { b"" });
        while cursor.at < text.len() {
            let (output, consumed) = normalizer.step(&text[cursor.at..]);
            let spaces = if after_space { output.iter().take_while(|&&byte| byte == b' ').count() } else { 0 };
            let kept = &output[spaces..];
            for &byte in kept {
                out.extend_from_slice(if byte == b' ' { space_mark::BYTES } else { std::slice::from_ref(&byte) });
            }
            after_space = kept.last().map_or(after_space, |&last| last == b' ');
            cursor.at += consumed;
            if cursor.at < text.len() && !out.ends_with(space_mark::BYTES) && self.is_cut(out, text, cursor.at) {
                *cursor = RawCursor { at: cursor.at, has_space: false };
                return;
            }
        }
        while out.ends_with(space_mark::BYTES) {
            out.truncate(out.len() - space_mark::BYTES.len());
        }
    }

    /// Whether there is a certain cut between normalized text and what is still to be normalized.
    fn is_cut(&self, normalized: &[u8], text: &[u8], at: usize) -> bool {
        let next = self.char_at(text, at);
        if next.letter.is(STOP) || self.follows(text, at + next.len) {
            return false;
        }
        let is_start = |&place: &usize| normalized[place] & 0xC0 != 0x80;
        let tail = normalized.len().saturating_sub(4)..normalized.len();
        let Some(last) = tail.rev().find(is_start).map(|place| &normalized[place..]) else { return false };
        // A character that is cut off would be walked on into what follows.
        let whole = decode_strict(last).filter(|&(_, len)| len == last.len());
        whole.is_some_and(|(left, _)| next.letter.is(Letter::SPACE) || !self.joins(left as u32, next.code))
    }
}

/// What rules do with characters.
struct LetterRules {
    marks: Vec<(char, u32)>,
    is_fine: bool,
}

impl LetterRules {
    fn add(&mut self, key: &KeyChar) {
        if let Some(text) = key.replacement {
            let written = text.len() + 2 * text.iter().filter(|&&byte| byte == b' ').count();
            self.is_fine &= written <= MOST_GROWTH * key.len;
        }
        match key.replacement {
            _ if !key.is_first => self.marks.push((key.char, Letter::FOLLOWS)),
            Some(b" ") => self.marks.push((key.char, Letter::SPACE)),
            Some(_) => self.marks.push((key.char, Letter::REWRITTEN)),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
