//! Converts the segments of a model to tokens, and passes the tokens to a sink. Also encodes text that no vocabulary
//! entry covers.
//!
//! The reference for unknown text is SentencePiece. With byte fallback each byte of an unknown character is encoded as
//! the entry of this byte; the token of the last byte gets the span of the character, and the tokens of the bytes
//! before it get empty spans. Without byte fallback adjacent unknown characters are encoded as one unknown token.

pub mod lengths;
mod sink;
pub mod template;
pub(crate) mod tiles;
mod unknown;

use polytok_memory::Collect;

use crate::error::{Error, Result};
use crate::normalize::origin::Place;
use crate::normalize::output::Span;
use crate::segment::Segment;
use crate::token_id::TokenId;
use crate::utf8::char_len;
pub use sink::{IdSink, Sink};
pub use unknown::{Fallback, UnknownRules};

/// The post-processor of one encoding, which writes to a sink.
pub struct Out<'a, S> {
    fallback: &'a Fallback,
    /// The sink that gets the tokens.
    pub sink: &'a mut S,
    /// True if the last token is the unknown token.
    is_after_unknown: bool,
}

impl<'a, S: Sink> Out<'a, S> {
    /// Starts an encoding.
    pub fn new(fallback: &'a Fallback, sink: &'a mut S) -> Out<'a, S> {
        Out { fallback, sink, is_after_unknown: false }
    }

    /// Starts a part of the text; `place` maps offsets in this part to the caller's text.
    #[inline]
    pub fn begin_part(&mut self, place: Place) {
        self.is_after_unknown = false;
        self.sink.begin_part(place);
    }

    /// Starts a piece.
    #[inline]
    pub fn begin_word(&mut self) {
        self.sink.begin_word();
    }

    /// Writes a segment of `text`; the offsets of the segment count from byte `at` of `text`.
    #[inline]
    pub fn write_segment(&mut self, text: &[u8], at: usize, segment: Segment) -> Result<()> {
        let (start, end) = (at as u32 + segment.start, at as u32 + segment.end);
        if segment.id == TokenId::UNKNOWN {
            return self.write_unknown(&text[start as usize..end as usize], start);
        }
        self.is_after_unknown = false;
        match self.fallback {
            Fallback::ModelUnk(id) if *id == segment.id => {
                self.sink.push_unknown(*id, &text[start as usize..end as usize], start, end);
            }
            _ => self.sink.push(segment.id, start, end),
        }
        Ok(())
    }

    /// Writes tokens of `text`, of which none is for text that the model leaves unknown.
    pub fn write_known(&mut self, text: &[u8], ids: &[TokenId], spans: &[Span]) -> Result<()> {
        let unknown_id = if let Fallback::ModelUnk(id) = self.fallback { Some(id) } else { None };
        if self.sink.needs_own_texts() && unknown_id.is_some_and(|id| ids.contains(id)) {
            let mut tokens = ids.iter().zip(spans);
            return tokens.try_for_each(|(&id, &(start, end))| self.write_segment(text, 0, Segment { id, start, end }));
        }
        self.is_after_unknown &= ids.is_empty();
        self.sink.push_many(ids, spans);
        Ok(())
    }

    /// Writes a run of unknown characters that starts at byte `start`.
    pub fn write_unknown_run(&mut self, text: &[u8], start: u32) -> Result<()> {
        if matches!(self.fallback, Fallback::Unk(_)) {
            return self.write_unknown(text, start);
        }
        let mut at = 0;
        while at < text.len() {
            let next = at + char_len(&text[at..]);
            self.write_unknown(&text[at..next], start + at as u32)?;
            at = next;
        }
        Ok(())
    }

    /// Writes an unknown character, or a run of unknown characters, that starts at byte `start`.
    fn write_unknown(&mut self, text: &[u8], start: u32) -> Result<()> {
        let end = start + text.len() as u32;
        match self.fallback {
            Fallback::Error => return Err(no_entry_error(text, start)),
            Fallback::Bytes(ids) => self.write_byte_ids(ids, text, start)?,
            Fallback::Drop | Fallback::ModelUnk(_) => {}
            Fallback::Unk(_) if self.is_after_unknown => self.sink.extend_unknown(text, start, end),
            Fallback::Unk(id) => self.sink.push_unknown(*id, text, start, end),
        }
        self.is_after_unknown = true;
        Ok(())
    }

    /// Writes an unknown character as the ids of its bytes.
    fn write_byte_ids(&mut self, ids: &[TokenId; 256], text: &[u8], start: u32) -> Result<()> {
        for (i, &byte) in text.iter().enumerate() {
            if ids[byte as usize] == TokenId::UNKNOWN {
                return Err(no_entry_error(&[byte], start));
            }
            let end = if i + 1 == text.len() { start + text.len() as u32 } else { start };
            self.sink.push(ids[byte as usize], start, end);
        }
        Ok(())
    }
}

impl<S: IdSink> Out<'_, S> {
    /// Writes the ids of pieces that have no unknown text.
    #[inline]
    pub fn write_ids(&mut self, ids: &[TokenId]) {
        self.is_after_unknown &= ids.is_empty();
        self.sink.push_all(ids);
    }
}

/// Returns the error for text that no entry covers.
fn no_entry_error(text: &[u8], at: u32) -> Error {
    let hex_bytes: Vec<String> = text.iter().take(8).map(|byte| format!("0x{byte:02X}")).checked_collect();
    Error::Encode(format!(
        "the vocabulary has no entry for the byte{} {} at byte {at} of the text",
        if text.len() == 1 { "" } else { "s" },
        hex_bytes.join(" ")
    ))
}
