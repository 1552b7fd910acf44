//! Reads and writes llama2.c's `tokenizer.bin`. The file has the length of the longest token as u32, then records {f32
//! score, u32 length, bytes}, all little endian.
//!
//! The number of tokens is stored in the checkpoint, not in this file, so the records run to the end of the file.
//! llama2.c's code fixes the first tokens: 0 is unknown, 1 and 2 are BOS and EOS, 3 to 258 are the bytes. Cost: one
//! pass.

use polytok_memory::{self as memory, Copied, Grow};

use super::{empty_columns, push_row, rows, show};
use crate::error::{Error, Result};
use crate::spec::{Kind, VocabColumns};

/// Reads all tokens. The header must have the length of the longest token.
pub fn read(data: &[u8]) -> Result<VocabColumns> {
    memory::catch(|| {
        let (longest, mut left) =
            split_u32(data).ok_or_else(|| Error::Format("the file is shorter than its header of 4 bytes".into()))?;
        let mut columns = empty_columns();
        let mut true_longest = 0;
        while !left.is_empty() {
            let id = columns.ids.len();
            let at = data.len() - left.len();
            let (score, text, rest) =
                split_record(left, longest).map_err(|what| Error::Format(format!("token {id} (byte {at}): {what}")))?;
            true_longest = true_longest.max(text.len());
            push_row(&mut columns, text, id as u32, score, kind(id, text))?;
            left = rest;
        }
        if true_longest != longest as usize {
            let what = format!(
                "the header says that the longest token has {longest} bytes, but the longest token has {true_longest} bytes"
            );
            return Err(Error::Format(what));
        }
        Ok(columns)
    })
}

type Record<'a> = (f32, &'a [u8], &'a [u8]);

fn split_record(data: &[u8], longest: u32) -> std::result::Result<Record<'_>, String> {
    let truncated = || format!("the file ends within the token, {} bytes after the token starts", data.len());
    let (score, left) = split_u32(data).ok_or_else(truncated)?;
    let (length, left) = split_u32(left).ok_or_else(truncated)?;
    if length == 0 {
        return Err("a token must not be empty".into());
    }
    if length > longest {
        return Err(format!("{length} bytes, but the header says that the longest has {longest}"));
    }
    let (text, left) = left.split_at_checked(length as usize).ok_or_else(truncated)?;
    Ok((f32::from_bits(score), text, left))
}

fn split_u32(data: &[u8]) -> Option<(u32, &[u8])> {
    data.split_first_chunk().map(|(bytes, left)| (u32::from_le_bytes(*bytes), left))
}

fn kind(id: usize, text: &[u8]) -> Kind {
    match id {
        0 => Kind::Unknown,
        1 | 2 => Kind::Control,
        3..=258 if text == format!("<0x{:02X}>", id - 3).as_bytes() => Kind::Byte,
        _ => Kind::Normal,
    }
}

/// Writes a vocabulary in which every id is the row number.
pub fn write(columns: &VocabColumns) -> Result<Vec<u8>> {
    memory::catch(|| {
        let longest = rows(columns).map(<[u8]>::len).max().unwrap_or(0) as u32;
        let mut out = longest.to_le_bytes().checked_to_vec();
        for (row, text) in rows(columns).enumerate() {
            if text.is_empty() {
                return Err(Error::Format(format!("token {row} {} is empty, which llama2.c cannot read", show(text))));
            }
            out.checked_extend_from_slice(&columns.scores[row].to_le_bytes());
            out.checked_extend_from_slice(&(text.len() as u32).to_le_bytes());
            out.checked_extend_from_slice(text);
        }
        Ok(out)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_back() {
        let mut columns = empty_columns();
        for (id, text) in [&b"<unk>"[..], b"\n<s>\n", b"\n</s>\n", b"<0x00>", b"<0x02>", b"a"].iter().enumerate() {
            push_row(&mut columns, text, id as u32, -(id as f32), Kind::Normal).unwrap();
        }
        let data = write(&columns).unwrap();
        let read = read(&data).unwrap();
        assert_eq!(read.blob, columns.blob);
        assert_eq!(read.scores, columns.scores);
        use Kind::*;
        assert_eq!(read.kinds, [Unknown, Control, Control, Byte, Normal, Normal]);
        assert_eq!(write(&read).unwrap(), data);
    }

    #[test]
    fn damage_is_an_error() {
        let record = |score: f32, len: u32, text: &[u8]| [&score.to_le_bytes()[..], &len.to_le_bytes(), text].concat();
        for (data, what) in [
            (vec![1, 0], "header"),
            ([&[2, 0, 0, 0][..], &record(0.0, 1, b"a")].concat(), "longest token has 2"),
            ([&[1, 0, 0, 0][..], &record(0.0, 2, b"ab")].concat(), "the longest has 1"),
            ([&[9, 0, 0, 0][..], &record(0.0, 9, b"ab")].concat(), "ends within"),
            ([&[0, 0, 0, 0][..], &record(0.0, 0, b"")].concat(), "must not be empty"),
        ] {
            let error = read(&data).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
