//! Stores many texts as a column: one shared buffer, and the range of each text in the buffer.
//!
//! Corpus readers pass many texts at a time, and one object for each text would be slow. A text that needs no change
//! stays in the buffer that its file was read into. Texts that must be rewritten (to decode JSON escapes, or to repair
//! bytes that are not UTF-8) are copied to a new buffer, without gaps.

mod cut;
mod json;

use std::ops::Range;
use std::sync::Arc;

use memchr::memchr_iter;
use polytok_memory::{self as memory, Collect, Copied, Grow};

use crate::table::Shared;
use crate::utf8::valid;

pub use cut::{end_of_texts, split_lines, split_separated};
pub use json::{NoTextReason, json_lines};

/// The strictest encoding that the bytes of a column are known to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextEncoding {
    /// Nothing is known about the bytes.
    Unknown,
    /// The bytes are UTF-8.
    Utf8,
    /// The bytes are UTF-8 except for surrogates, each in three bytes.
    Surrogates,
}

/// A column of texts, some of which may be null.
#[derive(Clone)]
pub struct Texts {
    buffer: Shared,
    spans: Vec<Range<usize>>,
    /// The start of the record (for example, the JSON line) of each text, if records and texts start at different
    /// offsets.
    record_starts: Option<Vec<usize>>,
    /// The rows that are null, in ascending order.
    nulls: Vec<usize>,
    encoding: TextEncoding,
}

impl Texts {
    /// Creates a column of the texts at the ranges `spans` of a buffer. Every range must lie within the buffer.
    pub fn new(buffer: Shared, spans: Vec<Range<usize>>) -> Texts {
        Texts { buffer, spans, record_starts: None, nulls: Vec::new(), encoding: TextEncoding::Unknown }
    }

    /// Returns the column with null texts in the rows `nulls`. The rows must be in ascending order.
    pub fn with_nulls(self, nulls: Vec<usize>) -> Texts {
        Texts { nulls, ..self }
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Reports whether the column has no texts.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the text of a row; the text of a null row is empty.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        self.spans.get(row).map(|span| &self.bytes()[span.clone()])
    }

    /// Returns all texts; a null text is `None`.
    pub fn slices(&self) -> Vec<Option<&[u8]>> {
        let bytes = self.bytes();
        let mut slices: Vec<_> = self.spans.iter().map(|span| Some(&bytes[span.clone()])).checked_collect();
        self.nulls.iter().for_each(|&row| slices[row] = None);
        slices
    }

    /// Returns the ranges of the texts in the buffer.
    pub fn spans(&self) -> &[Range<usize>] {
        &self.spans
    }

    /// Returns, for each text, the offset of its record (for example, its JSON line) in the data that was read.
    pub fn record_starts(&self) -> Vec<usize> {
        self.record_starts
            .as_ref()
            .map(|starts| starts.checked_to_vec())
            .unwrap_or_else(|| self.spans.iter().map(|span| span.start).checked_collect())
    }

    /// Returns the rows that are null.
    pub fn nulls(&self) -> &[usize] {
        &self.nulls
    }

    /// Returns the total number of bytes of all texts.
    pub fn text_bytes(&self) -> usize {
        self.spans.iter().map(Range::len).sum()
    }

    /// Returns a column of the given rows, in the given order. All rows must exist.
    pub fn take(&self, rows: &[usize]) -> Texts {
        self.select(&rows.iter().map(|&row| Some(row)).checked_collect())
    }

    /// Returns a column of the given rows, in the given order; `None` selects a null text. All rows must exist.
    pub fn select(&self, rows: &[Option<usize>]) -> Texts {
        let is_null_row = |row: Option<usize>| row.is_none_or(|row| self.nulls.binary_search(&row).is_ok());
        let select_starts = |record_starts: &Vec<usize>| {
            rows.iter().map(|row| row.map_or(0, |row| record_starts[row])).checked_collect()
        };
        Texts {
            buffer: self.buffer.clone(),
            spans: rows.iter().map(|row| row.map_or(0..0, |row| self.spans[row].clone())).checked_collect(),
            record_starts: self.record_starts.as_ref().map(select_starts),
            nulls: (0..rows.len()).filter(|&at| is_null_row(rows[at])).checked_collect(),
            encoding: self.encoding,
        }
    }

    /// Concatenates the texts of several columns in a new buffer.
    pub fn concatenate(columns: &[Texts]) -> Texts {
        let mut buffer = memory::with_capacity(columns.iter().map(Texts::text_bytes).sum());
        let (mut spans, mut nulls) = (Vec::new(), Vec::new());
        for texts in columns {
            nulls.checked_extend(texts.nulls.iter().map(|row| spans.len() + row));
            for span in &texts.spans {
                let from = buffer.len();
                buffer.checked_extend_from_slice(&texts.bytes()[span.clone()]);
                spans.checked_push(from..buffer.len());
            }
        }
        Texts::new(Arc::new(buffer), spans).with_nulls(nulls)
    }

    /// Returns the column without the given rows, which are in ascending order.
    pub fn without_rows(&self, rows: &[usize]) -> Texts {
        let kept_rows: Vec<usize> = (0..self.len()).filter(|row| rows.binary_search(row).is_err()).checked_collect();
        self.take(&kept_rows)
    }

    /// Returns the rows whose texts are not valid UTF-8.
    pub fn undecodable_rows(&self) -> Vec<usize> {
        if self.encoding == TextEncoding::Utf8 {
            return Vec::new();
        }
        let bytes = self.bytes();
        // One check of the whole range, gaps between texts included, is faster than a check of each text, unless the
        // gaps are large.
        let full_range = self.full_range();
        if full_range.len() / 2 <= self.text_bytes()
            && let Ok(text) = valid(&bytes[full_range.clone()])
        {
            let is_inside_character = |at: usize| !text.is_char_boundary(at - full_range.start);
            return (0..self.len())
                .filter(|&row| is_inside_character(self.spans[row].start) || is_inside_character(self.spans[row].end))
                .checked_collect();
        }
        (0..self.len()).filter(|&row| valid(&bytes[self.spans[row].clone()]).is_err()).checked_collect()
    }

    /// Returns the range of the buffer that contains all texts.
    fn full_range(&self) -> Range<usize> {
        let starts = self.spans.iter().map(|span| span.start);
        let ends = self.spans.iter().map(|span| span.end);
        starts.min().unwrap_or(0)..ends.max().unwrap_or(0)
    }

    /// Returns a column in which every text is valid UTF-8. Invalid bytes are replaced as by Python's
    /// `errors="replace"`: one U+FFFD replaces each truncated character, and each byte that cannot start a character.
    /// If the texts are UTF-8 except for surrogates, one U+FFFD replaces each surrogate.
    pub fn repaired(&self) -> Texts {
        let mut buffer = memory::with_capacity(self.text_bytes());
        let repair = |text: Option<&[u8]>| {
            let (from, text) = (buffer.len(), text.unwrap_or_default());
            match self.encoding {
                TextEncoding::Surrogates => push_without_surrogates(text, &mut buffer),
                _ => buffer.checked_extend_from_slice(memory::lossy(text).as_bytes()),
            }
            from..buffer.len()
        };
        let spans = self.slices().into_iter().map(repair).checked_collect();
        let texts = Texts { encoding: TextEncoding::Utf8, ..Texts::new(Arc::new(buffer), spans) };
        Texts { record_starts: Some(self.record_starts()), nulls: self.nulls.clone(), ..texts }
    }

    fn bytes(&self) -> &[u8] {
        (*self.buffer).as_ref()
    }
}

/// Appends a text that is UTF-8 except for surrogates. Each surrogate is replaced by U+FFFD, which is three bytes long
/// too.
fn push_without_surrogates(text: &[u8], out: &mut Vec<u8>) {
    let from = out.len();
    out.checked_extend_from_slice(text);
    for at in memchr_iter(0xED, text) {
        if text[at + 1] >= 0xA0 {
            out[from + at..][..3].copy_from_slice("\u{FFFD}".as_bytes());
        }
    }
}
