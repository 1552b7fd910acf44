//! The vocabulary in columns.

use bytemuck::CheckedBitPattern;

use crate::error::{Error, Result};

/// The kind of a vocabulary entry. The numbers of the kinds are those of SentencePiece and GGUF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u8)]
pub enum Kind {
    /// An ordinary piece.
    Normal = 1,
    /// The unknown entry, whose id is written for text that no other entry covers.
    Unknown = 2,
    /// A control symbol such as `<s>`: encoding plain text never returns its id, and decoding prints nothing for this
    /// id.
    Control = 3,
    /// A piece that is matched before the model runs.
    UserDefined = 4,
    /// A piece that can be an intermediate result of merging, but whose id the model never returns.
    Unused = 5,
    /// A single byte, `<0x00>` to `<0xFF>`.
    Byte = 6,
}

impl TryFrom<u8> for Kind {
    type Error = Error;

    fn try_from(number: u8) -> Result<Kind> {
        Ok(match number {
            1 => Kind::Normal,
            2 => Kind::Unknown,
            3 => Kind::Control,
            4 => Kind::UserDefined,
            5 => Kind::Unused,
            6 => Kind::Byte,
            _ => return Err(Error::Spec(format!("kind {number} does not exist; kinds are numbers from 1 to 6"))),
        })
    }
}

/// The vocabulary in columns; the bytes of row `i` are `blob[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VocabColumns {
    /// The concatenated bytes of all pieces.
    pub blob: Vec<u8>,
    /// The start of each row in `blob`, and the end of the last row.
    pub offsets: Vec<u32>,
    /// The id of each row; no two rows have the same id.
    pub ids: Vec<u32>,
    /// The score of each row; 0 if the format has no scores.
    pub scores: Vec<f32>,
    /// The score of each row in float64, if the format has float64 scores (Hugging Face).
    pub wide_scores: Option<Vec<f64>>,
    /// The kind of each row.
    pub kinds: Vec<Kind>,
    /// The kinds that encoding and decoding use instead of `kinds`, if SentencePiece's vocabulary restriction is on;
    /// tables are built with `kinds`.
    pub active_kinds: Option<Vec<Kind>>,
}

impl VocabColumns {
    /// Returns the columns of ordinary entries without scores. The id of an entry is its position. The entries must be
    /// shorter than 4 GiB together.
    pub fn from_entries<E: AsRef<[u8]>>(entries: &[E]) -> VocabColumns {
        let entries = || entries.iter().map(AsRef::as_ref);
        let ends = entries().scan(0, |end, entry| {
            *end += entry.len() as u32;
            Some(*end)
        });
        VocabColumns {
            blob: entries().flatten().copied().collect(),
            offsets: std::iter::once(0).chain(ends).collect(),
            ids: (0..).zip(entries()).map(|(id, _)| id).collect(),
            scores: vec![0.0; entries().len()],
            kinds: vec![Kind::Normal; entries().len()],
            ..VocabColumns::default()
        }
    }

    /// Returns the columns of rows with a text, a score and a kind. The id of a row is its position.
    #[cfg(test)]
    pub(crate) fn from_rows<E: AsRef<[u8]>>(rows: impl IntoIterator<Item = (E, f32, Kind)>) -> VocabColumns {
        let mut columns = VocabColumns { offsets: vec![0], ..VocabColumns::default() };
        for (id, (text, score, kind)) in (0..).zip(rows) {
            columns.blob.extend_from_slice(text.as_ref());
            columns.offsets.push(columns.blob.len() as u32);
            columns.ids.push(id);
            columns.scores.push(score);
            columns.kinds.push(kind);
        }
        columns
    }
}
