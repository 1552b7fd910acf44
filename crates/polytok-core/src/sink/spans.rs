//! A sink that stores ids and spans as columns.

use polytok_memory::{self as memory, Grow};

use crate::normalize::origin::{Origin, Place};
use crate::normalize::output::Span;
use crate::post::{Out, Sink};
use crate::token_id::TokenId;

/// Ids and spans of tokens, as columns.
#[derive(Default)]
pub struct Spans {
    /// The id of each token.
    pub ids: Vec<u32>,
    /// The offset of the first byte of each token.
    pub starts: Vec<u32>,
    /// The offset after the last byte of each token.
    pub ends: Vec<u32>,
    place: Place,
}

/// The number of bytes of text for each token that gets room at the start. English has more bytes for a token, and other
/// texts seldom have fewer.
const BYTES_PER_TOKEN: usize = 3;

impl Spans {
    /// Returns no tokens, with room for the tokens of a text of `byte_count` bytes.
    pub fn with_room(byte_count: usize) -> Spans {
        let column = || memory::with_capacity(byte_count / BYTES_PER_TOKEN + 1);
        Spans { ids: column(), starts: column(), ends: column(), place: Place::default() }
    }

    /// Adds a token.
    #[inline]
    pub fn add(&mut self, id: TokenId, (start, end): Span) {
        self.ids.checked_push(id.0);
        self.starts.checked_push(start);
        self.ends.checked_push(end);
    }

    /// Adds the tokens of another encoding.
    pub fn extend(&mut self, other: &Spans) {
        self.ids.checked_extend_from_slice(&other.ids);
        self.starts.checked_extend_from_slice(&other.starts);
        self.ends.checked_extend_from_slice(&other.ends);
    }
}

impl Sink for Spans {
    type Ids = Vec<u32>;

    #[inline]
    fn by_ids<'o, 'a>(_out: &'o mut Out<'a, Self>) -> Option<&'o mut Out<'a, Vec<u32>>> {
        None
    }

    fn begin_part(&mut self, place: Place) {
        self.place = place;
    }

    #[inline]
    fn push(&mut self, id: TokenId, start: u32, end: u32) {
        self.add(id, self.place.original(start, end));
    }

    fn needs_own_texts(&self) -> bool {
        false
    }

    fn push_many(&mut self, ids: &[TokenId], spans: &[Span]) {
        match self.place {
            Place { at, origin: Origin::Same } => {
                self.ids.checked_extend_from_slice(TokenId::numbers(ids));
                self.starts.checked_extend(spans.iter().map(|&(start, _)| at + start));
                self.ends.checked_extend(spans.iter().map(|&(_, end)| at + end));
            }
            Place { at, origin: Origin::Runs(ref rewritings) } => {
                self.ids.checked_extend_from_slice(TokenId::numbers(ids));
                let first = self.starts.len();
                self.starts.checked_extend(spans.iter().map(|&(start, _)| start));
                self.ends.checked_extend(spans.iter().map(|&(_, end)| end));
                let (starts, ends) = (&mut self.starts[first..], &mut self.ends[first..]);
                rewritings.iter().for_each(|runs| runs.convert(starts, ends));
                starts.iter_mut().chain(ends).for_each(|offset| *offset += at);
            }
            _ => ids.iter().zip(spans).for_each(|(&id, &(start, end))| self.push(id, start, end)),
        }
    }

    fn push_adjacent(&mut self, ids: &[TokenId], ends: &[u32]) {
        let Some((_, inner_ends)) = ends.split_last() else { return };
        match self.place {
            Place { at, origin: Origin::Same } => {
                self.ids.checked_extend_from_slice(TokenId::numbers(ids));
                self.starts.checked_push(at);
                self.starts.checked_extend(inner_ends.iter().map(|end| at + end));
                self.ends.checked_extend(ends.iter().map(|end| at + end));
            }
            Place { at, origin: Origin::Kept(ref text) } => {
                self.ids.checked_extend_from_slice(TokenId::numbers(ids));
                let first = self.starts.len();
                // The last start is the start of the token after these tokens, and is removed.
                self.starts.checked_resize(first + 1 + ends.len(), at);
                self.ends.checked_resize(first + ends.len(), at);
                let next_starts = &mut self.starts[first + 1..];
                for (&end, (start, slot)) in ends.iter().zip(next_starts.iter_mut().zip(&mut self.ends[first..])) {
                    let (next_start, char_end) = text.char_bounds(end);
                    (*start, *slot) = (at + next_start, at + char_end);
                }
                self.starts.pop();
            }
            _ => {
                let starts = std::iter::once(&0).chain(inner_ends);
                starts.zip(ends).zip(ids).for_each(|((&start, &end), &id)| self.push(id, start, end));
            }
        }
    }

    fn insert(&mut self, ids: &[TokenId], at: u32) {
        ids.iter().for_each(|&id| self.add(id, (at, at)));
    }

    fn extend_unknown(&mut self, _text: &[u8], start: u32, end: u32) {
        let (_, end) = self.place.original(start, end);
        if let Some(last) = self.ends.last_mut() {
            *last = end;
        }
    }

    fn push_special(&mut self, id: TokenId, _text: &[u8], start: u32, end: u32) {
        self.add(id, (start, end));
    }
}
