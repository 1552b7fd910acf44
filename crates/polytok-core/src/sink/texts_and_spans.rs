//! A sink that stores ids and spans as columns, and the texts of the few tokens whose text differs from the text of
//! their vocabulary entry.

use polytok_memory::{Copied, Grow};

use super::{OwnText, Spans};
use crate::normalize::origin::Place;
use crate::normalize::output::Span;
use crate::post::{Out, Sink};
use crate::token_id::TokenId;

/// Ids and spans of tokens, and the texts of some of them.
#[derive(Default)]
pub struct TextsAndSpans {
    /// The tokens.
    pub spans: Spans,
    /// The indexes of the tokens with a text of their own, in rising order, and these texts.
    pub own_texts: Vec<(usize, OwnText)>,
}

impl TextsAndSpans {
    /// Returns no tokens, with room for the tokens of a text of `byte_count` bytes.
    pub fn with_room(byte_count: usize) -> TextsAndSpans {
        TextsAndSpans { spans: Spans::with_room(byte_count), own_texts: Vec::new() }
    }

    /// Sets the text of the last token.
    fn set_text(&mut self, text: OwnText) {
        self.own_texts.checked_push((self.spans.ids.len() - 1, text));
    }
}

impl Sink for TextsAndSpans {
    type Ids = Vec<u32>;

    #[inline]
    fn by_ids<'o, 'a>(_out: &'o mut Out<'a, Self>) -> Option<&'o mut Out<'a, Vec<u32>>> {
        None
    }

    fn begin_part(&mut self, place: Place) {
        self.spans.begin_part(place);
    }

    #[inline]
    fn push(&mut self, id: TokenId, start: u32, end: u32) {
        self.spans.push(id, start, end);
    }

    fn push_many(&mut self, ids: &[TokenId], spans: &[Span]) {
        self.spans.push_many(ids, spans);
    }

    fn push_adjacent(&mut self, ids: &[TokenId], ends: &[u32]) {
        self.spans.push_adjacent(ids, ends);
    }

    fn insert(&mut self, ids: &[TokenId], at: u32) {
        self.spans.insert(ids, at);
    }

    fn push_unknown(&mut self, id: TokenId, text: &[u8], start: u32, end: u32) {
        self.spans.push_unknown(id, text, start, end);
        self.set_text(OwnText::Unknown(text.checked_to_vec()));
    }

    fn extend_unknown(&mut self, text: &[u8], start: u32, end: u32) {
        self.spans.extend_unknown(text, start, end);
        let token_count = self.spans.ids.len();
        match self.own_texts.last_mut().filter(|(at, _)| at + 1 == token_count) {
            Some((_, OwnText::Unknown(own_text) | OwnText::Special(own_text))) => {
                own_text.checked_extend_from_slice(text)
            }
            None if token_count > 0 => self.set_text(OwnText::Unknown(text.checked_to_vec())),
            None => {}
        }
    }

    fn push_special(&mut self, id: TokenId, text: &[u8], start: u32, end: u32) {
        self.spans.push_special(id, text, start, end);
        self.set_text(OwnText::Special(text.checked_to_vec()));
    }
}
