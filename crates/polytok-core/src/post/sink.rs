//! What takes tokens. There are two kinds: a [`Sink`] takes tokens one by one, each with its span; an [`IdSink`] needs ids alone, so
//! they may come from the cache, many at once. Only an `IdSink` has [`IdSink::push_all`], so no bulk write can lose the spans that
//! somebody asked for.

use super::Out;
use crate::normalize::origin::Place;
use crate::token_id::TokenId;

/// Takes tokens, left to right.
pub trait Sink: Sized {
    /// This sink if it needs ids alone, else any.
    type Ids: IdSink;

    /// The same output if this sink needs ids alone.
    fn by_ids<'o, 'a>(out: &'o mut Out<'a, Self>) -> Option<&'o mut Out<'a, Self::Ids>>;

    /// What follows is a text of its own.
    fn begin_part(&mut self, _place: Place) {}

    /// Whether `begin_word` matters.
    fn needs_words(&self) -> bool {
        false
    }

    /// What follows is a piece of its own.
    fn begin_word(&mut self) {}

    /// An id that covers this part of the normalized text.
    fn push(&mut self, id: TokenId, start: u32, end: u32);

    /// Ids that cover a text without gaps: each starts where the one before it ends.
    fn push_tiles(&mut self, ids: &[TokenId], ends: &[u32]) {
        let mut start = 0;
        for (&id, &end) in ids.iter().zip(ends) {
            self.push(id, start, end);
            start = end;
        }
    }

    /// Ids of the template, which stand at byte `at` and cover nothing.
    fn insert(&mut self, ids: &[TokenId], at: u32);

    /// The unknown id that covers `text`.
    fn push_unknown(&mut self, id: TokenId, _text: &[u8], start: u32, end: u32) {
        self.push(id, start, end);
    }

    /// More unknown text that belongs to the last unknown id.
    fn extend_unknown(&mut self, _text: &[u8], _start: u32, _end: u32) {}

    /// A special token and the text it was recognised in; its span is in the caller's text.
    fn special(&mut self, id: TokenId, text: &[u8], start: u32, end: u32);
}

/// A sink that needs ids alone.
pub trait IdSink: Sink<Ids = Self> {
    /// Takes ids, many at once.
    fn push_all(&mut self, ids: &[TokenId]);
}
