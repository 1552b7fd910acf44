//! A sink that stores tokens: their ids, spans and words, and the text of each token whose text differs from the text
//! of its vocabulary entry.

use polytok_memory::{self as memory, Copied, Grow};

use crate::normalize::origin::Place;
use crate::post::{Out, Sink};
use crate::token_id::TokenId;

/// A token and its span in the original text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The id of the vocabulary entry or special token.
    pub id: TokenId,
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
    /// The index of the piece that contains the token; a special token is a piece of its own. None for the tokens of
    /// the template, and for all tokens if words are not needed.
    pub word: Option<u32>,
    /// The text of the token, if this text differs from the text of the token's entry.
    pub own_text: Option<Box<OwnText>>,
}

/// The text of a token that differs from the text of the token's vocabulary entry.
#[derive(Debug, PartialEq, Eq)]
pub enum OwnText {
    /// The normalized text of an unknown token.
    Unknown(Vec<u8>),
    /// The text that was found as a special token, with the white space that `lstrip` and `rstrip` add. The text is
    /// normalized if the token is searched for in normalized text.
    Special(Vec<u8>),
}

impl Clone for OwnText {
    fn clone(&self) -> OwnText {
        match self {
            OwnText::Unknown(text) => OwnText::Unknown(text.checked_to_vec()),
            OwnText::Special(text) => OwnText::Special(text.checked_to_vec()),
        }
    }
}

impl Token {
    /// Returns the text that was found as a special token.
    pub fn special_text(&self) -> Option<&[u8]> {
        if let Some(OwnText::Special(text)) = self.own_text.as_deref() { Some(text) } else { None }
    }
}

/// A collector of tokens.
#[derive(Default)]
pub struct Tokens {
    needs_words: bool,
    tokens: Vec<Token>,
    place: Place,
    /// The number of words that have started.
    word_count: u32,
}

impl Tokens {
    /// Returns an empty collector. With `needs_words` each token gets the index of its word.
    pub fn new(needs_words: bool) -> Tokens {
        Tokens { needs_words, ..Tokens::default() }
    }

    /// Returns an empty collector with room for `count` tokens.
    pub fn with_room(count: usize) -> Tokens {
        Tokens { tokens: memory::with_capacity(count), ..Tokens::default() }
    }

    /// Adds the tokens of another encoding.
    pub fn extend(&mut self, tokens: &[Token]) {
        self.tokens.checked_extend_from_slice(tokens);
    }

    /// Returns the tokens.
    pub fn finish(self) -> Vec<Token> {
        self.tokens
    }

    /// Adds a token with a text of its own.
    fn push_with_text(&mut self, id: TokenId, start: u32, end: u32, own_text: OwnText) {
        self.tokens.checked_push(Token { id, start, end, word: self.word(), own_text: Some(Box::new(own_text)) });
    }

    /// Returns the index of the current word, if words are needed.
    fn word(&self) -> Option<u32> {
        self.word_count.checked_sub(1).filter(|_| self.needs_words)
    }
}

impl Sink for Tokens {
    type Ids = Vec<u32>;

    #[inline]
    fn by_ids<'o, 'a>(_out: &'o mut Out<'a, Self>) -> Option<&'o mut Out<'a, Vec<u32>>> {
        None
    }

    fn begin_part(&mut self, place: Place) {
        self.place = place;
    }

    fn needs_words(&self) -> bool {
        self.needs_words
    }

    fn begin_word(&mut self) {
        self.word_count += 1;
    }

    fn push(&mut self, id: TokenId, start: u32, end: u32) {
        let (start, end) = self.place.original(start, end);
        self.tokens.checked_push(Token { id, start, end, word: self.word(), own_text: None });
    }

    fn insert(&mut self, ids: &[TokenId], at: u32) {
        let inserted_token = |&id| Token { id, start: at, end: at, word: None, own_text: None };
        self.tokens.checked_extend(ids.iter().map(inserted_token));
    }

    fn push_unknown(&mut self, id: TokenId, text: &[u8], start: u32, end: u32) {
        let (start, end) = self.place.original(start, end);
        self.push_with_text(id, start, end, OwnText::Unknown(text.checked_to_vec()));
    }

    fn extend_unknown(&mut self, text: &[u8], start: u32, end: u32) {
        let (_, end) = self.place.original(start, end);
        if let Some(last) = self.tokens.last_mut() {
            last.end = end;
            match last.own_text.as_deref_mut() {
                Some(OwnText::Unknown(own_text) | OwnText::Special(own_text)) => {
                    own_text.checked_extend_from_slice(text)
                }
                None => last.own_text = Some(Box::new(OwnText::Unknown(text.checked_to_vec()))),
            }
        }
    }

    fn push_special(&mut self, id: TokenId, text: &[u8], start: u32, end: u32) {
        self.word_count += 1;
        self.push_with_text(id, start, end, OwnText::Special(text.checked_to_vec()));
    }
}
