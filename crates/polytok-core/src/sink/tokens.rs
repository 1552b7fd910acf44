//! Tokens with their spans, their words, and the text of those that stand for other text than their entry's.

use crate::normalize::origin::Place;
use crate::post::{Out, Sink};
use crate::token_id::TokenId;

/// A token and the bytes of the original text it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The id.
    pub id: TokenId,
    /// First byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
    /// The number of the piece it belongs to; special tokens are pieces too. None for the template's tokens, and if numbers were not asked for.
    pub word: Option<u32>,
    /// The text it stands for, if that is not its entry's.
    pub said: Option<Box<Said>>,
}

/// The text that a token stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The normalized text of an unknown token.
    Unknown(Vec<u8>),
    /// The text in which a special token was recognised: normalized if it is searched for so, and with the white space it takes.
    Found(Vec<u8>),
}

impl Token {
    /// The normalized text of an unknown token.
    pub fn unknown(&self) -> Option<&[u8]> {
        if let Some(Said::Unknown(text)) = self.said.as_deref() { Some(text) } else { None }
    }

    /// The text in which a special token was recognised.
    pub fn found(&self) -> Option<&[u8]> {
        if let Some(Said::Found(text)) = self.said.as_deref() { Some(text) } else { None }
    }
}

/// Collects tokens.
#[derive(Default)]
pub struct Tokens {
    needs_words: bool,
    tokens: Vec<Token>,
    place: Place,
    words: u32,
}

impl Tokens {
    /// With the numbers of their words, or without.
    pub fn new(needs_words: bool) -> Tokens {
        Tokens { needs_words, ..Tokens::default() }
    }

    /// No tokens yet, with room for `count`.
    pub fn with_room(count: usize) -> Tokens {
        Tokens { tokens: Vec::with_capacity(count), ..Tokens::default() }
    }

    /// Adds tokens of another encoding.
    pub fn extend(&mut self, tokens: &[Token]) {
        self.tokens.extend_from_slice(tokens);
    }

    /// The tokens.
    pub fn finish(self) -> Vec<Token> {
        self.tokens
    }

    fn word(&self) -> Option<u32> {
        self.words.checked_sub(1).filter(|_| self.needs_words)
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
        self.words += 1;
    }

    fn push(&mut self, id: TokenId, start: u32, end: u32) {
        let (start, end) = self.place.original(start, end);
        self.tokens.push(Token { id, start, end, word: self.word(), said: None });
    }

    fn insert(&mut self, ids: &[TokenId], at: u32) {
        let inserted = |&id| Token { id, start: at, end: at, word: None, said: None };
        self.tokens.extend(ids.iter().map(inserted));
    }

    fn push_unknown(&mut self, id: TokenId, text: &[u8], start: u32, end: u32) {
        let (start, end) = self.place.original(start, end);
        self.tokens.push(Token {
            id,
            start,
            end,
            word: self.word(),
            said: Some(Box::new(Said::Unknown(text.to_vec()))),
        });
    }

    fn extend_unknown(&mut self, text: &[u8], start: u32, end: u32) {
        let (_, end) = self.place.original(start, end);
        if let Some(last) = self.tokens.last_mut() {
            last.end = end;
            match last.said.as_deref_mut() {
                Some(Said::Unknown(before) | Said::Found(before)) => before.extend_from_slice(text),
                None => last.said = Some(Box::new(Said::Unknown(text.to_vec()))),
            }
        }
    }

    fn special(&mut self, id: TokenId, text: &[u8], start: u32, end: u32) {
        self.words += 1;
        self.tokens.push(Token { id, start, end, word: self.word(), said: Some(Box::new(Said::Found(text.to_vec()))) });
    }
}
