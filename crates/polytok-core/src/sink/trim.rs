//! Trims the white space at the ends of tokens from their spans, as Hugging Face's byte-level post-processors do.
//!
//! Reference: `process_offsets` of tokenizers 0.23. The reference counts the white space characters at each end of the
//! token's own text, and shortens the span at the same end by this number of characters, whatever the characters of the
//! caller's text are; a span never gets a negative length. If the normalizer inserts a space before texts
//! (`add_prefix_space`), then a single space at the start of the first token, or of a token at the start of the text,
//! stays in the span. Cost: linear in the texts of the tokens.

use crate::byte_level::char_of;
use crate::sink::Token;

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
    pub fn count_spaces(&self) -> (usize, usize) {
        let is_space = |c: &char| *c == char_of(b' ') || c.is_whitespace();
        match self {
            // The space is the only byte whose character in GPT-2's table counts as a space.
            TokenText::Bytes(bytes) => {
                let count = |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|&&byte| byte == b' ').count();
                (count(&mut bytes.iter()), count(&mut bytes.iter().rev()))
            }
            TokenText::Text(text) => {
                let text = String::from_utf8_lossy(text);
                (text.chars().take_while(is_space).count(), text.chars().rev().take_while(is_space).count())
            }
        }
    }
}

/// Trims the spans of the tokens of a text. `count_spaces` returns the number of white space characters at the start
/// and at the end of a token's text. `is_first` returns true for the index of a token that counts as the first token,
/// in which an inserted space stays.
pub fn trim(
    tokens: &mut [Token],
    text: &[u8],
    add_prefix_space: bool,
    is_first: impl Fn(usize) -> bool,
    count_spaces: impl Fn(&Token) -> (usize, usize),
) {
    for (i, token) in tokens.iter_mut().enumerate() {
        let (leading, trailing) = count_spaces(token);
        let has_inserted_space = add_prefix_space && leading == 1 && (is_first(i) || token.start == 0);
        let (mut start, mut end) = (token.start as usize, token.end as usize);
        if leading > 0 && !has_inserted_space {
            start = skip_chars_forward(text, start, leading).min(end);
        }
        if trailing > 0 {
            end = skip_chars_back(text, end, trailing).map_or(end, |offset| offset.max(start));
        }
        (token.start, token.end) = (start as u32, end as u32);
    }
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

fn is_start(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token_id::TokenId;

    fn trim_token(text: &str, piece: &str, (start, end): (u32, u32), add_prefix_space: bool) -> (u32, u32) {
        let token = |start, end| Token { id: TokenId(0), start, end, word: Some(0), own_text: None };
        let mut tokens = [token(0, 0), token(start, end)];
        tokens[1].id = TokenId(1);
        trim(
            &mut tokens,
            text.as_bytes(),
            add_prefix_space,
            |i| i == 0,
            |token| TokenText::Text(if token.id == TokenId(1) { piece.as_bytes() } else { b"" }).count_spaces(),
        );
        (tokens[1].start, tokens[1].end)
    }

    #[test]
    fn spaces_at_both_ends_are_removed() {
        assert_eq!(trim_token("a b c", "Ġb", (1, 3), true), (2, 3));
        assert_eq!(trim_token("a  b  ", "  bĠĠ", (1, 6), true), (3, 4));
        assert_eq!(trim_token("a  ", "ĠĠ", (1, 3), true), (3, 3));
    }

    #[test]
    fn one_space_at_the_start_of_the_text_stays_if_texts_get_a_space() {
        assert_eq!(trim_token(" b", "Ġb", (0, 2), true), (0, 2));
        assert_eq!(trim_token(" b", "Ġb", (0, 2), false), (1, 2));
        assert_eq!(trim_token("  b", "ĠĠb", (0, 3), true), (2, 3));
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(trim_token("a\u{3000}b", " b", (1, 5), true), (4, 5));
        assert_eq!(trim_token("é", "   ", (0, 2), false), (2, 2));
        assert_eq!(trim_token("b\u{A0}", "b ", (0, 3), true), (0, 1));
        // The text of the token ends with more spaces than the caller's text has characters, so the end of the span
        // stays.
        assert_eq!(trim_token("b", "b  ", (0, 1), true), (0, 1));
    }
}
