//! The receivers of tokens. A [`Sink`] receives each token with its span. An [`IdSink`] receives only ids, so many ids
//! can be copied from the cache in one call of [`IdSink::push_all`]. A sink that needs spans has no `push_all`, so it
//! cannot lose spans.

use super::Out;
use crate::normalize::origin::Place;
use crate::normalize::output::Span;
use crate::token_id::TokenId;

/// A receiver of the tokens of a text, from left to right.
pub trait Sink: Sized {
    /// This type if it needs only ids; otherwise any `IdSink`.
    type Ids: IdSink;

    /// Returns `out` itself if this sink needs only ids.
    fn by_ids<'o, 'a>(out: &'o mut Out<'a, Self>) -> Option<&'o mut Out<'a, Self::Ids>>;

    /// Starts a part of the text; `_place` maps offsets in this part to the caller's text.
    fn begin_part(&mut self, _place: Place) {}

    /// Reports whether `begin_word` must be called at the start of each piece.
    fn needs_words(&self) -> bool {
        false
    }

    /// Reports whether `push_unknown` must be called for unknown tokens, because the sink needs their texts.
    fn needs_own_texts(&self) -> bool {
        true
    }

    /// Starts a piece.
    fn begin_word(&mut self) {}

    /// Adds a token that covers the bytes from `start` to `end` of the normalized text.
    fn push(&mut self, id: TokenId, start: u32, end: u32);

    /// Adds many tokens, as `push` adds one.
    fn push_many(&mut self, ids: &[TokenId], spans: &[Span]) {
        ids.iter().zip(spans).for_each(|(&id, &(start, end))| self.push(id, start, end));
    }

    /// Adds tokens that cover a text without gaps: each token starts at the end of the token before it.
    fn push_adjacent(&mut self, ids: &[TokenId], ends: &[u32]) {
        let mut start = 0;
        for (&id, &end) in ids.iter().zip(ends) {
            self.push(id, start, end);
            start = end;
        }
    }

    /// Adds ids of the template, each with an empty span at byte `at` of the text.
    fn insert(&mut self, ids: &[TokenId], at: u32);

    /// Adds the unknown token that covers `_text`.
    fn push_unknown(&mut self, id: TokenId, _text: &[u8], start: u32, end: u32) {
        self.push(id, start, end);
    }

    /// Adds unknown text to the last token, which is the unknown token.
    fn extend_unknown(&mut self, _text: &[u8], _start: u32, _end: u32) {}

    /// Adds a special token that was found as `text`. The span is a range of the caller's text.
    fn push_special(&mut self, id: TokenId, text: &[u8], start: u32, end: u32);
}

/// A sink that needs only ids.
pub trait IdSink: Sink<Ids = Self> {
    /// Adds many ids.
    fn push_all(&mut self, ids: &[TokenId]);
}
