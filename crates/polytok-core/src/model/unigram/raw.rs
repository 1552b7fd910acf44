//! Splits a text into runs of letters before normalization, because the normalizer only copies most of the text.
//!
//! SentencePiece's normalizer processes a text in steps: a step replaces the longest key of the rules, or copies one
//! character. A character is certainly copied if the character alone is not a key and the next character is not a later
//! character of any key. A character that a rule replaces by a single space is a space. The normalizer replaces
//! consecutive spaces by one U+2581, and removes spaces at the end of the text. So copied characters are split here at
//! the same boundaries as in the normalized text (`letters`), and a flag records the U+2581 before a run.
//!
//! If a character is neither copied nor a space, the scan stops (`ScanStop`) at the last boundary that later text
//! cannot change. From there the normalizer's steps run until the next boundary before a copied character (`rewrite`).
//! A boundary requires that neither of the two adjacent characters can be rewritten, and that neither is followed by a
//! later character of a key. A character that is in no longer piece has a boundary on both sides, whatever its
//! neighbours are.
//!
//! Blocks of ASCII text, in which most runs are copied, are split 64 bytes at a time (raw/ascii.rs).
//!
//! Cost: linear. Worst input: a text whose characters are all rewritten; its cost is that of normalization. Twin: the
//! normalized text.

mod ascii;

use polytok_memory::Grow;

use super::letters::{Letter, LetterChar, LetterRun, Letters, RUN_BATCH};
use crate::boundary::ascii_joins::BLOCK_LEN;
use crate::normalize::charsmap::KeyChar;
use crate::normalize::sentencepiece::{OffsetMap, SentencePieceNormalizer};
use crate::space_mark;
use crate::utf8::decode_strict;

/// The flags of characters at which the scan of copied characters stops.
const STOP_FLAGS: u32 = Letter::REWRITTEN | Letter::FOLLOWS;

/// The largest number of bytes of a text that is split before normalization, so that no sum of lengths overflows.
pub(super) const MAX_TEXT_BYTES: usize = 1 << 26;

/// The largest growth of text by a rule, in bytes per byte. So no text exceeds the normalizer's limit.
const MAX_GROWTH: usize = 30;

/// The position of the scan in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawCursor {
    pub at: usize,
    /// True if a space before the position belongs to the next run.
    pub has_space: bool,
}

/// The reason why a scan stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanStop {
    /// The batch of runs is full.
    Full,
    /// The normalizer must process the text from the cursor on.
    Rewrite,
    /// The text ends.
    End,
}

impl Letters {
    /// Records the normalizer's rules in the flags of each character. Returns false if texts must be normalized first.
    pub fn add_normalizer<'a>(
        &mut self,
        normalizer: &SentencePieceNormalizer,
        user_defined: impl Iterator<Item = &'a [u8]> + Clone,
        mut pieces: impl Iterator<Item = &'a [u8]>,
    ) -> bool {
        let mut rules = LetterRules {
            flags: vec![(' ', Letter::SPACE), ('\0', Letter::REWRITTEN)],
            is_supported: normalizer.has_usual_options(),
        };
        let is_listed = normalizer.charsmap().is_none_or(|map| map.for_each_char(&mut |char| rules.add(&char)));
        if !is_listed
            || !rules.is_supported
            || pieces.any(|piece| piece.windows(3).skip(1).any(|part| part == space_mark::BYTES))
        {
            return false;
        }
        if !rules.flags.iter().any(|&(char, _)| char == '\u{2581}') {
            rules.flags.checked_push(('\u{2581}', Letter::REWRITTEN));
        }
        // A user-defined piece of one character is copied, unless a longer user-defined piece starts with the
        // character.
        for piece in user_defined.clone() {
            let Some((first_char, len)) = decode_strict(piece) else { return false };
            let with_same_start = user_defined.clone().filter(|other| other.starts_with(&piece[..len]));
            let is_copied = piece.len() == len && with_same_start.count() == 1;
            let is_key = rules.flags.iter().any(|&(char, flag)| char == first_char && flag != Letter::FOLLOWS);
            if !is_copied || is_key {
                rules.flags.checked_push((first_char, Letter::REWRITTEN));
            }
        }
        self.add_flags(rules.flags);
        (0..128u8).all(|byte| !self.letter(byte as u32).has_any(Letter::FOLLOWS))
    }

    /// Finds the runs from the cursor on. Returns the number of runs, and why the scan stopped.
    pub fn fill_raw_runs(
        &self,
        text: &[u8],
        cursor: &mut RawCursor,
        runs: &mut [LetterRun; RUN_BATCH],
    ) -> (usize, ScanStop) {
        let (mut count, mut char) = (0, self.char_at(text, cursor.at));
        while let Some(free_runs) = runs[count..].first_chunk_mut::<BLOCK_LEN>() {
            if let Some((block_count, end)) = self.fill_ascii_runs(text, *cursor, free_runs) {
                (cursor.at, char) = (end, self.char_at(text, end));
                count += block_count;
                continue;
            }
            let cursor_before_spaces = *cursor;
            while char.letter.has_any(Letter::SPACE) && !char.letter.has_any(STOP_FLAGS) {
                *cursor = RawCursor { at: cursor.at + char.len, has_space: true };
                char = self.char_at(text, cursor.at);
            }
            if cursor.at == text.len() {
                // The normalizer removes spaces at the end of the text.
                return (count, ScanStop::End);
            }
            let Some((run, next, is_last)) = self.next_raw_run(text, *cursor, char) else {
                // A rule can replace the space together with this character.
                *cursor = if char.letter.has_any(Letter::FOLLOWS) { cursor_before_spaces } else { *cursor };
                return (count, ScanStop::Rewrite);
            };
            (free_runs[0], char) = (run, next);
            *cursor = RawCursor { at: run.end as usize, has_space: false };
            count += 1;
            if is_last {
                return (count, ScanStop::Rewrite);
            }
        }
        (count, ScanStop::Full)
    }

    /// Returns the run at the cursor, which starts with the character `char`; the character after the run; and whether
    /// the normalizer must continue there. Returns None if the character is not copied, or if the end of the run is not
    /// certainly a boundary.
    #[inline(always)]
    fn next_raw_run(&self, text: &[u8], cursor: RawCursor, char: LetterChar) -> Option<(LetterRun, LetterChar, bool)> {
        let RawCursor { at, has_space } = cursor;
        if char.letter.has_any(STOP_FLAGS) {
            return None;
        }
        if has_space && !char.letter.has_any(Letter::AFTER_SPACE) {
            // The space is a run of its own, if the next character is certainly copied.
            let kind = self.letter('\u{2581}' as u32).single_kind();
            let run = LetterRun { start: at as u32, end: at as u32, kind, has_space };
            return (!self.follows(text, at + char.len)).then_some((run, char, false));
        }
        let (run, next) = self.next_run(text, at, char, has_space, Letter::NOT_COPIED);
        let end = run.end as usize;
        if end == text.len() {
            return Some((run, next, false));
        }
        if next.letter.has_any(Letter::FOLLOWS) {
            return None;
        }
        let is_certain = !next.letter.has_any(Letter::REWRITTEN) && !self.follows(text, end + next.len);
        (is_certain || !char.letter.can_join()).then_some((run, next, !is_certain))
    }

    /// Reports whether a rule can replace the character at `at` together with the character before.
    #[inline]
    fn follows(&self, text: &[u8], at: usize) -> bool {
        text.get(at).is_some_and(|&byte| byte >= 128) && self.char_at(text, at).letter.has_any(Letter::FOLLOWS)
    }

    /// Normalizes the text from the cursor to the next boundary, into `out`. Writes the offset of each byte to
    /// `offsets`, and then the offset of the byte after the part.
    pub fn rewrite(
        &self,
        normalizer: &SentencePieceNormalizer,
        text: &[u8],
        cursor: &mut RawCursor,
        out: &mut Vec<u8>,
        offsets: &mut impl OffsetMap,
    ) {
        out.clear();
        let mut is_after_space = cursor.has_space;
        out.checked_extend_from_slice(if is_after_space { space_mark::BYTES } else { b"" });
        offsets.add_bytes(cursor.at, out.len());
        while cursor.at < text.len() {
            let (output, bytes_read) = normalizer.step(&text[cursor.at..]);
            let leading_spaces =
                if is_after_space { output.iter().take_while(|&&byte| byte == b' ').count() } else { 0 };
            let appended = &output[leading_spaces..];
            for &byte in appended {
                let written = if byte == b' ' { space_mark::BYTES } else { std::slice::from_ref(&byte) };
                out.checked_extend_from_slice(written);
                offsets.add_bytes(cursor.at, written.len());
            }
            is_after_space = appended.last().map_or(is_after_space, |&last| last == b' ');
            cursor.at += bytes_read;
            if cursor.at < text.len() && !out.ends_with(space_mark::BYTES) && self.is_boundary(out, text, cursor.at) {
                *cursor = RawCursor { at: cursor.at, has_space: false };
                return offsets.add_bytes(cursor.at, 1);
            }
        }
        let mut end = cursor.at;
        while out.ends_with(space_mark::BYTES) {
            out.truncate(out.len() - space_mark::BYTES.len());
            end = offsets.truncate_to(out.len()).unwrap_or(end);
        }
        offsets.add_bytes(end, 1);
    }

    /// Reports whether there is a boundary between the normalized text and the text from `at` on, which is not
    /// normalized.
    fn is_boundary(&self, normalized: &[u8], text: &[u8], at: usize) -> bool {
        let next = self.char_at(text, at);
        if next.letter.has_any(STOP_FLAGS) || self.follows(text, at + next.len) {
            return false;
        }
        let is_start = |&offset: &usize| normalized[offset] & 0xC0 != 0x80;
        let tail = normalized.len().saturating_sub(4)..normalized.len();
        let Some(last_bytes) = tail.rev().find(is_start).map(|offset| &normalized[offset..]) else { return false };
        // The last normalized character can be incomplete, and later bytes can complete it.
        let last_char = decode_strict(last_bytes).filter(|&(_, len)| len == last_bytes.len());
        last_char.is_some_and(|(left, _)| next.letter.has_any(Letter::SPACE) || !self.joins(left as u32, next.code))
    }
}

/// The flags of characters that the normalizer's rules replace.
struct LetterRules {
    flags: Vec<(char, u32)>,
    is_supported: bool,
}

impl LetterRules {
    fn add(&mut self, key: &KeyChar) {
        if let Some(text) = key.replacement {
            let output_len = text.len() + 2 * text.iter().filter(|&&byte| byte == b' ').count();
            self.is_supported &= output_len <= MAX_GROWTH * key.len;
        }
        match key.replacement {
            _ if !key.is_first => self.flags.checked_push((key.char, Letter::FOLLOWS)),
            Some(b" ") => self.flags.checked_push((key.char, Letter::SPACE)),
            Some(_) => self.flags.checked_push((key.char, Letter::REWRITTEN)),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
