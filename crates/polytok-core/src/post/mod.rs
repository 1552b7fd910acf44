//! Segments → tokens: the last step before a sink. It settles what becomes of text that no entry covers.
//!
//! Reference for unknown text: SentencePiece. With byte fallback every unknown character becomes the pieces of its bytes. The last of
//! them spans the character, the others span nothing. Otherwise adjacent unknown characters become one unknown token.

mod sink;
pub mod template;
mod unknown;

use crate::error::{Error, Result};
use crate::normalize::origin::Place;
use crate::segment::Segment;
use crate::token_id::TokenId;
use crate::utf8::char_len;
pub use sink::{IdSink, Sink};
pub use unknown::{Fallback, Spelling};

/// The post-processor of one encoding, in front of its sink.
pub struct Out<'a, S> {
    fallback: &'a Fallback,
    /// Where the tokens go.
    pub sink: &'a mut S,
    after_unknown: bool,
}

impl<'a, S: Sink> Out<'a, S> {
    /// Starts an encoding.
    pub fn new(fallback: &'a Fallback, sink: &'a mut S) -> Out<'a, S> {
        Out { fallback, sink, after_unknown: false }
    }

    /// Starts a text of its own.
    #[inline]
    pub fn begin_part(&mut self, place: Place) {
        self.after_unknown = false;
        self.sink.begin_part(place);
    }

    /// Starts a piece.
    #[inline]
    pub fn begin_word(&mut self) {
        self.sink.begin_word();
    }

    /// Takes a segment of `text` whose positions count from `at`.
    #[inline]
    pub fn take(&mut self, text: &[u8], at: usize, segment: Segment) -> Result<()> {
        let (start, end) = (at as u32 + segment.start, at as u32 + segment.end);
        if segment.id == TokenId::UNKNOWN {
            return self.take_unknown(&text[start as usize..end as usize], start);
        }
        self.after_unknown = false;
        match self.fallback {
            Fallback::Spelled(id) if *id == segment.id => {
                self.sink.push_unknown(*id, &text[start as usize..end as usize], start, end);
            }
            _ => self.sink.push(segment.id, start, end),
        }
        Ok(())
    }

    /// Takes adjacent unknown characters that start at `start`.
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
            Fallback::Bytes(ids) => self.take_bytes(ids, text, start)?,
            Fallback::Drop | Fallback::Spelled(_) => {}
            Fallback::Unk(_) if self.after_unknown => self.sink.extend_unknown(text, start, end),
            Fallback::Unk(id) => self.sink.push_unknown(*id, text, start, end),
        }
        self.after_unknown = true;
        Ok(())
    }

    /// An unknown character as the ids of its bytes.
    fn take_bytes(&mut self, ids: &[TokenId; 256], text: &[u8], start: u32) -> Result<()> {
        for (i, &byte) in text.iter().enumerate() {
            if ids[byte as usize] == TokenId::UNKNOWN {
                return Err(no_entry(&[byte], start));
            }
            let end = if i + 1 == text.len() { start + text.len() as u32 } else { start };
            self.sink.push(ids[byte as usize], start, end);
        }
        Ok(())
    }
}

impl<S: IdSink> Out<'_, S> {
    /// Takes ids of pieces without unknown text, many at once.
    #[inline]
    pub fn take_ids(&mut self, ids: &[TokenId]) {
        self.after_unknown &= ids.is_empty();
        self.sink.push_all(ids);
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
