//! Spans without the white space at the ends of tokens, as Hugging Face's byte-level post-processors give them.
//!
//! Reference: `process_offsets` of tokenizers 0.23. It counts the white space at the ends of a token's own text and takes
//! as many characters off the ends of its span, whatever these characters are; the span never turns around. A single space
//! before the first token, or before any at the start of the text, stays if `add_prefix_space` says that it was put there.
//! Cost: linear in the tokens' texts.

use crate::byte_level::char_of;
use crate::sink::Token;

/// A token's own text.
pub enum TokenText<'a> {
    /// Bytes that GPT-2's table makes visible.
    Bytes(&'a [u8]),
    /// Text as it is.
    Text(&'a [u8]),
}

impl TokenText<'_> {
    /// How many spaces are at the start and at the end. The visible space is one, wherever it comes from.
    pub fn spaces(&self) -> (usize, usize) {
        let is_space = |c: &char| *c == char_of(b' ') || c.is_whitespace();
        match self {
            // No other character of the table is white space.
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

/// Trims the spans of the tokens of one text; `spaces_of` counts the spaces at both ends of a token's text. A space that was put
/// before the first token stays, and `is_first` says which tokens, by number, count as that.
pub fn trim(
    tokens: &mut [Token],
    text: &[u8],
    add_prefix_space: bool,
    is_first: impl Fn(usize) -> bool,
    spaces_of: impl Fn(&Token) -> (usize, usize),
) {
    for (i, token) in tokens.iter_mut().enumerate() {
        let (leading, trailing) = spaces_of(token);
        let is_put = add_prefix_space && leading == 1 && (is_first(i) || token.start == 0);
        let (mut start, mut end) = (token.start as usize, token.end as usize);
        if leading > 0 && !is_put {
            start = forward(text, start, leading).min(end);
        }
        if trailing > 0 {
            end = back(text, end, trailing).map_or(end, |place| place.max(start));
        }
        (token.start, token.end) = (start as u32, end as u32);
    }
}

/// The place so many characters further on.
fn forward(text: &[u8], at: usize, chars: usize) -> usize {
    let starts = (at + 1..=text.len()).filter(|&i| is_start(text, i));
    starts.take(chars).last().unwrap_or(at)
}

/// The place so many characters before; None if there are not as many.
fn back(text: &[u8], at: usize, chars: usize) -> Option<usize> {
    (0..at).rev().filter(|&i| is_start(text, i)).nth(chars - 1)
}

fn is_start(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token_id::TokenId;

    fn trimmed(text: &str, piece: &str, (start, end): (u32, u32), add_prefix_space: bool) -> (u32, u32) {
        let token = |start, end| Token { id: TokenId(0), start, end, word: Some(0), said: None };
        let mut tokens = [token(0, 0), token(start, end)];
        tokens[1].id = TokenId(1);
        trim(
            &mut tokens,
            text.as_bytes(),
            add_prefix_space,
            |i| i == 0,
            |token| TokenText::Text(if token.id == TokenId(1) { piece.as_bytes() } else { b"" }).spaces(),
        );
        (tokens[1].start, tokens[1].end)
    }

    #[test]
    fn spaces_at_both_ends_go() {
        assert_eq!(trimmed("a b c", "Ġb", (1, 3), true), (2, 3));
        assert_eq!(trimmed("a  b  ", "  bĠĠ", (1, 6), true), (3, 4));
        assert_eq!(trimmed("a  ", "ĠĠ", (1, 3), true), (3, 3));
    }

    #[test]
    fn one_space_at_the_start_of_the_text_stays_if_it_was_put_there() {
        assert_eq!(trimmed(" b", "Ġb", (0, 2), true), (0, 2));
        assert_eq!(trimmed(" b", "Ġb", (0, 2), false), (1, 2));
        assert_eq!(trimmed("  b", "ĠĠb", (0, 3), true), (2, 3));
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(trimmed("a\u{3000}b", " b", (1, 5), true), (4, 5));
        assert_eq!(trimmed("é", "   ", (0, 2), false), (2, 2));
        assert_eq!(trimmed("b\u{A0}", "b ", (0, 3), true), (0, 1));
        // More spaces at the end than there are characters before it: nothing goes.
        assert_eq!(trimmed("b", "b  ", (0, 1), true), (0, 1));
    }
}
