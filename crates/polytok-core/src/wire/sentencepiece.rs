//! The pieces of a SentencePiece `.model`: field 1 of the ModelProto, repeated, id = position.
//!
//! A piece is a message {1 text, 2 score: float = 0, 3 type: enum = NORMAL}. The SentencePiece trainer writes the score
//! always and the type only when it is not NORMAL; pieces written in another way are kept in `details`, sparsely, so
//! that a file is written back as it was. All other fields of the model go to Python untouched.
//!
//! `details` is a sequence of records {varint: rows since the record before; u8: flags; varint: length; unknown fields}.
//! Cost: one pass over the file.

use super::protobuf::{FieldValue, MessageFields, push_varint, split_varint, varint_len};
use super::{no_rows, push_row, rows};
use crate::error::{Error, Result};
use crate::spec::{Kind, VocabColumns};

/// The contents of a `.model`: the pieces, and all other fields as a protobuf message.
#[derive(Debug)]
pub struct ModelPieces<'a> {
    /// The pieces in columns.
    pub columns: VocabColumns,
    /// The encodings of pieces that the trainer would have written differently; empty for most files.
    pub details: Vec<u8>,
    /// All fields of the model except the pieces, in file order.
    pub rest: Vec<u8>,
    /// The rules for rewriting, if they were taken out of the first normalizer in `rest`. Should `rest` have others, those hold.
    pub charsmap: Option<&'a [u8]>,
}

/// The field of the model that is the normalizer, and its field that is the rules.
const NORMALIZER: u32 = 3;
const CHARSMAP: u32 = 2;

/// A flag: the score was not written.
const NO_SCORE: u8 = 1;
/// A flag: the type was written although it is NORMAL.
const TYPE_WRITTEN: u8 = 2;

/// Whether the bytes have the shape of a `.model`: fields to the end, of which the first with number 1 is a piece.
pub fn probe(data: &[u8]) -> Result<()> {
    let mut has_piece = false;
    for field in MessageFields::new(data) {
        let field = field?;
        if let (1, FieldValue::Bytes(message), false) = (field.number, field.value, has_piece) {
            read_piece(message, &mut no_rows())?;
            has_piece = true;
        }
    }
    match has_piece {
        true => Ok(()),
        false => Err(Error::Format("a protobuf message without pieces (field 1)".into())),
    }
}

/// Takes the pieces out of a `.model`.
pub fn read_pieces(data: &[u8]) -> Result<ModelPieces<'_>> {
    let mut pieces = ModelPieces { columns: no_rows(), details: Vec::new(), rest: Vec::new(), charsmap: None };
    let (mut last_detail, mut has_normalizer) = (0, false);
    for field in MessageFields::new(data) {
        let field = field?;
        match (field.number, field.value) {
            (1, FieldValue::Bytes(message)) => {
                let row = pieces.columns.ids.len();
                let (flags, unknown) = read_piece(message, &mut pieces.columns)
                    .map_err(|error| Error::Format(format!("piece {row} (byte {}): {error}", field.at)))?;
                if flags != 0 || !unknown.is_empty() {
                    push_varint(&mut pieces.details, (row - last_detail) as u64);
                    pieces.details.push(flags);
                    push_varint(&mut pieces.details, unknown.len() as u64);
                    pieces.details.extend(unknown);
                    last_detail = row;
                }
            }
            (NORMALIZER, FieldValue::Bytes(message)) if !has_normalizer => {
                has_normalizer = true;
                pieces.charsmap = push_without_charsmap(&mut pieces.rest, message);
                if pieces.charsmap.is_none() {
                    pieces.rest.extend_from_slice(field.raw);
                }
            }
            _ => pieces.rest.extend_from_slice(field.raw),
        }
    }
    Ok(pieces)
}

/// Appends a normalizer without its rules, which are nearly all of it, and returns them; None, and nothing is done, if it is no
/// message that has rules once. This spares copies of some hundred kilobytes.
fn push_without_charsmap<'a>(rest: &mut Vec<u8>, message: &'a [u8]) -> Option<&'a [u8]> {
    let mut found = None;
    for field in MessageFields::new(message) {
        let field = field.ok()?;
        if let (CHARSMAP, FieldValue::Bytes(charsmap)) = (field.number, &field.value)
            && found.replace((field, *charsmap)).is_some()
        {
            return None;
        }
    }
    let (field, charsmap) = found.filter(|(_, charsmap)| !charsmap.is_empty())?;
    rest.push((NORMALIZER << 3 | 2) as u8);
    push_varint(rest, (message.len() - field.raw.len()) as u64);
    rest.extend_from_slice(&message[..field.at]);
    rest.extend_from_slice(&message[field.at + field.raw.len()..]);
    Some(charsmap)
}

/// The piece as the trainer writes it: text, score, and a type that is not NORMAL; or as others do, who write NORMAL too. Nearly
/// all pieces are so, and this spares them the walk over their fields.
#[inline]
fn usual_piece(message: &[u8]) -> Option<(&[u8], f32, Kind, u8)> {
    let [0x0A, length @ 0..=0x7F, left @ ..] = message else {
        return None;
    };
    let (text, left) = left.split_at_checked(*length as usize)?;
    let (&[0x15, a, b, c, d], left) = left.split_first_chunk()? else {
        return None;
    };
    let (kind, flags) = match left {
        [] => (Kind::Normal, 0),
        [0x18, 1] => (Kind::Normal, TYPE_WRITTEN),
        [0x18, number @ 2..=6] => (Kind::try_from(*number).ok()?, 0),
        _ => return None,
    };
    Some((text, f32::from_le_bytes([a, b, c, d]), kind, flags))
}

/// Appends a piece to the columns. Returns its flags and unknown fields.
fn read_piece(message: &[u8], columns: &mut VocabColumns) -> Result<(u8, Vec<u8>)> {
    let id = u32::try_from(columns.ids.len()).map_err(|_| Error::Format("more than 2^32 pieces".into()))?;
    if let Some((text, score, kind, flags)) = usual_piece(message) {
        push_row(columns, text, id, score, kind)?;
        return Ok((flags, Vec::new()));
    }
    let (mut text, mut score, mut kind, mut unknown) = (&[][..], None, None, Vec::new());
    for field in MessageFields::new(message) {
        let field = field?;
        match (field.number, field.value) {
            (1, FieldValue::Bytes(bytes)) => text = bytes,
            (2, FieldValue::Fixed32(bytes)) => score = Some(f32::from_le_bytes(bytes)),
            // A type that the enum does not have is an unknown field to protobuf, and the piece is NORMAL.
            (3, FieldValue::Varint(number)) if (1..=6).contains(&(number as i32)) => {
                kind = Some(Kind::try_from(number as u8)?);
            }
            _ => unknown.extend_from_slice(field.raw),
        }
    }
    if text.is_empty() {
        // Two bytes of file would make a row of thirteen; no model with such a piece loads.
        return Err(Error::Format("a piece must not be empty".into()));
    }
    push_row(columns, text, id, score.unwrap_or(0.0), kind.unwrap_or(Kind::Normal))?;
    let no_score = if score.is_none() { NO_SCORE } else { 0 };
    let type_written = if kind == Some(Kind::Normal) { TYPE_WRITTEN } else { 0 };
    Ok((no_score | type_written, unknown))
}

/// The pieces as they stand in a `.model`; everything else is to follow them.
pub fn write_pieces(columns: &VocabColumns, details: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(columns.blob.len() + 16 * columns.ids.len());
    let mut details = Details { left: details, row: 0 };
    let mut next = details.next_record()?;
    for (row, text) in rows(columns).enumerate() {
        let (mut flags, mut unknown) = (0, &[][..]);
        if let Some((at, record_flags, record_unknown)) = next
            && at == row
        {
            (flags, unknown) = (record_flags, record_unknown);
            next = details.next_record()?;
        }
        write_piece(&mut out, text, columns.scores[row], columns.kinds[row], flags, unknown);
    }
    Ok(out)
}

fn write_piece(out: &mut Vec<u8>, text: &[u8], score: f32, kind: Kind, flags: u8, unknown: &[u8]) {
    let with_score = flags & NO_SCORE == 0 || score.to_bits() != 0;
    let with_type = flags & TYPE_WRITTEN != 0 || kind != Kind::Normal;
    let fixed = 1 + varint_len(text.len() as u64) + 5 * usize::from(with_score) + 2 * usize::from(with_type);
    out.push(0x0A);
    push_varint(out, (fixed + text.len() + unknown.len()) as u64);
    out.push(0x0A);
    push_varint(out, text.len() as u64);
    out.extend_from_slice(text);
    if with_score {
        out.push(0x15);
        out.extend_from_slice(&score.to_le_bytes());
    }
    if with_type {
        out.extend_from_slice(&[0x18, kind as u8]);
    }
    out.extend_from_slice(unknown);
}

/// Reads the records of `details`, in row order.
struct Details<'a> {
    left: &'a [u8],
    row: usize,
}

impl<'a> Details<'a> {
    fn next_record(&mut self) -> Result<Option<(usize, u8, &'a [u8])>> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let damaged = || Error::Format("the pieces' details are damaged".into());
        let (step, left) = split_varint(self.left)?;
        let (&flags, left) = left.split_first().ok_or_else(damaged)?;
        let (length, left) = split_varint(left)?;
        if length > left.len() as u64 {
            return Err(damaged());
        }
        let (unknown, left) = left.split_at(length as usize);
        self.left = left;
        self.row = usize::try_from(step).ok().and_then(|step| self.row.checked_add(step)).ok_or_else(damaged)?;
        Ok(Some((self.row, flags, unknown)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns;
    use super::*;

    #[test]
    fn odd_pieces_come_back_byte_for_byte() {
        let plain = [0x0A, 8, 0x0A, 1, b'a', 0x15, 0, 0, 0x80, 0xBF];
        let no_score = [0x0A, 3, 0x0A, 1, b'b'];
        let typed = [0x0A, 12, 0x0A, 1, b'c', 0x15, 0, 0, 0, 0, 0x18, 1, 0x40, 9];
        let unknown_type = [0x0A, 10, 0x0A, 1, b'd', 0x15, 0, 0, 0, 0, 0x18, 7];
        let rest = [0x12, 2, 0x18, 2];
        let data = [&plain[..], &no_score, &typed, &unknown_type, &rest].concat();
        let pieces = read_pieces(&data).unwrap();
        assert_eq!(pieces.columns.blob, b"abcd");
        assert_eq!(pieces.columns.kinds, [Kind::Normal; 4]);
        assert_eq!(pieces.rest, rest);
        let written = write_pieces(&pieces.columns, &pieces.details).unwrap();
        assert_eq!([&written[..], &pieces.rest].concat(), data);
    }

    #[test]
    fn rules_are_taken_out_of_the_first_normalizer() {
        let name = [0x0A, 1, b'n'];
        let (one, two, none) = ([0x12, 1, b'x'], [0x12, 2, b'y', b'z'], [0x12, 0]);
        let flag = [0x18, 0];
        let normalizer = |fields: &[&[u8]]| {
            let message = fields.concat();
            [&[0x1A, message.len() as u8][..], &message].concat()
        };
        let read = |data: &[u8]| {
            let pieces = read_pieces(data).unwrap();
            (pieces.rest, pieces.charsmap.map(<[u8]>::to_vec))
        };
        assert_eq!(read(&normalizer(&[&name, &two, &flag])), (normalizer(&[&name, &flag]), Some(b"yz".to_vec())));
        assert_eq!(read(&normalizer(&[&one])), (normalizer(&[]), Some(b"x".to_vec())));
        for kept in [&[&name[..], &none][..], &[&one, &two], &[&flag], &[&one, &[0x12, 9]], &[]] {
            assert_eq!(read(&normalizer(kept)), (normalizer(kept), None), "{kept:?}");
        }
        let both = [normalizer(&[&one]), normalizer(&[&two])].concat();
        assert_eq!(read(&both), ([normalizer(&[]), normalizer(&[&two])].concat(), Some(b"x".to_vec())));
    }

    #[test]
    fn damaged_details_are_an_error() {
        let columns = columns(&[(b"a", 0.0, Kind::Normal)]);
        for details in [&[0][..], &[0, 0], &[0, 0, 5, 1], &[0xFF; 12]] {
            assert!(write_pieces(&columns, details).is_err(), "{details:?}");
        }
    }
}
