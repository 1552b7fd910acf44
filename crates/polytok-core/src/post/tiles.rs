//! The tokens of a text that they cover without gaps, with ends that were computed from lengths (post/lengths.rs).

use polytok_memory::Grow;

use crate::post::{Out, Sink};
use crate::token_id::TokenId;

/// The tokens of a text that they cover without gaps, and the starts of the pieces of this text.
#[derive(Default)]
pub struct Tiles {
    /// The id of each token.
    pub ids: Vec<u32>,
    /// The end of each token.
    pub ends: Vec<u32>,
    /// The starts of the pieces of the split.
    pub word_starts: Vec<u32>,
}

impl Tiles {
    /// Removes the tokens and words.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.ends.clear();
        self.word_starts.clear();
    }

    /// Writes the tokens to a sink, and the starts of the pieces if the sink needs words. If `covers_first` is true, a
    /// first token that covers no text, because it is an inserted space, has the span of the first character.
    pub fn send<S: Sink>(&self, covers_first: bool, sink: &mut S) {
        let (mut ids, mut ends) = (TokenId::slice_of(&self.ids), &self.ends[..]);
        let mut words = self.word_starts.iter().peekable();
        if let ([first, later_ids @ ..], [0, later_ends @ ..]) = (ids, ends)
            && covers_first
        {
            words.next_if(|_| sink.needs_words()).inspect(|_| sink.begin_word());
            sink.push(*first, 0, 1);
            (ids, ends) = (later_ids, later_ends);
        }
        if !sink.needs_words() {
            return sink.push_adjacent(ids, ends);
        }
        let mut start = 0;
        for (&id, &end) in ids.iter().zip(ends) {
            while words.next_if(|&&word| word <= start).is_some() {
                sink.begin_word();
            }
            sink.push(id, start, end);
            start = end;
        }
        words.for_each(|_| sink.begin_word());
    }

    /// Frees the buffers with a capacity of more than `kept` numbers.
    pub fn release(&mut self, kept: usize) {
        for buffer in [&mut self.ids, &mut self.ends, &mut self.word_starts] {
            if buffer.capacity() > kept {
                *buffer = Vec::new();
            }
        }
    }
}

/// Receives tokens that cover a text without gaps. The starts of the tokens have no meaning.
impl Sink for Tiles {
    type Ids = Vec<u32>;

    #[inline]
    fn by_ids<'o, 'a>(_out: &'o mut Out<'a, Self>) -> Option<&'o mut Out<'a, Vec<u32>>> {
        None
    }

    fn needs_own_texts(&self) -> bool {
        false
    }

    #[inline]
    fn push(&mut self, id: TokenId, _start: u32, end: u32) {
        self.ids.checked_push(id.0);
        self.ends.checked_push(end);
    }

    fn insert(&mut self, ids: &[TokenId], at: u32) {
        ids.iter().for_each(|&id| self.push(id, at, at));
    }

    fn extend_unknown(&mut self, _text: &[u8], _start: u32, end: u32) {
        if let Some(last) = self.ends.last_mut() {
            *last = end;
        }
    }

    fn push_special(&mut self, id: TokenId, _text: &[u8], start: u32, end: u32) {
        self.push(id, start, end);
    }
}
