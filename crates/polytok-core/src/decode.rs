//! ids → bytes: one state machine per family, fed id by id. Decoding a whole sequence feeds it in one go, so a stream and a
//! whole cannot differ. Text comes from the bytes outside, by an incremental UTF-8 decoder.

use crate::error::{Error, Result};
use crate::model::dictionary::{Rows, is_reachable};
use crate::normalize::sentencepiece::SentencePieceNormalizer;
use crate::spec::{Decode, Kind, Line};
use crate::special::Specials;
use crate::utf8;
use crate::vocab::Vocab;

/// U+2581, the escaped space.
const SPACE: &[u8] = "\u{2581}".as_bytes();
/// U+FFFD, what an invalid byte becomes.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();
/// llama2.c's hard-wired BOS.
const LLAMA2C_BOS: u32 = 1;

/// The compiled rules.
pub struct Decoder {
    rules: Rules,
    denormalizer: Option<SentencePieceNormalizer>,
    /// What each row prints.
    prints: Vec<Print>,
    /// The text of each row, escaped spaces as spaces in SentencePiece's; llama2.c's texts depend on what is before them.
    texts: Texts,
}

/// The texts of all rows. A text of up to 15 bytes stands in its slot, with its length behind it: one read of memory, and
/// a copy of a known length that is cut, which is faster than a copy of unknown length.
struct Texts {
    slots: Vec<[u8; SLOT]>,
    /// The longer ones; their slots hold the number.
    long: Vec<Box<[u8]>>,
}

/// Bytes of a slot.
const SLOT: usize = 16;
/// In the place of a length: the text is a long one.
const LONG: u8 = u8::MAX;

impl Texts {
    fn new(texts: impl Iterator<Item = impl AsRef<[u8]>>) -> Texts {
        let mut long = Vec::new();
        let mut slot_of = |text: &[u8]| {
            let mut slot = [0; SLOT];
            if text.len() < SLOT {
                slot[..text.len()].copy_from_slice(text);
                slot[SLOT - 1] = text.len() as u8;
            } else {
                slot[..8].copy_from_slice(&(long.len() as u64).to_le_bytes());
                slot[SLOT - 1] = LONG;
                long.push(text.into());
            }
            slot
        };
        let slots = texts.map(|text| slot_of(text.as_ref())).collect();
        Texts { slots, long }
    }

    #[inline]
    fn append(&self, row: usize, out: &mut Vec<u8>) {
        let slot = &self.slots[row];
        match slot[SLOT - 1] {
            LONG => {
                let [number @ .., _, _, _, _, _, _, _, _] = slot;
                out.extend_from_slice(&self.long[u64::from_le_bytes(*number) as usize]);
            }
            len => {
                out.extend_from_slice(slot);
                out.truncate(out.len() - SLOT + len as usize);
            }
        }
    }
}

/// What a row prints by SentencePiece's rules.
#[derive(Clone, Copy)]
enum Print {
    Piece,
    Byte(u8),
    Nothing,
    UnkSurface,
}

enum Rules {
    Bytes,
    SentencePiece { strips: bool, collapses: bool, unk_surface: Vec<u8> },
    Llama2c,
}

/// What a decoder remembers between ids.
#[derive(Clone, Debug, Default)]
pub struct DecodeState {
    /// SentencePiece: bytes of byte pieces that are not a character yet.
    pending: Vec<u8>,
    has_text: bool,
    /// SentencePiece: the piece before was stripped of its space, and only one is.
    ate_space: bool,
    /// Output that waits for the denormalizer.
    held: Vec<u8>,
    last: Option<u32>,
}

impl Decoder {
    /// Compiles the decode step.
    pub fn compile(decode: &Decode, vocab: &Vocab, line: Line) -> Result<Decoder> {
        let mut denormalizer = None;
        let rules = match decode {
            Decode::Bytes => Rules::Bytes,
            Decode::Llama2c => Rules::Llama2c,
            Decode::SentencePiece { add_dummy_prefix, remove_extra_whitespaces, unk_surface, denormalize } => {
                if let Some(spec) = denormalize.as_ref().filter(|spec| !spec.charsmap.is_empty()) {
                    denormalizer = Some(SentencePieceNormalizer::compile(spec, None, line)?);
                }
                Rules::SentencePiece {
                    strips: *add_dummy_prefix || *remove_extra_whitespaces,
                    collapses: *remove_extra_whitespaces,
                    unk_surface: unk_surface.clone(),
                }
            }
            other => return Err(Error::Spec(format!("decode: {other:?} is not run"))),
        };
        // 0.2.1 decodes ids by way of their pieces' texts, and a reserved row goes before another of the same text.
        let by_name = match line {
            Line::V0_2_1 => Some(Rows::index(vocab, |row| !is_reachable(vocab.kind(row)))?),
            Line::V0_2_3 => None,
        };
        let named =
            |row| by_name.as_ref().and_then(|rows| rows.find(vocab, vocab.bytes(row))).map_or(row, |row| row as usize);
        let print = |row| match vocab.active_kind(named(row)) {
            Kind::Control => Print::Nothing,
            Kind::Unknown => Print::UnkSurface,
            Kind::Byte => hex_byte(vocab.bytes(row)).map_or(Print::Piece, Print::Byte),
            _ => Print::Piece,
        };
        let prints = (0..vocab.len()).map(print).collect();
        let pieces = (0..vocab.len()).map(|row| vocab.bytes(row));
        let texts = match rules {
            Rules::SentencePiece { .. } => Texts::new(pieces.map(spaced)),
            Rules::Bytes => Texts::new(pieces),
            Rules::Llama2c => Texts::new(std::iter::empty::<&[u8]>()),
        };
        Ok(Decoder { rules, denormalizer, prints, texts })
    }

    /// Appends what one id adds.
    #[inline]
    pub fn push(
        &self,
        vocab: &Vocab,
        specials: &Specials,
        id: u32,
        state: &mut DecodeState,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let Some(row) = vocab.row(id) else {
            let text = specials.text(id).ok_or(Error::Id(id))?;
            let mut held = std::mem::take(&mut state.held);
            let out = if self.denormalizer.is_some() { &mut held } else { out };
            self.flush(state, out);
            append(text, state, out);
            state.held = held;
            state.last = Some(id);
            return Ok(());
        };
        match &self.rules {
            Rules::Bytes => self.texts.append(row, out),
            Rules::Llama2c => push_llama2c(vocab.bytes(row), id, state, out),
            Rules::SentencePiece { .. } if self.denormalizer.is_some() => {
                let mut held = std::mem::take(&mut state.held);
                self.push_piece(vocab, row, state, &mut held);
                state.held = held;
            }
            Rules::SentencePiece { .. } => self.push_piece(vocab, row, state, out),
        }
        Ok(())
    }

    /// Appends what is still held back at the end.
    pub fn finish(&self, state: &mut DecodeState, out: &mut Vec<u8>) {
        if let Some(denormalizer) = &self.denormalizer {
            let mut held = std::mem::take(&mut state.held);
            self.flush(state, &mut held);
            denormalizer.normalize(&held, out);
        } else {
            self.flush(state, out);
        }
        *state = DecodeState::default();
    }

    /// SentencePiece's rules for one piece (their order is the reference's).
    fn push_piece(&self, vocab: &Vocab, row: usize, state: &mut DecodeState, out: &mut Vec<u8>) {
        let Rules::SentencePiece { strips, collapses, unk_surface } = &self.rules else { return };
        if state.has_text && state.pending.is_empty() && matches!(self.prints[row], Print::Piece) {
            // By far the most common case: in the middle of a text nothing is stripped and nothing waits.
            self.texts.append(row, out);
            return;
        }
        if let Print::Byte(byte) = self.prints[row] {
            state.pending.push(byte);
            flush_characters(state, out, false);
            return;
        }
        self.flush(state, out);
        // A space that was stripped ends the start for good, even if what follows prints nothing.
        state.has_text |= std::mem::take(&mut state.ate_space);
        let at_start = !state.has_text;
        match self.prints[row] {
            Print::Byte(_) | Print::Nothing => {}
            Print::UnkSurface => append(unk_surface, state, out),
            Print::Piece if at_start && *strips && vocab.bytes(row).starts_with(SPACE) => {
                append(&spaced(&vocab.bytes(row)[SPACE.len()..]), state, out);
                state.ate_space = !collapses;
            }
            Print::Piece => {
                state.has_text |= !vocab.bytes(row).is_empty();
                self.texts.append(row, out);
            }
        }
    }

    fn flush(&self, state: &mut DecodeState, out: &mut Vec<u8>) {
        flush_characters(state, out, true);
    }
}

fn append(text: &[u8], state: &mut DecodeState, out: &mut Vec<u8>) {
    state.has_text |= !text.is_empty();
    out.extend_from_slice(text);
}

/// A piece with its escaped spaces as spaces.
fn spaced(piece: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(piece.len());
    let mut rest = piece;
    while let Some(at) = memchr::memmem::find(rest, SPACE) {
        out.extend_from_slice(&rest[..at]);
        out.push(b' ');
        rest = &rest[at + SPACE.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Moves complete characters from the pending bytes to the output; each byte that cannot be part of one becomes U+FFFD. What
/// may still become a character stays, unless this is the end of the run.
fn flush_characters(state: &mut DecodeState, out: &mut Vec<u8>, is_end: bool) {
    let mut at = 0;
    while at < state.pending.len() {
        let rest = &state.pending[at..];
        let may_continue = rest.len() < utf8::lead_len(rest[0]) && rest[1..].iter().all(|byte| byte & 0xC0 == 0x80);
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

/// llama2.c's `decode(prev, token)`; the start of a sequence counts as after BOS, and a BOS there prints nothing.
fn push_llama2c(piece: &[u8], id: u32, state: &mut DecodeState, out: &mut Vec<u8>) {
    let last = state.last.replace(id);
    if last.is_none() && id == LLAMA2C_BOS {
        return;
    }
    let after_bos = last.is_none_or(|last| last == LLAMA2C_BOS);
    let piece = piece.strip_prefix(b" ").filter(|_| after_bos).unwrap_or(piece);
    match hex_byte(piece) {
        Some(byte) => out.push(byte),
        None => out.extend_from_slice(piece),
    }
}

/// The byte of `<0xHH>`, as `sscanf("<0x%02hhX>")` reads it: one or two hexadecimal digits, what follows is not looked at.
fn hex_byte(piece: &[u8]) -> Option<u8> {
    let digits = piece.strip_prefix(b"<0x")?;
    let value = |&digit: &u8| (digit as char).to_digit(16).map(|value| value as u8);
    let first = value(digits.first()?)?;
    Some(match digits.get(1).and_then(value) {
        Some(second) => first << 4 | second,
        None => first,
    })
}
