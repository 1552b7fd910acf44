//! Reads and writes the pieces of a SentencePiece `.model`, which are the repeated field 1 of the ModelProto. The id of
//! a piece is its index.
//!
//! A piece is a message {1 text, 2 score: float = 0, 3 type: enum = NORMAL}. The SentencePiece trainer always writes
//! the score, and writes the type only if it is not NORMAL. `details` records every piece that is encoded in another
//! way, so that a file can be written back byte for byte. Python reads all other fields of the model.
//!
//! `details` is a sequence of records {varint: distance from the row of the preceding record; u8: flags; varint: length
//! of the unknown fields; the unknown fields}. Cost: one pass over the file.

use polytok_memory::{self as memory, Grow};

use super::protobuf::{FieldValue, MessageFields, push_varint, split_varint, varint_len};
use super::{empty_columns, push_row, rows};
use crate::error::{Error, Result};
use crate::spec::{Kind, VocabColumns};

/// The contents of a `.model`: the pieces, and all other fields as a protobuf message.
#[derive(Debug)]
pub struct ModelPieces<'a> {
    /// The pieces in columns.
    pub columns: VocabColumns,
    /// The records of the pieces that the trainer would encode in another way; empty for most files.
    pub details: Vec<u8>,
    /// All fields of the model except the pieces, in file order.
    pub rest: Vec<u8>,
    /// The charsmap of the first normalizer of the model, which `rest` does not contain. A charsmap in a later
    /// normalizer of `rest` overrides this charsmap.
    pub charsmap: Option<&'a [u8]>,
}

/// The field numbers of the normalizer in a model and of the charsmap in a normalizer.
const NORMALIZER_FIELD: u32 = 3;
const CHARSMAP_FIELD: u32 = 2;

/// The flag of a piece without a score in the file.
const WITHOUT_SCORE: u8 = 1;
/// The flag of a piece whose type is in the file although it is NORMAL.
const WITH_NORMAL_TYPE: u8 = 2;

/// Checks that the bytes have the structure of a `.model`: the bytes are protobuf fields up to the end, and the first
/// field with number 1 is a piece.
pub fn probe(data: &[u8]) -> Result<()> {
    let mut has_piece = false;
    for field in MessageFields::new(data) {
        let field = field?;
        if let (1, FieldValue::Bytes(message), false) = (field.number, field.value, has_piece) {
            read_piece(message, &mut empty_columns())?;
            has_piece = true;
        }
    }
    match has_piece {
        true => Ok(()),
        false => Err(Error::Format(
            "the protobuf message has no pieces (field 1), so it is not a SentencePiece model".into(),
        )),
    }
}

/// Reads a `.model` and separates the pieces from its other fields.
pub fn read_pieces(data: &[u8]) -> Result<ModelPieces<'_>> {
    memory::catch(|| {
        let mut pieces =
            ModelPieces { columns: empty_columns(), details: Vec::new(), rest: Vec::new(), charsmap: None };
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
                        pieces.details.checked_push(flags);
                        push_varint(&mut pieces.details, unknown.len() as u64);
                        pieces.details.checked_extend(unknown);
                        last_detail = row;
                    }
                }
                (NORMALIZER_FIELD, FieldValue::Bytes(message)) if !has_normalizer => {
                    has_normalizer = true;
                    pieces.charsmap = push_without_charsmap(&mut pieces.rest, message);
                    if pieces.charsmap.is_none() {
                        pieces.rest.checked_extend_from_slice(field.raw);
                    }
                }
                _ => pieces.rest.checked_extend_from_slice(field.raw),
            }
        }
        Ok(pieces)
    })
}

/// Appends a normalizer without its charsmap to `rest`, and returns the charsmap, so that its several hundred kilobytes
/// are not copied. Returns `None` and appends nothing if the message is invalid or does not have exactly one charsmap.
fn push_without_charsmap<'a>(rest: &mut Vec<u8>, message: &'a [u8]) -> Option<&'a [u8]> {
    let mut charsmap_field = None;
    for field in MessageFields::new(message) {
        let field = field.ok()?;
        if let (CHARSMAP_FIELD, FieldValue::Bytes(charsmap)) = (field.number, &field.value)
            && charsmap_field.replace((field, *charsmap)).is_some()
        {
            return None;
        }
    }
    let (field, charsmap) = charsmap_field.filter(|(_, charsmap)| !charsmap.is_empty())?;
    rest.checked_push((NORMALIZER_FIELD << 3 | 2) as u8);
    push_varint(rest, (message.len() - field.raw.len()) as u64);
    rest.checked_extend_from_slice(&message[..field.at]);
    rest.checked_extend_from_slice(&message[field.at + field.raw.len()..]);
    Some(charsmap)
}

/// Reads a piece with the fields of nearly all files (text, score and perhaps type), without a loop over fields.
/// Returns `None` if the piece has other fields or another order.
#[inline]
fn read_common_piece(message: &[u8]) -> Option<(&[u8], f32, Kind, u8)> {
    let [0x0A, length @ 0..=0x7F, remaining_bytes @ ..] = message else {
        return None;
    };
    let (text, remaining_bytes) = remaining_bytes.split_at_checked(*length as usize)?;
    let (&[0x15, a, b, c, d], remaining_bytes) = remaining_bytes.split_first_chunk()? else {
        return None;
    };
    let (kind, flags) = match remaining_bytes {
        [] => (Kind::Normal, 0),
        [0x18, 1] => (Kind::Normal, WITH_NORMAL_TYPE),
        [0x18, number @ 2..=6] => (Kind::try_from(*number).ok()?, 0),
        _ => return None,
    };
    Some((text, f32::from_le_bytes([a, b, c, d]), kind, flags))
}

/// Appends a piece to the columns; returns the flags and the unknown fields of the piece.
fn read_piece(message: &[u8], columns: &mut VocabColumns) -> Result<(u8, Vec<u8>)> {
    let id = u32::try_from(columns.ids.len()).map_err(|_| Error::Format("more than 2^32 pieces".into()))?;
    if let Some((text, score, kind, flags)) = read_common_piece(message) {
        push_row(columns, text, id, score, kind)?;
        return Ok((flags, Vec::new()));
    }
    let (mut text, mut score, mut kind, mut unknown) = (&[][..], None, None, Vec::new());
    for field in MessageFields::new(message) {
        let field = field?;
        match (field.number, field.value) {
            (1, FieldValue::Bytes(bytes)) => text = bytes,
            (2, FieldValue::Fixed32(bytes)) => score = Some(f32::from_le_bytes(bytes)),
            // Protobuf treats a type that is not in the enum as an unknown field, so the piece is NORMAL.
            (3, FieldValue::Varint(number)) if (1..=6).contains(&(number as i32)) => {
                kind = Some(Kind::try_from(number as u8)?);
            }
            _ => unknown.checked_extend_from_slice(field.raw),
        }
    }
    if text.is_empty() {
        // SentencePiece loads no model with an empty piece. This error also limits memory: an empty piece takes two
        // bytes in a file, but its row would take thirteen bytes.
        return Err(Error::Format("a piece must not be empty".into()));
    }
    push_row(columns, text, id, score.unwrap_or(0.0), kind.unwrap_or(Kind::Normal))?;
    let score_flag = if score.is_none() { WITHOUT_SCORE } else { 0 };
    let type_flag = if kind == Some(Kind::Normal) { WITH_NORMAL_TYPE } else { 0 };
    Ok((score_flag | type_flag, unknown))
}

/// Writes the pieces of a `.model`; the caller appends all other fields.
pub fn write_pieces(columns: &VocabColumns, details: &[u8]) -> Result<Vec<u8>> {
    memory::catch(|| {
        let mut out = memory::with_capacity(columns.blob.len() + 16 * columns.ids.len());
        let mut details = PieceDetails { remaining_bytes: details, row: 0 };
        let mut record = details.next_record()?;
        for (row, text) in rows(columns).enumerate() {
            let (mut flags, mut unknown) = (0, &[][..]);
            if let Some((at, record_flags, record_unknown)) = record
                && at == row
            {
                (flags, unknown) = (record_flags, record_unknown);
                record = details.next_record()?;
            }
            write_piece(&mut out, text, columns.scores[row], columns.kinds[row], flags, unknown);
        }
        Ok(out)
    })
}

fn write_piece(out: &mut Vec<u8>, text: &[u8], score: f32, kind: Kind, flags: u8, unknown: &[u8]) {
    let has_score = flags & WITHOUT_SCORE == 0 || score.to_bits() != 0;
    let has_type = flags & WITH_NORMAL_TYPE != 0 || kind != Kind::Normal;
    let fields_len = 1 + varint_len(text.len() as u64) + 5 * usize::from(has_score) + 2 * usize::from(has_type);
    out.checked_push(0x0A);
    push_varint(out, (fields_len + text.len() + unknown.len()) as u64);
    out.checked_push(0x0A);
    push_varint(out, text.len() as u64);
    out.checked_extend_from_slice(text);
    if has_score {
        out.checked_push(0x15);
        out.checked_extend_from_slice(&score.to_le_bytes());
    }
    if has_type {
        out.checked_extend_from_slice(&[0x18, kind as u8]);
    }
    out.checked_extend_from_slice(unknown);
}

/// Reads the records of `details`, in row order.
struct PieceDetails<'a> {
    remaining_bytes: &'a [u8],
    row: usize,
}

impl<'a> PieceDetails<'a> {
    fn next_record(&mut self) -> Result<Option<(usize, u8, &'a [u8])>> {
        if self.remaining_bytes.is_empty() {
            return Ok(None);
        }
        let damage_error = || Error::Format("the details of the pieces are damaged; load the model file again".into());
        let (step, remaining_bytes) = split_varint(self.remaining_bytes)?;
        let (&flags, remaining_bytes) = remaining_bytes.split_first().ok_or_else(damage_error)?;
        let (length, remaining_bytes) = split_varint(remaining_bytes)?;
        if length > remaining_bytes.len() as u64 {
            return Err(damage_error());
        }
        let (unknown, remaining_bytes) = remaining_bytes.split_at(length as usize);
        self.remaining_bytes = remaining_bytes;
        self.row = usize::try_from(step).ok().and_then(|step| self.row.checked_add(step)).ok_or_else(damage_error)?;
        Ok(Some((self.row, flags, unknown)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns;
    use super::*;

    #[test]
    fn unusual_pieces_are_written_back_byte_for_byte() {
        let usual_piece = [0x0A, 8, 0x0A, 1, b'a', 0x15, 0, 0, 0x80, 0xBF];
        let piece_without_score = [0x0A, 3, 0x0A, 1, b'b'];
        let piece_with_normal_type = [0x0A, 12, 0x0A, 1, b'c', 0x15, 0, 0, 0, 0, 0x18, 1, 0x40, 9];
        let piece_with_unknown_type = [0x0A, 10, 0x0A, 1, b'd', 0x15, 0, 0, 0, 0, 0x18, 7];
        let rest = [0x12, 2, 0x18, 2];
        let data =
            [&usual_piece[..], &piece_without_score, &piece_with_normal_type, &piece_with_unknown_type, &rest].concat();
        let pieces = read_pieces(&data).unwrap();
        assert_eq!(pieces.columns.blob, b"abcd");
        assert_eq!(pieces.columns.kinds, [Kind::Normal; 4]);
        assert_eq!(pieces.rest, rest);
        let written = write_pieces(&pieces.columns, &pieces.details).unwrap();
        assert_eq!([&written[..], &pieces.rest].concat(), data);
    }

    #[test]
    fn character_map_of_the_first_normalizer_is_removed() {
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
