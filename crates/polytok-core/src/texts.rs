//! Stores many texts as a column: one shared buffer, and the range of each text in the buffer.
//!
//! A reader of a corpus hands over blocks of many texts, so the texts are not separate objects. Lines and texts between
//! separators stay in the buffer that they were read to. Texts that have to be rewritten (JSON's escapes, bytes that
//! are not UTF-8) are written to a new buffer, one directly after another.

mod cut;
mod json;

use std::ops::Range;
use std::sync::Arc;

use memchr::memchr_iter;

use crate::table::Shared;
use crate::utf8::valid;

pub use cut::{end_of, lines, separated};
pub use json::{NoTextReason, json_lines};

/// The encoding of the bytes of texts, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextEncoding {
    /// The bytes can be anything.
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
    /// The starts of the records, if they differ from the starts of the texts.
    places: Option<Vec<usize>>,
    /// The rows that are null, in ascending order.
    nulls: Vec<usize>,
    encoding: TextEncoding,
}

impl Texts {
    /// Creates a column of the texts at the ranges `spans` of a buffer. All ranges must be inside of the buffer.
    pub fn new(buffer: Shared, spans: Vec<Range<usize>>) -> Texts {
        Texts { buffer, spans, places: None, nulls: Vec::new(), encoding: TextEncoding::Unknown }
    }

    /// Returns the column with the rows `nulls`, which are in ascending order, as null texts.
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
        let mut slices: Vec<_> = self.spans.iter().map(|span| Some(&bytes[span.clone()])).collect();
        self.nulls.iter().for_each(|&row| slices[row] = None);
        slices
    }

    /// Returns the ranges of the texts in the buffer.
    pub fn spans(&self) -> &[Range<usize>] {
        &self.spans
    }

    /// Returns the start of each text's record in the data that was read.
    pub fn places(&self) -> Vec<usize> {
        self.places.clone().unwrap_or_else(|| self.spans.iter().map(|span| span.start).collect())
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
        self.select(&rows.iter().map(|&row| Some(row)).collect::<Vec<_>>())
    }

    /// Returns a column of the given rows, in the given order; `None` selects a null text. All rows must exist.
    pub fn select(&self, rows: &[Option<usize>]) -> Texts {
        let is_null = |row: Option<usize>| row.is_none_or(|row| self.nulls.binary_search(&row).is_ok());
        let place = |places: &Vec<usize>| rows.iter().map(|row| row.map_or(0, |row| places[row])).collect();
        Texts {
            buffer: self.buffer.clone(),
            spans: rows.iter().map(|row| row.map_or(0..0, |row| self.spans[row].clone())).collect(),
            places: self.places.as_ref().map(place),
            nulls: (0..rows.len()).filter(|&at| is_null(rows[at])).collect(),
            encoding: self.encoding,
        }
    }

    /// Concatenates the texts of several columns in a new buffer.
    pub fn concatenate(columns: &[Texts]) -> Texts {
        let mut buffer = Vec::with_capacity(columns.iter().map(Texts::text_bytes).sum());
        let (mut spans, mut nulls) = (Vec::new(), Vec::new());
        for texts in columns {
            nulls.extend(texts.nulls.iter().map(|row| spans.len() + row));
            for span in &texts.spans {
                let from = buffer.len();
                buffer.extend_from_slice(&texts.bytes()[span.clone()]);
                spans.push(from..buffer.len());
            }
        }
        Texts::new(Arc::new(buffer), spans).with_nulls(nulls)
    }

    /// Returns the column without the given rows, which are in ascending order.
    pub fn without(&self, rows: &[usize]) -> Texts {
        let kept_rows: Vec<usize> = (0..self.len()).filter(|row| rows.binary_search(row).is_err()).collect();
        self.take(&kept_rows)
    }

    /// Returns the rows that are not UTF-8.
    pub fn undecodable_rows(&self) -> Vec<usize> {
        if self.encoding == TextEncoding::Utf8 {
            return Vec::new();
        }
        let bytes = self.bytes();
        // One check of all bytes, including the bytes between the texts, is faster than a check of each text, unless
        // there are many bytes between texts.
        let full_range = self.full_range();
        if full_range.len() / 2 <= self.text_bytes()
            && let Ok(text) = valid(&bytes[full_range.clone()])
        {
            let is_inside_character = |at: usize| !text.is_char_boundary(at - full_range.start);
            return (0..self.len())
                .filter(|&row| is_inside_character(self.spans[row].start) || is_inside_character(self.spans[row].end))
                .collect();
        }
        (0..self.len()).filter(|&row| valid(&bytes[self.spans[row].clone()]).is_err()).collect()
    }

    /// Returns the range of the buffer that contains all texts.
    fn full_range(&self) -> Range<usize> {
        let starts = self.spans.iter().map(|span| span.start);
        let ends = self.spans.iter().map(|span| span.end);
        starts.min().unwrap_or(0)..ends.max().unwrap_or(0)
    }

    /// Returns the same texts as UTF-8. As with Python's errors="replace", U+FFFD replaces every longest incomplete
    /// start of a character, and every byte that cannot start a character. In texts that are UTF-8 except for
    /// surrogates, U+FFFD replaces every surrogate.
    pub fn repaired(&self) -> Texts {
        let mut buffer = Vec::with_capacity(self.text_bytes());
        let repair = |text: Option<&[u8]>| {
            let (from, text) = (buffer.len(), text.unwrap_or_default());
            match self.encoding {
                TextEncoding::Surrogates => push_without_surrogates(text, &mut buffer),
                _ => buffer.extend_from_slice(String::from_utf8_lossy(text).as_bytes()),
            }
            from..buffer.len()
        };
        let spans = self.slices().into_iter().map(repair).collect();
        let texts = Texts { encoding: TextEncoding::Utf8, ..Texts::new(Arc::new(buffer), spans) };
        Texts { places: Some(self.places()), nulls: self.nulls.clone(), ..texts }
    }

    fn bytes(&self) -> &[u8] {
        (*self.buffer).as_ref()
    }
}

/// Appends a text that is UTF-8 except for surrogates. U+FFFD, which has the same length, replaces each surrogate.
fn push_without_surrogates(text: &[u8], out: &mut Vec<u8>) {
    let from = out.len();
    out.extend_from_slice(text);
    for at in memchr_iter(0xED, text) {
        if text[at + 1] >= 0xA0 {
            out[from + at..][..3].copy_from_slice("\u{FFFD}".as_bytes());
        }
    }
}
