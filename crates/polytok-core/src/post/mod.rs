//! Segments → ids: what becomes of text that no entry covers, and the three things a caller can want of an encoding.
//!
//! Reference for unknowns: SentencePiece. With byte fallback every unknown character becomes its bytes' pieces, of which the last
//! spans the character and the others nothing; otherwise a run of unknowns is one unknown token.

use crate::error::{Error, Result};
use crate::model::{Segment, UNKNOWN};
use crate::normalize::output::Span;
use crate::spec::{Kind, Unknown};
use crate::utf8::char_len;
use crate::vocab::Vocab;

/// What becomes of unknown text.
pub enum Fallback {
    /// An error that names it.
    Error,
    /// This id, once per run.
    Unk(u32),
    /// This id, which the model gives itself and which spells what it covers (Unigram in double precision).
    Spelled(u32),
    /// Nothing.
    Drop,
    /// These ids, one per byte.
    Bytes(Box<[u32; 256]>),
}

/// Whose rules unknown text follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// SentencePiece's.
    Plain,
    /// Hugging Face's Unigram: each unknown piece prints its text.
    Pieces,
    /// llama.cpp's: a byte is whatever row spells it.
    Texts,
}

impl Fallback {
    /// Whether unknown text is an error, which says where it is.
    pub fn may_fail(&self) -> bool {
        match self {
            Fallback::Error => true,
            Fallback::Bytes(ids) => ids.contains(&UNKNOWN),
            _ => false,
        }
    }

    /// Finds the unknown piece, or the byte pieces: those of kind Byte, or what else `spelling` says.
    pub fn compile(unknown: Unknown, spelling: Spelling, vocab: &Vocab) -> Result<Fallback> {
        match unknown {
            Unknown::Error => Ok(Fallback::Error),
            Unknown::Drop => Ok(Fallback::Drop),
            Unknown::Unk => (0..vocab.len())
                .find(|&row| vocab.kind(row) == Kind::Unknown)
                .map(|row| vocab.id(row))
                .map(if spelling == Spelling::Pieces { Fallback::Spelled } else { Fallback::Unk })
                .ok_or_else(|| Error::Spec("unknown=\"unk\" needs an entry of kind UNKNOWN, and there is none".into())),
            Unknown::Bytes if spelling == Spelling::Texts => Ok(Fallback::Bytes(bytes_by_text(vocab))),
            Unknown::Bytes => {
                let mut ids = Box::new([UNKNOWN; 256]);
                for row in vocab.rows_of(Kind::Byte) {
                    let digits = vocab.bytes(row).strip_prefix(b"<0x").and_then(|rest| rest.strip_suffix(b">"));
                    let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
                    let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                    let byte = byte.ok_or_else(|| {
                        let piece = String::from_utf8_lossy(vocab.bytes(row));
                        Error::Spec(format!(
                            "entry {row} is of kind BYTE, but its piece is {piece:?}, not <0x00> to <0xFF>"
                        ))
                    })?;
                    ids[byte as usize] = vocab.id(row);
                }
                Ok(Fallback::Bytes(ids))
            }
        }
    }
}

/// llama.cpp's `byte_to_token`: the entry `<0xHH>` in capitals, or else the entry that is the byte alone.
fn bytes_by_text(vocab: &Vocab) -> Box<[u32; 256]> {
    let mut ids = Box::new([UNKNOWN; 256]);
    let rows = || (0..vocab.len()).map(|row| (vocab.bytes(row), vocab.id(row)));
    for (piece, id) in rows() {
        if let &[byte] = piece {
            ids[byte as usize] = id;
        }
    }
    for (piece, id) in rows() {
        if let &[b'<', b'0', b'x', high, low, b'>'] = piece
            && let (Some(high), Some(low)) = (capital_digit(high), capital_digit(low))
        {
            ids[(high << 4 | low) as usize] = id;
        }
    }
    ids
}

fn capital_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// What the bytes of a text stand for in the text that it was made of.
#[derive(Debug, Default)]
pub enum Origin {
    /// Themselves: nothing was rewritten.
    #[default]
    Same,
    /// Each a stretch.
    Spans(Vec<Span>),
    /// What lies between the place where the byte came from and that of the next one. The end of the text comes last.
    Offsets(Vec<u32>),
}

/// Where ids go.
pub trait Sink {
    /// Whether spans are wanted; if not, ids may come from a cache.
    const SPANS: bool;
    /// Whether spans may be found by way of the ids (see `tiling`).
    const TILES: bool = false;
    /// What follows is a text of its own that starts at byte `at` of the whole.
    fn begin_part(&mut self, _at: u32, _origin: Origin) {}
    /// Whether `begin_word` matters.
    fn wants_words(&self) -> bool {
        false
    }
    /// What follows is a piece of its own.
    fn begin_word(&mut self) {}
    /// An id that covers this stretch of the normalized text.
    fn push(&mut self, id: u32, start: u32, end: u32);
    /// Ids of which each covers what lies between the end of the one before and its own; the first from the start on.
    fn push_tiles(&mut self, ids: &[u32], ends: &[u32]) {
        let mut start = 0;
        for (&id, &end) in ids.iter().zip(ends) {
            self.push(id, start, end);
            start = end;
        }
    }
    /// Ids without spans.
    fn push_all(&mut self, ids: &[u32]);
    /// Ids of the template, which stand at byte `at` and cover nothing.
    #[inline]
    fn insert(&mut self, ids: &[u32], _at: u32) {
        self.push_all(ids);
    }
    /// The unknown id that covers `text`.
    fn push_unknown(&mut self, id: u32, _text: &[u8], start: u32, end: u32) {
        self.push(id, start, end);
    }
    /// More unknown text that belongs to the last unknown id.
    fn extend_unknown(&mut self, _text: &[u8], _start: u32, _end: u32) {}
    /// A special token, and the text that was found; its span is in the original text.
    fn special(&mut self, id: u32, text: &[u8], start: u32, end: u32);
}

impl Sink for Vec<u32> {
    const SPANS: bool = false;

    #[inline]
    fn push(&mut self, id: u32, _start: u32, _end: u32) {
        Vec::push(self, id);
    }

    #[inline]
    fn push_all(&mut self, ids: &[u32]) {
        self.extend_from_slice(ids);
    }

    fn special(&mut self, id: u32, _text: &[u8], _start: u32, _end: u32) {
        Vec::push(self, id);
    }
}

/// Counts ids.
pub struct Count(pub usize);

impl Sink for Count {
    const SPANS: bool = false;

    #[inline]
    fn push(&mut self, _id: u32, _start: u32, _end: u32) {
        self.0 += 1;
    }

    #[inline]
    fn push_all(&mut self, ids: &[u32]) {
        self.0 += ids.len();
    }

    fn special(&mut self, _id: u32, _text: &[u8], _start: u32, _end: u32) {
        self.0 += 1;
    }
}

/// A token and the bytes of the original text it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The id.
    pub id: u32,
    /// First byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
    /// The number of the piece it belongs to; special tokens are pieces too. None for those of the template, or if nobody asked.
    pub word: Option<u32>,
    /// The text of the few that stand for another than their entry's.
    pub said: Option<Box<Said>>,
}

/// The text that a token stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The normalized text of an unknown token.
    Unknown(Vec<u8>),
    /// What was found of a special token: normalized where it is searched so, and with the white space that it takes.
    Found(Vec<u8>),
}

impl Token {
    /// The normalized text of an unknown token.
    pub fn unknown(&self) -> Option<&[u8]> {
        if let Some(Said::Unknown(text)) = self.said.as_deref() { Some(text) } else { None }
    }

    /// What was found of a special token.
    pub fn found(&self) -> Option<&[u8]> {
        if let Some(Said::Found(text)) = self.said.as_deref() { Some(text) } else { None }
    }
}

/// Where the text that is encoded comes from.
#[derive(Default)]
struct Place {
    at: u32,
    origin: Origin,
}

impl Place {
    /// What a stretch stands for. An empty one comes from where its place does.
    #[inline]
    fn original(&self, start: u32, end: u32) -> Span {
        let (first, last) = match &self.origin {
            Origin::Same => (start, end),
            Origin::Offsets(offsets) => (offsets[start as usize], offsets[end as usize]),
            Origin::Spans(spans) => {
                let last = (end as usize).checked_sub(1).and_then(|last| spans.get(last)).map_or(0, |span| span.1);
                (spans.get(start as usize).map_or(last, |span| span.0), last)
            }
        };
        (self.at + first, self.at + if start < end { last } else { first })
    }
}

/// Tokens as columns, without what is said of them.
#[derive(Default)]
pub struct Spans {
    /// The ids.
    pub ids: Vec<u32>,
    /// The first byte of each.
    pub starts: Vec<u32>,
    /// Behind the last byte of each.
    pub ends: Vec<u32>,
    place: Place,
}

impl Spans {
    /// One more.
    #[inline]
    pub fn add(&mut self, id: u32, (start, end): Span) {
        self.ids.push(id);
        self.starts.push(start);
        self.ends.push(end);
    }
}

impl Sink for Spans {
    const SPANS: bool = true;
    const TILES: bool = true;

    fn begin_part(&mut self, at: u32, origin: Origin) {
        self.place = Place { at, origin };
    }

    #[inline]
    fn push(&mut self, id: u32, start: u32, end: u32) {
        self.add(id, self.place.original(start, end));
    }

    fn push_tiles(&mut self, ids: &[u32], ends: &[u32]) {
        let first = std::iter::once(&0).chain(ends);
        match self.place {
            // Many at a time.
            Place { at, origin: Origin::Same } => {
                self.ids.extend_from_slice(ids);
                self.starts.extend(first.take(ends.len()).map(|start| at + start));
                self.ends.extend(ends.iter().map(|end| at + end));
            }
            _ => first.zip(ends).zip(ids).for_each(|((&start, &end), &id)| self.push(id, start, end)),
        }
    }

    fn push_all(&mut self, ids: &[u32]) {
        debug_assert!(ids.is_empty(), "ids without spans");
    }

    fn insert(&mut self, ids: &[u32], at: u32) {
        ids.iter().for_each(|&id| self.add(id, (at, at)));
    }

    fn extend_unknown(&mut self, _text: &[u8], start: u32, end: u32) {
        let (_, end) = self.place.original(start, end);
        if let Some(last) = self.ends.last_mut() {
            *last = end;
        }
    }

    fn special(&mut self, id: u32, _text: &[u8], start: u32, end: u32) {
        self.add(id, (start, end));
    }
}

/// Collects tokens.
#[derive(Default)]
pub struct Tokens {
    wants_words: bool,
    tokens: Vec<Token>,
    place: Place,
    words: u32,
}

impl Tokens {
    /// With the numbers of their words, or without.
    pub fn new(wants_words: bool) -> Tokens {
        Tokens { wants_words, ..Tokens::default() }
    }

    /// The tokens.
    pub fn finish(self) -> Vec<Token> {
        self.tokens
    }

    fn word(&self) -> Option<u32> {
        self.words.checked_sub(1).filter(|_| self.wants_words)
    }
}

impl Sink for Tokens {
    const SPANS: bool = true;
    const TILES: bool = true;

    fn begin_part(&mut self, at: u32, origin: Origin) {
        self.place = Place { at, origin };
    }

    fn wants_words(&self) -> bool {
        self.wants_words
    }

    fn begin_word(&mut self) {
        self.words += 1;
    }

    fn push(&mut self, id: u32, start: u32, end: u32) {
        let (start, end) = self.place.original(start, end);
        self.tokens.push(Token { id, start, end, word: self.word(), said: None });
    }

    fn push_all(&mut self, ids: &[u32]) {
        debug_assert!(ids.is_empty(), "ids without spans");
    }

    fn push_unknown(&mut self, id: u32, text: &[u8], start: u32, end: u32) {
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

    fn special(&mut self, id: u32, text: &[u8], start: u32, end: u32) {
        self.words += 1;
        self.tokens.push(Token { id, start, end, word: self.word(), said: Some(Box::new(Said::Found(text.to_vec()))) });
    }
}

/// The last step before the sink, for one normalized text.
pub struct Out<'a, S> {
    text: &'a [u8],
    fallback: &'a Fallback,
    sink: &'a mut S,
    after_unknown: bool,
}

impl<'a, S: Sink> Out<'a, S> {
    /// Starts a text.
    pub fn new(text: &'a [u8], fallback: &'a Fallback, sink: &'a mut S) -> Out<'a, S> {
        Out { text, fallback, sink, after_unknown: false }
    }

    /// What follows is a piece of its own.
    #[inline]
    pub fn begin_word(&mut self) {
        self.sink.begin_word();
    }

    /// Takes a segment whose positions count from `at`.
    #[inline]
    pub fn take(&mut self, at: usize, segment: Segment) -> Result<()> {
        let (start, end) = (at as u32 + segment.start, at as u32 + segment.end);
        if segment.id == UNKNOWN {
            return self.take_unknown(&self.text[start as usize..end as usize], start);
        }
        self.after_unknown = false;
        match self.fallback {
            Fallback::Spelled(id) if S::SPANS && *id == segment.id => {
                self.sink.push_unknown(*id, &self.text[start as usize..end as usize], start, end);
            }
            _ => self.sink.push(segment.id, start, end),
        }
        Ok(())
    }

    /// Takes ids of pieces that have no unknown text.
    #[inline]
    pub fn take_cached(&mut self, ids: &[u32]) {
        self.after_unknown &= ids.is_empty();
        self.sink.push_all(ids);
    }

    /// Takes unknown characters, which stand one after the other from `start` on.
    pub fn take_unknown_run(&mut self, text: &[u8], start: u32) -> Result<()> {
        if matches!(self.fallback, Fallback::Unk(_)) {
            return self.take_unknown(text, start);
        }
        let mut at = 0;
        while at < text.len() {
            let next = at + char_len(&text[at..]);
            self.take_unknown(&text[at..next], start + at as u32)?;
            at = next;
        }
        Ok(())
    }

    fn take_unknown(&mut self, text: &[u8], start: u32) -> Result<()> {
        let end = start + text.len() as u32;
        match self.fallback {
            Fallback::Error => return Err(no_entry(text, start)),
            Fallback::Bytes(ids) => {
                for (i, &byte) in text.iter().enumerate() {
                    if ids[byte as usize] == UNKNOWN {
                        return Err(no_entry(&[byte], start));
                    }
                    let is_last = i + 1 == text.len();
                    self.sink.push(ids[byte as usize], start, if is_last { end } else { start });
                }
            }
            Fallback::Drop | Fallback::Spelled(_) => {}
            Fallback::Unk(_) if self.after_unknown => self.sink.extend_unknown(text, start, end),
            Fallback::Unk(id) => self.sink.push_unknown(*id, text, start, end),
        }
        self.after_unknown = true;
        Ok(())
    }
}

fn no_entry(text: &[u8], at: u32) -> Error {
    let hex: Vec<String> = text.iter().take(8).map(|byte| format!("{byte:02X}")).collect();
    Error::Encode(format!(
        "the vocabulary has no entry for the byte{} {} at byte {at} of the text",
        if text.len() == 1 { "" } else { "s" },
        hex.join(" ")
    ))
}
