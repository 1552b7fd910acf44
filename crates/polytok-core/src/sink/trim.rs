//! Trims the white space at the ends of tokens from their spans, as Hugging Face's byte-level post-processors do.
//!
//! Reference: `process_offsets` of tokenizers 0.23. The reference counts the white space characters at each end of the
//! token's own text, and shortens the span at the same end by this number of characters, whatever the characters of the
//! caller's text are; a span never gets a negative length. If the normalizer inserts a space before texts
//! (`add_prefix_space`), then a single space at the start of the first token, or of a token at the start of the text,
//! stays in the span. Cost: linear in the texts of the tokens.

use polytok_memory::{self as memory, Collect};

use crate::byte_level::char_of;
use crate::normalize::output::Span;
use crate::token_id::TokenId;

/// The text of a token.
pub enum TokenText<'a> {
    /// Bytes, which the reference stores as the characters of GPT-2's table.
    Bytes(&'a [u8]),
    /// Text.
    Text(&'a [u8]),
}

impl TokenText<'_> {
    /// Counts the white space characters at the start and at the end. The character for the space in GPT-2's table
    /// counts as white space.
    pub fn count_spaces(&self) -> SpaceCounts {
        let is_space = |c: &char| *c == char_of(b' ') || c.is_whitespace();
        match self {
            // The space is the only byte whose character in GPT-2's table counts as a space.
            TokenText::Bytes(bytes) => {
                let count = |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|&&byte| byte == b' ').count();
                (count(&mut bytes.iter()), count(&mut bytes.iter().rev()))
            }
            TokenText::Text(text) => {
                let text = memory::lossy(text);
                (text.chars().take_while(is_space).count(), text.chars().rev().take_while(is_space).count())
            }
        }
    }
}

/// The number of white space characters at the start and at the end of a text.
pub type SpaceCounts = (usize, usize);

/// The white space at the ends of vocabulary entries, by id.
#[derive(Default)]
pub struct EntrySpaces(Vec<(u8, u8)>);

impl EntrySpaces {
    /// Counts the white space of the entries with ids below `id_count`.
    pub fn compile(id_count: u32, count_spaces: impl Fn(TokenId) -> SpaceCounts) -> EntrySpaces {
        let byte = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
        let counts = |(leading, trailing)| (byte(leading), byte(trailing));
        EntrySpaces((0..id_count).map(|id| counts(count_spaces(TokenId(id)))).checked_collect())
    }

    /// Returns the counts of the entry with an id; None if a count is not in the table.
    #[inline]
    pub fn get(&self, id: TokenId) -> Option<SpaceCounts> {
        let &(leading, trailing) = self.0.get(id.index())?;
        (leading.max(trailing) < u8::MAX).then_some((leading as usize, trailing as usize))
    }
}

/// Trims the span of a token whose text has the white space `counts`. If `keeps_one` is true, a single space at the
/// start stays.
#[inline]
pub fn trim((start, end): Span, text: &[u8], counts: SpaceCounts, keeps_one: bool) -> Span {
    let (leading, trailing) = if keeps_one && counts.0 == 1 { (0, counts.1) } else { counts };
    // Most tokens start with at most one space and end with none. This path does not branch on the space.
    let next = start + leading as u32;
    if leading <= 1 && trailing == 0 && next <= end && is_start(text, next as usize) {
        return (next, end);
    }
    trim_chars((start as usize, end as usize), text, (leading, trailing))
}

/// Trims a span by numbers of characters at its start and at its end.
fn trim_chars((mut start, mut end): (usize, usize), text: &[u8], (leading, trailing): SpaceCounts) -> Span {
    if leading > 0 {
        start = skip_chars_forward(text, start, leading).min(end);
    }
    if trailing > 0 {
        end = skip_chars_back(text, end, trailing).map_or(end, |offset| offset.max(start));
    }
    (start as u32, end as u32)
}

/// Returns the offset that is `chars` characters after `at`, or the end of the text.
fn skip_chars_forward(text: &[u8], at: usize, chars: usize) -> usize {
    let starts = (at + 1..=text.len()).filter(|&i| is_start(text, i));
    starts.take(chars).last().unwrap_or(at)
}

/// Returns the offset that is `chars` characters before `at`; None if there are fewer characters.
fn skip_chars_back(text: &[u8], at: usize, chars: usize) -> Option<usize> {
    (0..at).rev().filter(|&i| is_start(text, i)).nth(chars - 1)
}

/// Reports whether a character or the end of the text is at byte `at`.
#[inline]
fn is_start(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trim_token(text: &str, piece: &str, span: Span, keeps_one: bool) -> Span {
        trim(span, text.as_bytes(), TokenText::Text(piece.as_bytes()).count_spaces(), keeps_one)
    }

    #[test]
    fn spaces_at_both_ends_are_removed() {
        assert_eq!(trim_token("a b c", "Ġb", (1, 3), false), (2, 3));
        assert_eq!(trim_token("a  b  ", "  bĠĠ", (1, 6), false), (3, 4));
        assert_eq!(trim_token("a  ", "ĠĠ", (1, 3), false), (3, 3));
    }

    #[test]
    fn one_space_at_the_start_of_the_text_stays_if_texts_get_a_space() {
        assert_eq!(trim_token(" b", "Ġb", (0, 2), true), (0, 2));
        assert_eq!(trim_token(" b", "Ġb", (0, 2), false), (1, 2));
        assert_eq!(trim_token("  b", "ĠĠb", (0, 3), true), (2, 3));
    }

    #[test]
    fn tokens_that_start_with_one_space_are_trimmed_by_one_character() {
        for (text, span) in
            [(" é", (0, 3)), ("éa", (0, 3)), ("éa", (1, 3)), ("é", (0, 1)), ("a ", (1, 2)), ("a", (1, 1))]
        {
            let (start, end) = (span.0 as usize, span.1 as usize);
            for leading in 0..3 {
                let expected = trim_chars((start, end), text.as_bytes(), (leading, 0));
                assert_eq!(trim(span, text.as_bytes(), (leading, 0), false), expected);
            }
        }
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(trim_token("a\u{3000}b", " b", (1, 5), false), (4, 5));
        assert_eq!(trim_token("é", "   ", (0, 2), false), (2, 2));
        assert_eq!(trim_token("b\u{A0}", "b ", (0, 3), false), (0, 1));
        // The text of the token ends with more spaces than the caller's text has characters, so the end of the span
        // stays.
        assert_eq!(trim_token("b", "b  ", (0, 1), false), (0, 1));
    }
}
