//! The spans of tokens that are parts of characters, in Hugging Face's BPE: such a token has the span of the whole
//! character, so the spans of the bytes of an unknown character are equal. The inserted space before a text, if it is a
//! token, has the span of the first character.

use crate::post::Sink;
use crate::sink::tiles::Tiles;
use crate::token_id::TokenId;
use crate::utf8::is_start;

/// Reports whether a token of a UTF-8 text ends inside of a character.
pub(super) fn has_parts(text: &[u8], ends: &[u32]) -> bool {
    !text.is_ascii() && ends.iter().any(|&end| is_inside_char(text, end))
}

/// Writes the tokens of a UTF-8 text, which is one word, to a sink. If `covers_first` is true, an inserted space before
/// the text has the span of the first character.
pub(super) fn push<S: Sink>(text: &[u8], covers_first: bool, tiles: &Tiles, sink: &mut S) {
    if sink.needs_words() {
        sink.begin_word();
    }
    let mut start = 0;
    for (&id, &tile_end) in TokenId::slice_of(&tiles.ids).iter().zip(&tiles.ends) {
        let (mut next_start, mut end) = (tile_end, tile_end.max(covers_first as u32));
        while is_inside_char(text, end) {
            end += 1;
        }
        while is_inside_char(text, next_start) {
            next_start -= 1;
        }
        sink.push(id, start, end);
        start = next_start;
    }
}

/// Reports whether the byte at `at` continues a character.
#[inline]
fn is_inside_char(text: &[u8], at: u32) -> bool {
    text.get(at as usize).is_some_and(|&byte| !is_start(byte))
}
