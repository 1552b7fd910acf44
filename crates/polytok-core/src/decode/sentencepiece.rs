//! SentencePiece's `Decode`: the space that the normalizer put before a text is removed, byte pieces become characters,
//! and a denormalizer can run over the result. The order of the rules is the reference's.

use std::borrow::Cow;

use super::row_texts::Settled;
use super::{append_spaced, hex_byte, spaced};
use crate::error::Result;
use crate::normalize::sentencepiece::SentencePieceNormalizer;
use crate::space_mark;
use crate::spec::{Kind, Line, SentencePieceNormalize};
use crate::utf8;
use crate::vocab::dictionary::Rows;
use crate::vocab::{Row, Vocab};

/// U+FFFD, the replacement of an invalid byte.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// The compiled rules.
pub(super) struct SentencePieceDecoder {
    strips: bool,
    collapses: bool,
    unk_surface: Vec<u8>,
    denormalizer: Option<SentencePieceNormalizer>,
    /// How each row prints.
    prints: Vec<Print>,
}

/// How a row prints.
#[derive(Clone, Copy)]
enum Print {
    Piece,
    Byte(u8),
    Nothing,
    UnkSurface,
}

/// The state between ids.
#[derive(Clone, Debug, Default)]
pub(super) struct SentencePieceState {
    /// Bytes of byte pieces that are not yet a character.
    pending: Vec<u8>,
    has_text: bool,
    /// The previous piece lost its space, and only one piece does.
    ate_space: bool,
    /// Output that the denormalizer has not seen.
    held: Vec<u8>,
}

impl SentencePieceDecoder {
    /// Compiles the rules. `strips` removes a space from the first piece, `collapses` from all leading pieces.
    pub fn compile(
        (strips, collapses): (bool, bool),
        unk_surface: &[u8],
        denormalize: Option<&SentencePieceNormalize>,
        vocab: &Vocab,
        line: Line,
    ) -> Result<SentencePieceDecoder> {
        let denormalizer = match denormalize.filter(|spec| !spec.charsmap.is_empty()) {
            Some(spec) => Some(SentencePieceNormalizer::compile(spec.clone(), None, line)?),
            None => None,
        };
        Ok(SentencePieceDecoder {
            strips,
            collapses,
            unk_surface: unk_surface.to_vec(),
            denormalizer,
            prints: prints(vocab, line)?,
        })
    }

    /// The text that a row prints in a settled state.
    pub fn settled_text<'a>(&'a self, vocab: &'a Vocab, row: Row) -> Settled<'a> {
        match self.prints[row.index()] {
            Print::Piece => Settled::Text(spaced(vocab.bytes(row)).into()),
            // A byte of ASCII is a character.
            Print::Byte(byte) if byte.is_ascii() => Settled::Text(vec![byte].into()),
            Print::Byte(_) => Settled::Depends,
            Print::Nothing => Settled::Text(Cow::Borrowed(&[])),
            Print::UnkSurface => Settled::Text(self.unk_surface.as_slice().into()),
        }
    }

    /// The place for settled texts: within a text nothing is stripped and nothing is pending.
    #[inline]
    pub fn settled<'a>(&self, state: &'a mut SentencePieceState, out: &'a mut Vec<u8>) -> Option<&'a mut Vec<u8>> {
        let is_settled = state.has_text && state.pending.is_empty();
        is_settled.then_some(if self.denormalizer.is_some() { &mut state.held } else { out })
    }

    /// Appends the bytes of a row.
    pub fn push(&self, vocab: &Vocab, row: Row, state: &mut SentencePieceState, out: &mut Vec<u8>) {
        if self.denormalizer.is_none() {
            return self.push_piece(vocab, row, state, out);
        }
        let mut held = std::mem::take(&mut state.held);
        self.push_piece(vocab, row, state, &mut held);
        state.held = held;
    }

    /// Appends a text that is not a piece.
    pub fn push_text(&self, text: &[u8], state: &mut SentencePieceState, out: &mut Vec<u8>) {
        let mut held = std::mem::take(&mut state.held);
        let out = if self.denormalizer.is_some() { &mut held } else { out };
        flush_characters(state, out, true);
        append(text, state, out);
        state.held = held;
    }

    /// Appends the bytes that are held back.
    pub fn finish(&self, state: &mut SentencePieceState, out: &mut Vec<u8>) {
        let Some(denormalizer) = &self.denormalizer else { return flush_characters(state, out, true) };
        let mut held = std::mem::take(&mut state.held);
        flush_characters(state, &mut held, true);
        denormalizer.normalize(&held, out);
    }

    /// The rules for one piece (their order is the reference's).
    fn push_piece(&self, vocab: &Vocab, row: Row, state: &mut SentencePieceState, out: &mut Vec<u8>) {
        if let Print::Byte(byte) = self.prints[row.index()] {
            state.pending.push(byte);
            flush_characters(state, out, false);
            return;
        }
        flush_characters(state, out, true);
        // A space that was stripped ends the start for good, even if the next pieces print nothing.
        state.has_text |= std::mem::take(&mut state.ate_space);
        let at_start = !state.has_text;
        match self.prints[row.index()] {
            Print::Byte(_) | Print::Nothing => {}
            Print::UnkSurface => append(&self.unk_surface, state, out),
            Print::Piece if at_start && self.strips && vocab.bytes(row).starts_with(space_mark::BYTES) => {
                append(&spaced(vocab.bytes(row))[1..], state, out);
                state.ate_space = !self.collapses;
            }
            Print::Piece => {
                state.has_text |= !vocab.bytes(row).is_empty();
                append_spaced(vocab.bytes(row), out);
            }
        }
    }
}

fn prints(vocab: &Vocab, line: Line) -> Result<Vec<Print>> {
    // 0.2.1 decodes ids through the texts of their pieces, and a reserved row comes before another row of the same
    // text.
    let by_name = match line {
        Line::V0_2_1 => Some(Rows::reserved(vocab)?),
        Line::V0_2_3 => None,
    };
    let named = |row| by_name.as_ref().and_then(|rows| rows.find(vocab, vocab.bytes(row))).unwrap_or(row);
    let print = |row| match vocab.active_kind(named(row)) {
        Kind::Control => Print::Nothing,
        Kind::Unknown => Print::UnkSurface,
        Kind::Byte => hex_byte(vocab.bytes(row)).map_or(Print::Piece, Print::Byte),
        _ => Print::Piece,
    };
    let mut prints = vec![Print::Piece; vocab.len()];
    let mut set = |row: Row| prints[row.index()] = print(row);
    match by_name {
        Some(_) => vocab.rows().for_each(&mut set),
        None => vocab.odd_rows().for_each(&mut set),
    }
    Ok(prints)
}

fn append(text: &[u8], state: &mut SentencePieceState, out: &mut Vec<u8>) {
    state.has_text |= !text.is_empty();
    out.extend_from_slice(text);
}

/// Moves complete characters from the pending bytes to the output; each byte that cannot be part of one becomes U+FFFD.
/// The start of a character stays pending, unless this is the end of the run.
fn flush_characters(state: &mut SentencePieceState, out: &mut Vec<u8>, is_end: bool) {
    let mut at = 0;
    while at < state.pending.len() {
        let rest = &state.pending[at..];
        let may_continue =
            rest.len() < utf8::lead_len(rest[0]) && rest[1..].iter().all(|&byte| utf8::is_continuation(byte));
        if may_continue && !is_end {
            break;
        }
        let text = match utf8::decode_strict(rest) {
            Some((_, len)) => &rest[..len],
            None => REPLACEMENT,
        };
        out.extend_from_slice(text);
        at += if text.as_ptr() == REPLACEMENT.as_ptr() { 1 } else { text.len() };
    }
    state.has_text |= at > 0;
    state.pending.drain(..at);
}
