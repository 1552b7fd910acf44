//! Writes the results of SentencePiece's processor as its message SentencePieceText: a text, and for each piece the
//! piece, its id, the text that it covers (its surface) and the span of this text.
//!
//! Reference: sentencepiece.proto, and the order and presence of fields in what 0.2.3 writes. A byte piece that is not
//! the last of its character covers nothing, and has no surface when a text is encoded.

use polytok_memory::{self as memory, Copied, Grow};

use super::protobuf::{push_varint, varint_len};
use crate::error::Result;
use crate::normalize::output::Span;
use crate::sink::{OwnText, TextsAndSpans};
use crate::spec::Kind;
use crate::token_id::TokenId;
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// The tags of the message's fields.
const TEXT: u8 = 0x0A;
const PIECES: u8 = 0x12;
/// The tags of the fields of a piece.
const PIECE: u8 = 0x0A;
const ID: u8 = 0x10;
const SURFACE: u8 = 0x1A;
const BEGIN: u8 = 0x20;
const END: u8 = 0x28;

/// The usual number of bytes of a piece in the message, except its texts.
const TYPICAL_PIECE_BYTES: usize = 16;

/// The maximum length of a varint.
const MAX_VARINT_LEN: usize = 10;

impl Tokenizer {
    /// Encodes a text, and returns the message of the text and its pieces. Spans are in bytes.
    pub fn sentencepiece_text(&self, text: &[u8]) -> Result<Vec<u8>> {
        memory::catch(|| {
            let TextsAndSpans { spans, own_texts } = self.spans_with_unknown_texts(text)?;
            let vocab = &self.segmenter.vocab;
            let is_byte = |id| vocab.row(TokenId(id)).is_some_and(|row| vocab.kind(row) == Kind::Byte);
            let mut own_texts = own_texts.iter().peekable();
            let mut message = Message::new(text, spans.ids.len());
            for (at, (&id, (&begin, &end))) in spans.ids.iter().zip(spans.starts.iter().zip(&spans.ends)).enumerate() {
                let own_text = own_texts.next_if(|own_text| own_text.0 == at).map(|(_, own_text)| own_text);
                let piece = self.unknown_text(own_text).or_else(|| self.token_bytes(id)).unwrap_or_default();
                let has_surface = end > begin || !is_byte(id);
                message.push(piece, id, has_surface.then(|| &text[begin as usize..end as usize]), (begin, end));
            }
            Ok(message.0)
        })
    }

    /// Encodes a text to columns with the texts of unknown tokens. Without these texts, encoding is faster, and most of
    /// them can be copied from `text`.
    fn spans_with_unknown_texts(&self, text: &[u8]) -> Result<TextsAndSpans> {
        let options = EncodeOptions::default();
        let mut encoded = TextsAndSpans::with_room(text.len());
        self.encode_plain(text, options, &mut encoded.spans)?;
        if !self.copy_unknown_texts(text, &mut encoded) {
            encoded = TextsAndSpans::with_room(text.len());
            self.encode_plain(text, options, &mut encoded)?;
        }
        Ok(encoded)
    }

    /// Copies the texts of unknown tokens; returns false if normalization can have changed one of them. A space that is
    /// inserted before the text can be part of the first token.
    fn copy_unknown_texts(&self, text: &[u8], TextsAndSpans { spans, own_texts }: &mut TextsAndSpans) -> bool {
        let Some(TokenId(unknown_id)) = self.segmenter.fallback.unknown_id() else { return true };
        let normalizer = self.normalizer.sentencepiece().filter(|normalizer| !normalizer.adds_suffix());
        let unknown_tokens = spans.ids.iter().enumerate().filter(|&(_, &id)| id == unknown_id);
        for (at, _) in unknown_tokens {
            let (start, end) = (spans.starts[at] as usize, spans.ends[at] as usize);
            if at == 0 || !normalizer.is_some_and(|normalizer| normalizer.copies_chars(text, start, end)) {
                return false;
            }
            own_texts.checked_push((at, OwnText::Unknown(text[start..end].checked_to_vec())));
        }
        true
    }

    /// Decodes ids by SentencePiece's rules, and returns the message of the decoded text and the pieces of the ids. Spans
    /// are in bytes.
    pub fn sentencepiece_text_of_ids(&self, ids: &[u32]) -> Result<Vec<u8>> {
        memory::catch(|| {
            let (text, ends) = self.decode_pieces(ids)?;
            let mut message = Message::new(&text, ids.len());
            let mut begin = 0;
            for (&id, &end) in ids.iter().zip(&ends) {
                let piece = self.token_bytes(id).unwrap_or_default();
                message.push(piece, id, Some(&text[begin..end]), (begin as u32, end as u32));
                begin = end;
            }
            Ok(message.0)
        })
    }
}

/// The bytes of a message.
struct Message(Vec<u8>);

impl Message {
    /// Starts a message with its text; reserves room for some pieces.
    fn new(text: &[u8], piece_count: usize) -> Message {
        let mut out = memory::with_capacity(3 * text.len() + TYPICAL_PIECE_BYTES * piece_count + 16);
        out.checked_push(TEXT);
        push_varint(&mut out, text.len() as u64);
        out.checked_extend_from_slice(text);
        Message(out)
    }

    /// Appends a piece. Without a surface, the message has no field for it.
    fn push(&mut self, piece: &[u8], id: u32, surface: Option<&[u8]>, (begin, end): Span) {
        let mut numbers = Numbers::default();
        numbers.add(ID, id.into());
        let id_len = numbers.len;
        let (mut ends, mut head) = (Numbers::default(), Numbers::default());
        ends.add(BEGIN, begin.into());
        ends.add(END, end.into());
        let len = bytes_len(piece) + id_len + surface.map_or(0, bytes_len) + ends.len;
        head.add(PIECES, len as u64);
        head.add(PIECE, piece.len() as u64);
        if let Some(surface) = surface {
            numbers.add(SURFACE, surface.len() as u64);
        }
        for bytes in [head.bytes(), piece, numbers.bytes(), surface.unwrap_or_default(), ends.bytes()] {
            self.0.checked_extend_from_slice(bytes);
        }
    }
}

/// Two tags with their numbers. Collecting them before they are appended is faster than appending each byte.
#[derive(Default)]
struct Numbers {
    array: [u8; 2 * (1 + MAX_VARINT_LEN)],
    len: usize,
}

impl Numbers {
    /// Adds a tag and a number.
    #[inline]
    fn add(&mut self, tag: u8, mut number: u64) {
        self.array[self.len] = tag;
        self.len += 1;
        while number >= 0x80 {
            self.array[self.len] = number as u8 | 0x80;
            self.len += 1;
            number >>= 7;
        }
        self.array[self.len] = number as u8;
        self.len += 1;
    }

    fn bytes(&self) -> &[u8] {
        &self.array[..self.len]
    }
}

/// Returns the length of a field that contains bytes.
fn bytes_len(bytes: &[u8]) -> usize {
    1 + varint_len(bytes.len() as u64) + bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::protobuf::{Field, FieldValue, MessageFields};

    /// Returns the fields of a message as their numbers and values.
    fn fields(message: &[u8]) -> Vec<(u32, FieldValue<'_>)> {
        MessageFields::new(message)
            .map(|field| field.map(|Field { number, value, .. }| (number, value)).unwrap())
            .collect()
    }

    #[test]
    fn messages_are_read_back() {
        use FieldValue::{Bytes, Varint};
        let long = [b'x'; 300];
        let mut message = Message::new(&long, 2);
        message.push(b"\xFFp", 300, Some(&long), (0, 300));
        message.push(b"", 0, None, (300, 300));
        let fields_of_text = fields(&message.0);
        let [(1, Bytes(text)), (2, Bytes(first)), (2, Bytes(second))] = fields_of_text[..] else {
            panic!("{fields_of_text:?}")
        };
        assert_eq!(text, long);
        let expected = [(1, Bytes(b"\xFFp")), (2, Varint(300)), (3, Bytes(&long)), (4, Varint(0)), (5, Varint(300))];
        assert_eq!(fields(first), expected);
        assert_eq!(fields(second), [(1, Bytes(b"")), (2, Varint(0)), (4, Varint(300)), (5, Varint(300))]);
    }
}
