//! Texts as a column: one buffer that is shared, and where in it each text begins and ends.
//!
//! What reads a corpus hands over blocks of many texts; here none of them is an object of its own. Lines and what lies between
//! separators stay where they were read; what has to be rewritten (JSON's escapes, bytes that are no UTF-8) goes into a buffer of its
//! own, one text behind the other.

mod cut;
mod json;

use std::ops::Range;
use std::sync::Arc;

use memchr::memchr_iter;

use crate::table::Shared;
use crate::utf8::valid;

pub use cut::{end_of, lines, separated};
pub use json::{Left, json_lines};

/// What is known of the bytes of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextEncoding {
    /// Nothing.
    Unknown,
    /// They are UTF-8.
    Utf8,
    /// They are UTF-8 but for surrogates, each in three bytes.
    Surrogates,
}

/// A column of texts, some of which may be null.
#[derive(Clone)]
pub struct Texts {
    buffer: Shared,
    spans: Vec<Range<usize>>,
    /// Where the records begin, if that is elsewhere than their texts.
    places: Option<Vec<usize>>,
    /// The rows that are null, in ascending order.
    nulls: Vec<usize>,
    encoding: TextEncoding,
}

impl Texts {
    /// Texts at these places of a buffer, in which they must lie.
    pub fn new(buffer: Shared, spans: Vec<Range<usize>>) -> Texts {
        Texts { buffer, spans, places: None, nulls: Vec::new(), encoding: TextEncoding::Unknown }
    }

    /// The same, with these rows, which ascend, as null.
    pub fn with_nulls(self, nulls: Vec<usize>) -> Texts {
        Texts { nulls, ..self }
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// A text; a null one is empty.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        self.spans.get(row).map(|span| &self.bytes()[span.clone()])
    }

    /// All texts, None for null.
    pub fn slices(&self) -> Vec<Option<&[u8]>> {
        let bytes = self.bytes();
        let mut slices: Vec<_> = self.spans.iter().map(|span| Some(&bytes[span.clone()])).collect();
        self.nulls.iter().for_each(|&row| slices[row] = None);
        slices
    }

    /// Where the texts lie in the buffer.
    pub fn spans(&self) -> &[Range<usize>] {
        &self.spans
    }

    /// Where the record of each text begins in what it was cut from.
    pub fn places(&self) -> Vec<usize> {
        self.places.clone().unwrap_or_else(|| self.spans.iter().map(|span| span.start).collect())
    }

    /// The rows that are null.
    pub fn nulls(&self) -> &[usize] {
        &self.nulls
    }

    /// The lengths of all texts together.
    pub fn text_bytes(&self) -> usize {
        self.spans.iter().map(Range::len).sum()
    }

    /// These rows, all of which must be there, in this order.
    pub fn take(&self, rows: &[usize]) -> Texts {
        self.select(&rows.iter().map(|&row| Some(row)).collect::<Vec<_>>())
    }

    /// These rows, all of which must be there, in this order; None is a null text.
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

    /// All texts of several columns, one behind the other, in a buffer of their own.
    pub fn joined(columns: &[Texts]) -> Texts {
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

    /// All but these rows, which ascend.
    pub fn without(&self, rows: &[usize]) -> Texts {
        let kept: Vec<usize> = (0..self.len()).filter(|row| rows.binary_search(row).is_err()).collect();
        self.take(&kept)
    }

    /// The rows that are no UTF-8.
    pub fn undecodable(&self) -> Vec<usize> {
        if self.encoding == TextEncoding::Utf8 {
            return Vec::new();
        }
        let bytes = self.bytes();
        // What lies between the texts costs less than to begin anew for each of them, unless there is much of it.
        let around = self.around();
        if around.len() / 2 <= self.text_bytes()
            && let Ok(text) = valid(&bytes[around.clone()])
        {
            let cuts = |at: usize| !text.is_char_boundary(at - around.start);
            return (0..self.len()).filter(|&row| cuts(self.spans[row].start) || cuts(self.spans[row].end)).collect();
        }
        (0..self.len()).filter(|&row| valid(&bytes[self.spans[row].clone()]).is_err()).collect()
    }

    /// The stretch of the buffer in which all texts lie.
    fn around(&self) -> Range<usize> {
        let starts = self.spans.iter().map(|span| span.start);
        let ends = self.spans.iter().map(|span| span.end);
        starts.min().unwrap_or(0)..ends.max().unwrap_or(0)
    }

    /// The same texts, with U+FFFD for every longest beginning of a character that is not ended, and every byte that begins none,
    /// which is Python's errors="replace"; and for every surrogate of texts that are UTF-8 else.
    pub fn repaired(&self) -> Texts {
        let mut buffer = Vec::with_capacity(self.text_bytes());
        let one = |text: Option<&[u8]>| {
            let (from, text) = (buffer.len(), text.unwrap_or_default());
            match self.encoding {
                TextEncoding::Surrogates => push_without_surrogates(text, &mut buffer),
                _ => buffer.extend_from_slice(String::from_utf8_lossy(text).as_bytes()),
            }
            from..buffer.len()
        };
        let spans = self.slices().into_iter().map(one).collect();
        let texts = Texts { encoding: TextEncoding::Utf8, ..Texts::new(Arc::new(buffer), spans) };
        Texts { places: Some(self.places()), nulls: self.nulls.clone(), ..texts }
    }

    fn bytes(&self) -> &[u8] {
        (*self.buffer).as_ref()
    }
}

/// Appends a text that is UTF-8 but for surrogates, with U+FFFD for each of them, which is as long.
fn push_without_surrogates(text: &[u8], out: &mut Vec<u8>) {
    let from = out.len();
    out.extend_from_slice(text);
    for at in memchr_iter(0xED, text) {
        if text[at + 1] >= 0xA0 {
            out[from + at..][..3].copy_from_slice("\u{FFFD}".as_bytes());
        }
    }
}
