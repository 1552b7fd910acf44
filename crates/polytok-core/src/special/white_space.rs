//! Finds the white space around special tokens, which `lstrip` and `rstrip` add to the tokens.
//!
//! Reference: `space_leftmost_at_end` and `space_rightmost_at_start` of tokenizers. The reference scans a run of white
//! space again for each token in the run, which is quadratic if the run consists of tokens. Here a scan to the left
//! stops at the end of the previous token, and the scanner stores the last run that it has scanned to the right. Cost:
//! each character of a text is read at most once per direction, and one more character per token.

use std::ops::Range;

use crate::utf8::{decode_strict, is_continuation, is_start};

/// A scanner of the white space around the tokens of one text; the tokens must be passed from left to right.
pub(super) struct WhiteSpaceScanner<'a> {
    text: &'a [u8],
    /// The range of the last run of white space that was scanned to the right.
    last_run: Range<usize>,
    /// The number of characters that were read.
    #[cfg(test)]
    pub chars_read: usize,
}

impl WhiteSpaceScanner<'_> {
    pub fn new(text: &[u8]) -> WhiteSpaceScanner<'_> {
        WhiteSpaceScanner {
            text,
            last_run: 0..0,
            #[cfg(test)]
            chars_read: 0,
        }
    }

    /// Returns the start of the white space that ends at `end`; the start is not before `from`.
    pub fn find_start(&mut self, end: usize, from: usize) -> usize {
        let mut start = end;
        while start > from {
            self.count_char();
            match last_char(&self.text[..start]) {
                Some((at, character)) if character.is_whitespace() => start = at,
                _ => break,
            }
        }
        start.max(from)
    }

    /// Returns the end of the white space that starts at `start`. `start` never decreases from one call to the next.
    pub fn find_end(&mut self, start: usize) -> usize {
        // The bytes of a token need not be UTF-8, so a token can end inside of a character of the run.
        if self.last_run.contains(&start) && is_continuation(self.text[start]) {
            return start;
        }
        if !self.last_run.contains(&start) {
            self.last_run = start..self.scan_right(start);
        }
        self.last_run.end
    }

    fn scan_right(&mut self, start: usize) -> usize {
        let mut end = start;
        loop {
            self.count_char();
            match first_char(&self.text[end..]) {
                Some((character, len)) if character.is_whitespace() => end += len,
                _ => return end,
            }
        }
    }

    /// In tests, counts the characters that the scanner reads.
    #[inline]
    fn count_char(&mut self) {
        #[cfg(test)]
        {
            self.chars_read += 1;
        }
    }
}

/// Reports whether a word character is directly before `start` or directly after `end`. Bytes that are not UTF-8 are
/// not word characters.
pub(super) fn is_next_to_word(text: &[u8], start: usize, end: usize) -> bool {
    let before = last_char(&text[..start]).map(|(_, character)| character);
    let after = first_char(&text[end..]).map(|(character, _)| character);
    [before, after].into_iter().flatten().any(regex_syntax::is_word_character)
}

/// Returns the last character of a text and its offset; None if the text does not end with a character.
fn last_char(text: &[u8]) -> Option<(usize, char)> {
    let from = (1..=text.len().min(4)).map(|back| text.len() - back).find(|&at| is_start(text[at]))?;
    let character = std::str::from_utf8(&text[from..]).ok()?.chars().next()?;
    Some((from, character))
}

/// Returns the first character of a text and its length; None if the text does not start with a character.
fn first_char(text: &[u8]) -> Option<(char, usize)> {
    if text.is_empty() { None } else { decode_strict(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_found_on_both_sides() {
        let mut space = WhiteSpaceScanner::new("a \u{3000}\n<s>\t b".as_bytes());
        assert_eq!(space.find_start(6, 0), 1);
        assert_eq!(space.find_start(6, 5), 5);
        assert_eq!(space.find_start(6, 6), 6);
        assert_eq!(space.find_end(9), 11);
        assert_eq!(space.find_end(10), 11);
        assert_eq!(space.find_end(11), 11);
    }

    #[test]
    fn bytes_within_a_character_are_not_white_space() {
        let text = " \u{3000} a".as_bytes();
        let mut space = WhiteSpaceScanner::new(text);
        assert_eq!(space.find_end(0), 5);
        assert_eq!(space.find_end(2), 2);
        assert_eq!(space.find_end(3), 3);
        assert_eq!(space.find_end(4), 5);
        assert_eq!(space.find_start(3, 0), 3);
        // The white space character that ends at byte 4 starts before `from`, so the result is `from`.
        assert_eq!(space.find_start(4, 2), 2);
    }

    #[test]
    fn a_run_is_scanned_once_in_each_direction() {
        let n = 1_000_000;
        let text = vec![b' '; n];
        let mut space = WhiteSpaceScanner::new(&text);
        for at in 0..n {
            assert_eq!(space.find_end(at), n);
        }
        assert!(space.chars_read <= n + 1, "{} characters", space.chars_read);
        let mut space = WhiteSpaceScanner::new(&text);
        for at in (0..n).step_by(2) {
            assert_eq!(space.find_start(at + 1, at), at);
        }
        assert!(space.chars_read <= n, "{} characters", space.chars_read);
    }
}
