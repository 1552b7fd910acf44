//! SentencePiece's `Decode`: removes the space that the normalizer inserted before a text, converts byte pieces to
//! characters, and can run a denormalizer over the result. The rules run in the order of the reference.

use std::borrow::Cow;

use polytok_memory::{self as memory, Collect, Copied, Grow};

use super::row_texts::SettledOutput;
use super::traced::TracedText;
use super::{append_unescaped, hex_byte, unescape_spaces};
use crate::error::Result;
use crate::normalize::sentencepiece::SentencePieceNormalizer;
use crate::space_mark;
use crate::spec::{Kind, SentencePieceNormalize, SentencePieceVersion};
use crate::utf8;
use crate::vocab::dictionary::Rows;
use crate::vocab::{Row, Vocab};

/// The replacement of an invalid byte, U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// The compiled rules.
pub(super) struct SentencePieceDecoder {
    /// True if a space at the start of the first piece is removed.
    strips_space: bool,
    /// True if a space is removed at the start of every piece, up to and including the first piece with other text.
    strips_all_leading: bool,
    unk_surface: Vec<u8>,
    denormalizer: Option<SentencePieceNormalizer>,
    /// The kind of output of each row.
    outputs: Vec<RowOutput>,
}

/// The kind of output of a row.
#[derive(Clone, Copy)]
enum RowOutput {
    /// The text of the piece, with spaces.
    Piece,
    /// A byte.
    Byte(u8),
    /// Nothing.
    Nothing,
    /// The text that the model prints for every unknown piece (`unk_surface`).
    UnkSurface,
}

/// The state between ids.
#[derive(Clone, Debug, Default)]
pub(super) struct SentencePieceState {
    /// The bytes of byte pieces that do not form a complete character yet.
    pending_bytes: Vec<u8>,
    has_text: bool,
    /// True if a space was removed from the previous piece, so that later pieces keep their spaces.
    has_removed_space: bool,
    /// The output that the denormalizer has not processed yet.
    held_output: Vec<u8>,
}

impl SentencePieceDecoder {
    /// Compiles the rules; the fields of [`SentencePieceDecoder`] with the same names explain the two flags.
    pub fn compile(
        (strips_space, strips_all_leading): (bool, bool),
        unk_surface: &[u8],
        denormalize: Option<&SentencePieceNormalize>,
        vocab: &Vocab,
        version: SentencePieceVersion,
    ) -> Result<SentencePieceDecoder> {
        let denormalizer = match denormalize.filter(|spec| !spec.charsmap.is_empty()) {
            Some(spec) => Some(SentencePieceNormalizer::compile(spec.clone(), None, version)?),
            None => None,
        };
        Ok(SentencePieceDecoder {
            strips_space,
            strips_all_leading,
            unk_surface: unk_surface.checked_to_vec(),
            denormalizer,
            outputs: row_outputs(vocab, version)?,
        })
    }

    /// Returns the text that a row outputs in a settled state.
    pub fn settled_text<'a>(&'a self, vocab: &'a Vocab, row: Row) -> SettledOutput<'a> {
        match self.outputs[row.index()] {
            RowOutput::Piece => SettledOutput::Text(unescape_spaces(vocab.bytes(row)).into()),
            // An ASCII byte is a complete character.
            RowOutput::Byte(byte) if byte.is_ascii() => SettledOutput::Text(vec![byte].into()),
            RowOutput::Byte(_) => SettledOutput::Depends,
            RowOutput::Nothing => SettledOutput::Text(Cow::Borrowed(&[])),
            RowOutput::UnkSurface => SettledOutput::Text(self.unk_surface.as_slice().into()),
        }
    }

    /// Returns the buffer to which the stored texts of rows can be appended; None at the start of the text or if bytes
    /// are pending.
    #[inline]
    pub fn settled_output<'a>(
        &self,
        state: &'a mut SentencePieceState,
        out: &'a mut Vec<u8>,
    ) -> Option<&'a mut Vec<u8>> {
        let is_settled = state.has_text && state.pending_bytes.is_empty();
        is_settled.then_some(if self.denormalizer.is_some() { &mut state.held_output } else { out })
    }

    /// Appends the bytes of a row.
    pub fn push(&self, vocab: &Vocab, row: Row, state: &mut SentencePieceState, out: &mut Vec<u8>) {
        if self.denormalizer.is_none() {
            return self.push_piece(vocab, row, state, out);
        }
        let mut held = std::mem::take(&mut state.held_output);
        self.push_piece(vocab, row, state, &mut held);
        state.held_output = held;
    }

    /// Appends the text of a special token that is not a piece.
    pub fn push_text(&self, text: &[u8], state: &mut SentencePieceState, out: &mut Vec<u8>) {
        let mut held = std::mem::take(&mut state.held_output);
        let out = if self.denormalizer.is_some() { &mut held } else { out };
        flush_characters(state, out, true);
        append_text(text, state, out);
        state.held_output = held;
    }

    /// Appends the bytes that are held back.
    pub fn finish(&self, mut state: SentencePieceState, out: &mut Vec<u8>) {
        let Some(denormalizer) = &self.denormalizer else { return flush_characters(&mut state, out, true) };
        let mut held = std::mem::take(&mut state.held_output);
        flush_characters(&mut state, &mut held, true);
        denormalizer.normalize(&held, out);
    }

    /// Reports whether a denormalizer changes the decoded text.
    pub fn changes_decoded_text(&self) -> bool {
        self.denormalizer.is_some()
    }

    /// Appends a row to a text that keeps the ends of its pieces.
    pub fn push_row(&self, vocab: &Vocab, row: Row, pieces: &mut PieceEnds) {
        if let RowOutput::Byte(byte) = self.outputs[row.index()] {
            return pieces.state.pending_bytes.checked_push(byte);
        }
        pieces.flush();
        self.push_piece(vocab, row, &mut pieces.state, &mut pieces.text);
        pieces.ends.checked_push(pieces.text.len());
    }

    /// Appends the text of an id with its source. The id has a row or, without a row, a text; None if it has neither.
    pub fn push_traced(
        &self,
        vocab: &Vocab,
        (row, text): (Option<Row>, Option<&[u8]>),
        index: u32,
        state: &mut SentencePieceState,
        byte_sources: &mut Vec<u32>,
        out: &mut TracedText,
    ) -> Option<()> {
        let mut bytes = Vec::new();
        if let Some(row) = row {
            if let RowOutput::Byte(byte) = self.outputs[row.index()] {
                state.pending_bytes.checked_push(byte);
                byte_sources.checked_push(index);
                flush_traced(state, byte_sources, out, false);
                return Some(());
            }
            flush_traced(state, byte_sources, out, true);
            self.push_piece(vocab, row, state, &mut bytes);
        } else {
            flush_traced(state, byte_sources, out, true);
            append_text(text?, state, &mut bytes);
        }
        out.push(&bytes, (index, index));
        Some(())
    }

    /// Appends the bytes that are held back, and runs the denormalizer.
    pub fn finish_traced(
        &self,
        state: &mut SentencePieceState,
        byte_sources: &mut Vec<u32>,
        mut text: TracedText,
    ) -> TracedText {
        flush_traced(state, byte_sources, &mut text, true);
        let Some(denormalizer) = &self.denormalizer else { return text };
        let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
        denormalizer.normalize_with_offsets(&text.bytes, &mut bytes, &mut offsets);
        let sources =
            offsets[..bytes.len().min(offsets.len())].iter().map(|&offset| text.source_of(offset as usize, 0));
        TracedText { sources: sources.checked_collect(), bytes, whole: text.whole }
    }

    /// Appends one piece by the rules, in the order of the reference.
    fn push_piece(&self, vocab: &Vocab, row: Row, state: &mut SentencePieceState, out: &mut Vec<u8>) {
        if let RowOutput::Byte(byte) = self.outputs[row.index()] {
            state.pending_bytes.checked_push(byte);
            flush_characters(state, out, false);
            return;
        }
        flush_characters(state, out, true);
        // After a space was removed, later pieces keep their spaces, even if the pieces between print nothing.
        state.has_text |= std::mem::take(&mut state.has_removed_space);
        let is_at_start = !state.has_text;
        match self.outputs[row.index()] {
            RowOutput::Byte(_) | RowOutput::Nothing => {}
            RowOutput::UnkSurface => append_text(&self.unk_surface, state, out),
            RowOutput::Piece if is_at_start && self.strips_space && vocab.bytes(row).starts_with(space_mark::BYTES) => {
                append_text(&unescape_spaces(vocab.bytes(row))[1..], state, out);
                state.has_removed_space = !self.strips_all_leading;
            }
            RowOutput::Piece => {
                state.has_text |= !vocab.bytes(row).is_empty();
                append_unescaped(vocab.bytes(row), out);
            }
        }
    }
}

/// A decoded text that keeps the end of the text after each token. The last byte of a character adds the whole character.
pub(super) struct PieceEnds {
    text: Vec<u8>,
    ends: Vec<usize>,
    state: SentencePieceState,
}

impl PieceEnds {
    /// Returns an empty text, with room for the ends of `count` tokens.
    pub fn with_room(count: usize) -> PieceEnds {
        PieceEnds { text: Vec::new(), ends: memory::with_capacity(count), state: SentencePieceState::default() }
    }

    /// Lets `append` append the text of a token if this text does not depend on the state; returns false if it depends on
    /// the state or if `append` returns false.
    #[inline]
    pub fn push_settled(&mut self, append: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let is_settled = self.state.has_text && self.state.pending_bytes.is_empty();
        let is_appended = is_settled && append(&mut self.text);
        if is_appended {
            self.ends.checked_push(self.text.len());
        }
        is_appended
    }

    /// Appends the text of a special token that is not a piece.
    pub fn push_text(&mut self, text: &[u8]) {
        self.flush();
        append_text(text, &mut self.state, &mut self.text);
        self.ends.checked_push(self.text.len());
    }

    /// Returns the text and the end of the text after each token.
    pub fn finish(mut self) -> (Vec<u8>, Vec<usize>) {
        self.flush();
        (self.text, self.ends)
    }

    /// Appends the text of the pending bytes, which nothing continues.
    fn flush(&mut self) {
        let PieceEnds { text: out, ends, state } = self;
        let mut at = 0;
        while at < state.pending_bytes.len() {
            let bytes = &state.pending_bytes[at..];
            let (text, len) = utf8::decode_strict(bytes).map_or((REPLACEMENT, 1), |(_, len)| (&bytes[..len], len));
            ends.checked_resize(ends.len() + len - 1, out.len());
            out.checked_extend_from_slice(text);
            ends.checked_push(out.len());
            at += len;
        }
        state.has_text |= at > 0;
        state.pending_bytes.clear();
    }
}

/// Returns the kind of output of each row.
fn row_outputs(vocab: &Vocab, version: SentencePieceVersion) -> Result<Vec<RowOutput>> {
    // SentencePiece 0.2.1 searches the vocabulary for the text of the piece; if several rows have this text, it finds
    // the reserved row.
    let reserved_rows = match version {
        SentencePieceVersion::V0_2_1 => Some(Rows::reserved(vocab)?),
        SentencePieceVersion::V0_2_3 => None,
    };
    let named_row = |row| reserved_rows.as_ref().and_then(|rows| rows.find(vocab, vocab.bytes(row))).unwrap_or(row);
    let output = |row| match vocab.active_kind(named_row(row)) {
        Kind::Control => RowOutput::Nothing,
        Kind::Unknown => RowOutput::UnkSurface,
        Kind::Byte => hex_byte(vocab.bytes(row)).map_or(RowOutput::Piece, RowOutput::Byte),
        _ => RowOutput::Piece,
    };
    let mut outputs = memory::filled(RowOutput::Piece, vocab.len());
    let mut set = |row: Row| outputs[row.index()] = output(row);
    match reserved_rows {
        Some(_) => vocab.rows().for_each(&mut set),
        None => vocab.odd_rows().for_each(&mut set),
    }
    Ok(outputs)
}

/// Appends a text and records whether the output has text.
fn append_text(text: &[u8], state: &mut SentencePieceState, out: &mut Vec<u8>) {
    state.has_text |= !text.is_empty();
    out.checked_extend_from_slice(text);
}

/// Does the same as [`flush_characters`], and keeps the source of each byte.
fn flush_traced(state: &mut SentencePieceState, byte_sources: &mut Vec<u32>, out: &mut TracedText, is_end: bool) {
    let mut text = Vec::new();
    let pending = state.pending_bytes.clone();
    flush_characters(state, &mut text, is_end);
    let (mut at, mut written) = (0, 0);
    while written < text.len() {
        let char_len = utf8::decode_strict(&pending[at..]).map(|(_, len)| len);
        let source = |at: usize| (byte_sources[at], byte_sources[at]);
        match char_len {
            Some(len) => (at..at + len).for_each(|i| out.push(&pending[i..=i], source(i))),
            None => out.push(REPLACEMENT, source(at)),
        }
        at += char_len.unwrap_or(1);
        written += char_len.unwrap_or(REPLACEMENT.len());
    }
    byte_sources.drain(..at);
}

/// Moves complete characters from the pending bytes to the output, and writes U+FFFD for each byte that cannot be part
/// of a character. If `is_end` is false, more bytes can follow, so an incomplete character at the end stays pending.
fn flush_characters(state: &mut SentencePieceState, out: &mut Vec<u8>, is_end: bool) {
    let mut at = 0;
    while at < state.pending_bytes.len() {
        let bytes = &state.pending_bytes[at..];
        let can_continue =
            bytes.len() < utf8::lead_len(bytes[0]) && bytes[1..].iter().all(|&byte| utf8::is_continuation(byte));
        if can_continue && !is_end {
            break;
        }
        let text = match utf8::decode_strict(bytes) {
            Some((_, len)) => &bytes[..len],
            None => REPLACEMENT,
        };
        out.checked_extend_from_slice(text);
        at += if text.as_ptr() == REPLACEMENT.as_ptr() { 1 } else { text.len() };
    }
    state.has_text |= at > 0;
    state.pending_bytes.drain(..at);
}
