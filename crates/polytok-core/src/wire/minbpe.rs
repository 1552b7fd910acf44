//! Reads minbpe's merges: lines `left SP right`. Line t, counted from 0, defines the id 256 + t; the ids below 256 are
//! the bytes.
//!
//! The text of a merged id is the text of the left id followed by the text of the right id. A merge of a token with
//! itself doubles the length, so t lines can define a token of 2^t bytes. Therefore the caller limits the total length
//! of all texts. Cost: one pass over the lines, plus the texts.

use std::collections::HashMap;
use std::ops::Range;

use polytok_memory::{self as memory, Grow, GrowMap};

use super::{decimal, empty_columns, lines, push_row, show};
use crate::error::{Error, Result};
use crate::spec::{Kind, VocabColumns};

/// The merges, and the vocabulary that the merges define.
#[derive(Debug)]
pub struct Merges {
    /// The left id, right id and merged id of each merge, in file order.
    pub merges: Vec<[u32; 3]>,
    /// The 256 bytes and the merged tokens; the id of a token is its row.
    pub columns: VocabColumns,
}

/// Reads the lines of merges. The first line of `data` is line `first_line` of the file. If all tokens together have
/// more than `max_bytes` bytes, returns an error.
pub fn read_merges(data: &[u8], first_line: usize, max_bytes: usize) -> Result<Merges> {
    memory::catch(|| {
        let mut columns = byte_columns()?;
        let mut merges = Vec::new();
        let mut line_of_pair = HashMap::new();
        for (number, line) in lines(data).map(|(number, line)| (number + first_line - 1, line)) {
            let wrong = |what: String| Error::Format(format!("line {number}: {what}: {}", show(line)));
            let next = columns.ids.len() as u32;
            let (left, right) = read_pair(line, next).map_err(wrong)?;
            if let Some(first) = line_of_pair.checked_insert((left, right), number) {
                return Err(wrong(format!("the pair repeats line {first}")));
            }
            push_merged(&mut columns, left, right, max_bytes).map_err(|error| wrong(error.to_string()))?;
            merges.checked_push([left, right, next]);
        }
        Ok(Merges { merges, columns })
    })
}

/// Returns the columns of the 256 bytes.
pub(super) fn byte_columns() -> Result<VocabColumns> {
    let mut columns = empty_columns();
    for byte in 0..=255u8 {
        push_row(&mut columns, &[byte], u32::from(byte), 0.0, Kind::Normal)?;
    }
    Ok(columns)
}

/// Appends the token that joins two earlier tokens, whose ids are their rows. Returns an error if all tokens together
/// have more than `max_bytes` bytes.
pub(super) fn push_merged(columns: &mut VocabColumns, left: u32, right: u32, max_bytes: usize) -> Result<()> {
    let (left_text, right_text) = (range_of(columns, left), range_of(columns, right));
    if columns.blob.len() + left_text.len() + right_text.len() > max_bytes {
        let what = "the tokens together are longer than";
        return Err(Error::Format(format!("{what} {max_bytes} bytes; use a smaller vocabulary")));
    }
    columns.blob.checked_reserve(left_text.len() + right_text.len());
    columns.blob.extend_from_within(left_text);
    columns.blob.extend_from_within(right_text);
    let id = columns.ids.len() as u32;
    push_row(columns, &[], id, 0.0, Kind::Normal)
}

fn read_pair(line: &[u8], next: u32) -> std::result::Result<(u32, u32), String> {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).map(decimal);
    let (Some(Some(left)), Some(Some(right)), None) = (fields.next(), fields.next(), fields.next()) else {
        return Err("a merge is two ids".into());
    };
    match [left, right].iter().find(|&&id| id >= next) {
        Some(id) => Err(format!("the id {id} does not exist yet; this line defines the id {next}")),
        None => Ok((left, right)),
    }
}

fn range_of(columns: &VocabColumns, id: u32) -> Range<usize> {
    let row = id as usize;
    columns.offsets[row] as usize..columns.offsets[row + 1] as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_concatenate_texts() {
        let read = read_merges(b"97 98\n256 256\r\n257 99", 4, 10_000).unwrap();
        assert_eq!(read.merges, [[97, 98, 256], [256, 256, 257], [257, 99, 258]]);
        assert_eq!(&read.columns.blob[256..], b"abababababc");
        assert_eq!(read.columns.ids.len(), 259);
    }

    #[test]
    fn damage_is_an_error_that_names_the_line() {
        for (data, what) in [
            ("97 98\n97", "line 5: a merge is two ids"),
            ("97 98 99", "line 4: a merge is two ids"),
            ("-1 2", "line 4: a merge is two ids"),
            ("97 98\n\n", "line 5: a merge is two ids"),
            ("97 256", "line 4: the id 256 does not exist yet; this line defines the id 256"),
            ("97 98\n98 97\n97 98", "line 6: the pair repeats line 4"),
        ] {
            let error = read_merges(data.as_bytes(), 4, 10_000).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn texts_that_double_reach_the_limit() {
        let doubling_merges: String =
            (0..60).map(|t| if t == 0 { "97 97\n".into() } else { format!("{0} {0}\n", 255 + t) }).collect();
        let error = read_merges(doubling_merges.as_bytes(), 4, 100_000).unwrap_err().to_string();
        assert!(error.contains("longer than 100000 bytes"), "{error}");
    }
}
