//! A decoded text that keeps, for each byte, the ids that the byte comes from.

use polytok_memory::{self as memory, Copied, Grow};

use crate::error::Result;
use crate::normalize::growth::{growth_error, limit};
use crate::utf8::is_start;

/// A range of ids: the index of the first id and of the last id.
pub type Source = (u32, u32);

/// A text with the source of each byte. Sources never decrease.
#[derive(Clone, Debug, Default)]
pub struct TracedText {
    /// The text.
    pub bytes: Vec<u8>,
    /// The ids from which each byte comes. Several ids are the source of a byte if a step replaced a text of several
    /// ids.
    pub sources: Vec<Source>,
    /// The ids from which the whole text comes.
    pub whole: Source,
}

impl TracedText {
    /// Returns the text of one id.
    pub fn of_id(bytes: &[u8], index: u32) -> TracedText {
        let whole = (index, index);
        TracedText { bytes: bytes.checked_to_vec(), sources: memory::filled(whole, bytes.len()), whole }
    }

    /// Returns the texts as one text.
    pub fn join(texts: &[TracedText]) -> TracedText {
        let first = texts.first().map_or(0, |text| text.whole.0);
        let mut joined = TracedText::empty((first, texts.last().map_or(first, |text| text.whole.1)));
        for text in texts {
            joined.bytes.checked_extend_from_slice(&text.bytes);
            joined.sources.checked_extend_from_slice(&text.sources);
        }
        joined
    }

    /// Returns an empty text.
    pub fn empty(whole: Source) -> TracedText {
        TracedText { bytes: Vec::new(), sources: Vec::new(), whole }
    }

    /// Appends bytes from one source.
    pub fn push(&mut self, bytes: &[u8], source: Source) {
        self.bytes.checked_extend_from_slice(bytes);
        self.sources.checked_resize(self.bytes.len(), source);
    }

    /// Appends `text[start..end]`.
    pub fn push_part(&mut self, text: &TracedText, start: usize, end: usize) {
        self.bytes.checked_extend_from_slice(&text.bytes[start..end]);
        self.sources.checked_extend_from_slice(&text.sources[start..end]);
    }

    /// The source of a range of bytes; without bytes, the source of the byte at `start` or, at the end, of the whole.
    pub fn source_of(&self, start: usize, end: usize) -> Source {
        match self.sources.get(start) {
            Some(&(first, last)) => {
                (first, self.sources.get(start + 1..end).and_then(<[_]>::last).map_or(last, |s| s.1))
            }
            None => (self.whole.1, self.whole.1),
        }
    }

    /// Replaces each match of a literal pattern. Matches are leftmost and do not overlap; an empty pattern matches
    /// before each character and at the end, as in `str::replace`.
    pub fn replace(&self, pattern: &[u8], content: &[u8]) -> Result<TracedText> {
        let mut out = TracedText::empty(self.whole);
        let max_len = limit(self.bytes.len());
        let mut at = 0;
        while at < self.bytes.len() {
            let is_match = match pattern.is_empty() {
                true => is_start(self.bytes[at]),
                false => self.bytes[at..].starts_with(pattern),
            };
            if is_match {
                out.push(content, self.source_of(at, at + pattern.len()));
            }
            match is_match && !pattern.is_empty() {
                true => at += pattern.len(),
                false => {
                    out.push_part(self, at, at + 1);
                    at += 1;
                }
            }
            if out.bytes.len() > max_len {
                return Err(growth_error("decoding"));
            }
        }
        if pattern.is_empty() {
            out.push(content, self.source_of(self.bytes.len().saturating_sub(1), self.bytes.len()));
        }
        Ok(out)
    }

    /// Replaces bytes that are not UTF-8 by U+FFFD.
    pub fn to_valid_utf8(&self) -> TracedText {
        let mut out = TracedText::empty(self.whole);
        let mut at = 0;
        for chunk in self.bytes.utf8_chunks() {
            let end = at + chunk.valid().len();
            out.push_part(self, at, end);
            at = end + chunk.invalid().len();
            if !chunk.invalid().is_empty() {
                out.push("\u{FFFD}".as_bytes(), self.source_of(end, at));
            }
        }
        out
    }
}
