//! Reads and writes the vocabularies and merges of model files, with a module for each format. Vocabularies are stored
//! as [`VocabColumns`]. One module writes the results of SentencePiece's processor in its wire format.
//!
//! Python reads the other parts of these files (headers, options) and detects the format. Every function is safe for
//! hostile bytes: lengths are checked before use, memory is reserved only for data that the file has, nothing recurses
//! without a limit, and every error is an [`Error::Format`] that names the line, piece or byte. Maps whose keys come
//! from a file use the randomly keyed hash of the standard library, so that no file can make these maps slow.

mod base64;
pub mod gguf;
pub mod huggingface;
pub mod llama2c;
pub mod minbpe;
pub mod pairs;
pub mod protobuf;
pub mod rank_file;
pub mod rwkv;
pub mod sentencepiece;
pub mod sentencepiece_check;
mod sentencepiece_text;
pub mod tekken;
mod texts;

use std::io;

use polytok_memory::{self as memory, Grow};

use crate::error::{Error, Result};
use crate::spec::{Kind, VocabColumns};

/// Returns a text as a JSON string.
fn quote(text: &str) -> String {
    let mut out = CheckedWriter(memory::with_capacity(text.len() + 2));
    let written = serde_json::to_writer(&mut out, text).map(|()| String::from_utf8(out.0));
    let Ok(Ok(quoted)) = written else { unreachable!("writing to memory does not fail, and JSON is UTF-8") };
    quoted
}

/// Writes to memory that the system can refuse.
struct CheckedWriter(Vec<u8>);

impl io::Write for CheckedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.checked_extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns columns without rows; `offsets` has only the leading 0.
fn empty_columns() -> VocabColumns {
    VocabColumns { offsets: vec![0], ..VocabColumns::default() }
}

/// Appends a row. Returns an error if the blob is too long for 32-bit offsets.
#[inline]
fn push_row(columns: &mut VocabColumns, bytes: &[u8], id: u32, score: f32, kind: Kind) -> Result<()> {
    columns.blob.checked_extend_from_slice(bytes);
    let end = u32::try_from(columns.blob.len())
        .map_err(|_| Error::Format("the vocabulary's texts together are longer than 4 GiB".into()))?;
    columns.offsets.checked_push(end);
    columns.ids.checked_push(id);
    columns.scores.checked_push(score);
    columns.kinds.checked_push(kind);
    Ok(())
}

/// Checks that the columns have matching lengths, so that writers can use the offsets without checks.
pub fn check_lengths(columns: &VocabColumns) -> Result<()> {
    let len = columns.ids.len();
    let lengths_agree = columns.offsets.len() == len + 1 && columns.scores.len() == len && columns.kinds.len() == len;
    let offsets_rise = columns.offsets.is_sorted() && columns.offsets.first() == Some(&0);
    if lengths_agree && offsets_rise && columns.offsets.last().map(|&end| end as usize) == Some(columns.blob.len()) {
        return Ok(());
    }
    Err(Error::Format(
        "the columns of the vocabulary have different lengths or wrong offsets; pass columns of one vocabulary".into(),
    ))
}

/// Returns the bytes of a row.
fn text(columns: &VocabColumns, row: usize) -> &[u8] {
    &columns.blob[columns.offsets[row] as usize..columns.offsets[row + 1] as usize]
}

/// Returns the bytes of every row, in row order.
fn rows(columns: &VocabColumns) -> impl Iterator<Item = &[u8]> {
    (0..columns.ids.len()).map(|row| text(columns, row))
}

/// Returns the lines of a text file with their numbers from 1. Lines end with LF, CR LF or CR; after a line end at the
/// end of the file there is no empty line.
fn lines(mut data: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut number = 0;
    std::iter::from_fn(move || {
        if data.is_empty() {
            return None;
        }
        number += 1;
        let end = memchr::memchr2(b'\n', b'\r', data).unwrap_or(data.len());
        let line = &data[..end];
        let ending = if data[end..].starts_with(b"\r\n") { 2 } else { 1 };
        data = &data[data.len().min(end + ending)..];
        Some((number, line))
    })
}

/// Parses a decimal number that consists of ASCII digits only.
fn decimal(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Formats bytes of a file for an error message: quotes, escapes and truncates the bytes.
fn show(bytes: &[u8]) -> String {
    const MAX_SHOWN_BYTES: usize = 40;
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_SHOWN_BYTES)]);
    let ellipsis = if bytes.len() > MAX_SHOWN_BYTES { "…" } else { "" };
    format!("{head:?}{ellipsis}")
}

/// Returns the columns of some pieces, for tests.
#[cfg(test)]
fn columns(pieces: &[(&[u8], f32, Kind)]) -> VocabColumns {
    let mut columns = empty_columns();
    for (id, &(text, score, kind)) in pieces.iter().enumerate() {
        push_row(&mut columns, text, id as u32, score, kind).unwrap();
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_three_ways() {
        let all = |data: &'static [u8]| lines(data).map(|(_, line)| line).collect::<Vec<_>>();
        assert_eq!(all(b""), [] as [&[u8]; 0]);
        assert_eq!(all(b"a\nb\r\nc\rd"), [b"a", b"b", b"c", b"d"]);
        assert_eq!(all(b"a\r\n"), [b"a"]);
        assert_eq!(all(b"\n\r"), [b"", b""]);
        assert_eq!(lines(b"a\nb").map(|(number, _)| number).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn decimals_are_digits_that_fit() {
        assert_eq!(decimal(b"4294967295"), Some(u32::MAX));
        for bad in [&b""[..], b"+1", b"-1", b"4294967296", b"1_0", b" 1"] {
            assert_eq!(decimal(bad), None, "{bad:?}");
        }
    }
}
