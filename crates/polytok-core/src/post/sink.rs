//! The receivers of tokens. A [`Sink`] receives tokens one by one, each with its span. An [`IdSink`] needs only ids, so
//! many ids can be copied from the cache in one call. Only an `IdSink` has [`IdSink::push_all`], so a call of
//! `push_all` never loses spans that a caller needs.

use super::Out;
use crate::normalize::origin::Place;
use crate::token_id::TokenId;

/// A receiver of tokens, from left to right.
pub trait Sink: Sized {
    /// The type of this sink if it needs only ids; otherwise any `IdSink`.
    type Ids: IdSink;

    /// Returns `out` itself if this sink needs only ids.
    fn by_ids<'o, 'a>(out: &'o mut Out<'a, Self>) -> Option<&'o mut Out<'a, Self::Ids>>;

    /// Starts a part of the text; `_place` is its place in the caller's text.
    fn begin_part(&mut self, _place: Place) {}

    /// Reports whether the sink uses the calls of `begin_word`.
    fn needs_words(&self) -> bool {
        false
    }

    /// Starts a piece.
    fn begin_word(&mut self) {}

    /// Adds a token that covers the bytes from `start` to `end` of the normalized text.
    fn push(&mut self, id: TokenId, start: u32, end: u32);

    /// Adds tokens that cover a text without gaps: each token starts at the end of the token before it.
    fn push_tiles(&mut self, ids: &[TokenId], ends: &[u32]) {
        let mut start = 0;
        for (&id, &end) in ids.iter().zip(ends) {
            self.push(id, start, end);
            start = end;
        }
    }

    /// Adds ids of the template, which have an empty span at byte `at`.
    fn insert(&mut self, ids: &[TokenId], at: u32);

    /// Adds the unknown token that covers `_text`.
    fn push_unknown(&mut self, id: TokenId, _text: &[u8], start: u32, end: u32) {
        self.push(id, start, end);
    }

    /// Adds more unknown text to the last token, which is unknown.
    fn extend_unknown(&mut self, _text: &[u8], _start: u32, _end: u32) {}

    /// Adds a special token, which was recognised as `text`. The span is a range of the caller's text.
    fn push_special(&mut self, id: TokenId, text: &[u8], start: u32, end: u32);
}

/// A sink that needs only ids.
pub trait IdSink: Sink<Ids = Self> {
    /// Adds many ids.
    fn push_all(&mut self, ids: &[TokenId]);
}
