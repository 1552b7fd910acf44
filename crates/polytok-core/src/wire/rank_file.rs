//! Reads and writes tiktoken's rank files: lines `base64(bytes) SP rank`.
//!
//! Reference: `load_tiktoken_bpe` of tiktoken. Lines end as in Python's `bytes.splitlines`, empty lines are skipped,
//! and the two fields are split at white space. Ranks may have gaps. An empty token is written `=`, as in whisper's
//! multilingual.tiktoken, because its base64 is empty, and tiktoken cannot read a line with a single field.
//!
//! This reader is stricter than tiktoken in two ways. Base64 must be valid: Python ignores characters outside of the
//! base64 alphabet, so tiktoken loads a damaged file as a different vocabulary. No rank and no token can occur twice:
//! tiktoken fails on a repeated rank. For a repeated token, tiktoken uses the last rank, but Hunyuan's own loader uses
//! the first rank. Cost: one pass over the lines, and two maps.

use std::collections::HashMap;

use polytok_memory::{self as memory, Collect, Copied, Grow, GrowMap};

use super::texts::find_repeated_text;
use super::{base64, decimal, empty_columns, lines, push_row, rows, show, text};
use crate::error::{Error, Result};
use crate::spec::{Behavior, Kind, Model, Pattern, Spec, SpecialToken, Split, VocabColumns};
use crate::token_id::TokenId;

/// The base64 text of an empty token, which Python's base64 decodes to an empty token.
const EMPTY: &[u8] = b"=";

/// Reads all lines, in file order.
pub fn read(data: &[u8]) -> Result<VocabColumns> {
    memory::catch(|| {
        let mut columns = empty_columns();
        let mut line_of_row = Vec::new();
        let mut bytes = Vec::new();
        for (number, line) in lines(data) {
            let wrong = |what: &str| Error::Format(format!("line {number}: {what}: {}", show(line)));
            let mut fields =
                line.split(|byte| byte.is_ascii_whitespace() || *byte == 0x0B).filter(|field| !field.is_empty());
            let (text, rank) = match (fields.next(), fields.next(), fields.next()) {
                (None, ..) => continue,
                (Some(text), Some(rank), None) => (text, rank),
                _ => return Err(wrong("not two fields (base64 and rank)")),
            };
            let digits = if text == EMPTY { b"" } else { text };
            base64::decode(digits, &mut bytes).ok_or_else(|| wrong("the first field is not base64"))?;
            let rank = decimal(rank).ok_or_else(|| wrong("the second field is not a rank from 0 to 4294967295"))?;
            push_row(&mut columns, &bytes, rank, 0.0, Kind::Normal)?;
            line_of_row.checked_push(number);
        }
        check_unique(&columns, &line_of_row)?;
        Ok(columns)
    })
}

fn check_unique(columns: &VocabColumns, line_of_row: &[usize]) -> Result<()> {
    let repeat_error = |what: String, first: usize, row: usize| {
        Err(Error::Format(format!("line {}: {what} repeats line {}", line_of_row[row], line_of_row[first])))
    };
    if let Some((first, row)) = find_repeated_text(columns) {
        return repeat_error(format!("the token {}", show(text(columns, row))), first, row);
    }
    if columns.ids.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    let mut row_of_rank = HashMap::new();
    for (row, &rank) in columns.ids.iter().enumerate() {
        if let Some(first) = row_of_rank.checked_insert(rank, row) {
            return repeat_error(format!("the rank {rank}"), first, row);
        }
    }
    Ok(())
}

/// Returns the Spec of a file. A file does not contain the regular expression that splits texts, and the special tokens,
/// which come from the program that uses the file. Without a pattern, texts are not split.
pub fn spec(data: &[u8], pattern: Option<&str>, special: &[(&str, u32)]) -> Result<Spec> {
    let vocab = read(data)?;
    if vocab.ids.is_empty() {
        return Err(Error::Format("the file has no tokens".into()));
    }
    let split = pattern.map(|pattern| Split::Pattern {
        pattern: Pattern { text: pattern.to_owned(), is_regex: true, unicode: None },
        behavior: Behavior::Matches,
        invert: false,
    });
    let special_token = |&(text, id): &(&str, u32)| SpecialToken {
        text: text.as_bytes().checked_to_vec(),
        id: TokenId(id),
        ..SpecialToken::default()
    };
    Ok(Spec {
        special: special.iter().map(special_token).checked_collect(),
        split: split.into_iter().collect(),
        ..Spec::new(vocab, Model::bpe_by_rank())
    })
}

/// Writes the file, line by line in row order.
pub fn write(columns: &VocabColumns) -> Vec<u8> {
    let mut out = memory::with_capacity(columns.blob.len() * 4 / 3 + 12 * columns.ids.len());
    for (text, rank) in rows(columns).zip(&columns.ids) {
        if text.is_empty() {
            out.checked_extend_from_slice(EMPTY);
        }
        base64::encode(text, &mut out);
        out.checked_extend_from_slice(format!(" {rank}\n").as_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_back() {
        let data = b"YQ== 0\nYg== 1\nYWI= 7\n";
        let columns = read(data).unwrap();
        assert_eq!((&columns.blob[..], &columns.ids[..]), (&b"abab"[..], &[0, 1, 7][..]));
        assert_eq!(write(&columns), data);
        assert_eq!(read(b"\r\nYQ==\t0 \r\n\nYg== 1").unwrap().blob, b"ab");
    }

    #[test]
    fn an_empty_token_comes_back() {
        let data = b"YQ== 0\n= 1\nYg== 2\n";
        let columns = read(data).unwrap();
        assert_eq!((&columns.blob[..], &columns.ids[..]), (&b"ab"[..], &[0, 1, 2][..]));
        assert_eq!(rows(&columns).map(<[u8]>::len).collect::<Vec<_>>(), [1, 0, 1]);
        assert_eq!(write(&columns), data);
    }

    #[test]
    fn damage_is_an_error_that_names_the_line() {
        for (data, what) in [
            (&b"YQ== 0\nYg=="[..], "line 2: not two fields"),
            (b"YQ== 0 1", "line 1: not two fields"),
            (b"Y*== 0", "line 1: the first field is not base64"),
            (b"YR== 0", "line 1: the first field is not base64"),
            (b"YQ= 0", "line 1: the first field is not base64"),
            (b"==== 0", "line 1: the first field is not base64"),
            (b"=YQ== 0", "line 1: the first field is not base64"),
            (b"= 0\n= 1", "line 2: the token \"\" repeats line 1"),
            (b"= ", "line 1: not two fields"),
            (b"YQ== x", "line 1: the second field is not a rank"),
            (b"YQ== 4294967296", "line 1: the second field is not a rank"),
            (b"YQ== 0\n\nYg== 0", "line 3: the rank 0 repeats line 1"),
            (b"YQ== 0\nYQ== 1", "line 2: the token \"a\" repeats line 1"),
        ] {
            let error = read(data).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
