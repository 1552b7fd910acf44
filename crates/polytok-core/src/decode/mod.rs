//! ids → bytes: one state machine per family, fed id by id. Decoding a whole sequence feeds it in one go, so a stream and a
//! whole cannot differ. Text comes from the bytes outside, by an incremental UTF-8 decoder.

mod chain;
mod llama2c;
mod llama_cpp;
mod sentencepiece;
mod texts;

use crate::error::{Error, Result};
use crate::lazy::Lazy;
use crate::spec::{Decode, Line};
use crate::special::Specials;
use crate::vocab::Vocab;
use chain::{Chain, ChainState};
use llama_cpp::LlamaCppDecoder;
use sentencepiece::SentencePieceDecoder;
use texts::Texts;

/// U+2581, the escaped space.
const SPACE: &[u8] = "\u{2581}".as_bytes();

/// The compiled rules.
pub struct Decoder {
    rules: Rules,
    skips_unknown: bool,
}

enum Rules {
    Bytes(Lazy<Texts>),
    SentencePiece(Box<SentencePieceDecoder>),
    Llama2c,
    LlamaCpp(LlamaCppDecoder),
    Chain(Chain),
}

/// What a decoder remembers between ids; each family has its own part.
#[derive(Clone, Debug, Default)]
pub struct DecodeState {
    sentencepiece: sentencepiece::State,
    chain: ChainState,
    /// llama2.c: the id before.
    last: Option<u32>,
    llama_cpp: llama_cpp::State,
}

impl Decoder {
    /// Compiles the decode step.
    pub fn compile(decode: &Decode, vocab: &Vocab, line: Line) -> Result<Decoder> {
        let rules = match decode {
            Decode::Bytes { .. } => Rules::Bytes(Lazy::default()),
            Decode::Llama2c => Rules::Llama2c,
            Decode::Chain { steps, byte_level } => Rules::Chain(Chain::compile(steps.as_deref(), *byte_level)?),
            Decode::SentencePiece { add_dummy_prefix, remove_extra_whitespaces, unk_surface, denormalize } => {
                let strips = *add_dummy_prefix || *remove_extra_whitespaces;
                let collapses = *remove_extra_whitespaces;
                Rules::SentencePiece(Box::new(SentencePieceDecoder::compile(
                    (strips, collapses),
                    unk_surface,
                    denormalize.as_ref(),
                    vocab,
                    line,
                )?))
            }
            &Decode::LlamaCpp { family, strip_space, clean_spaces, escaped_spaces } => {
                Rules::LlamaCpp(LlamaCppDecoder::compile(family, strip_space, clean_spaces, escaped_spaces))
            }
        };
        let skips_unknown = matches!(decode, Decode::Chain { .. } | Decode::Bytes { skips_unknown: true });
        Ok(Decoder { rules, skips_unknown })
    }

    /// Whether an id that no token has prints nothing; if not, it is an error.
    pub fn skips_unknown(&self) -> bool {
        self.skips_unknown
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
        if let Rules::Chain(chain) = &self.rules {
            return chain.push(vocab, specials, id, &mut state.chain, out);
        }
        let Some(row) = vocab.row(id) else {
            return match specials.text(id) {
                Some(text) => {
                    self.push_text(text, id, state, out);
                    Ok(())
                }
                None if self.skips_unknown => Ok(()),
                None => Err(Error::Id(id)),
            };
        };
        match &self.rules {
            Rules::Bytes(texts) => {
                texts.get(|| Texts::new((0..vocab.len()).map(|row| vocab.bytes(row)))).append(row, out);
            }
            Rules::Llama2c => llama2c::push(vocab.bytes(row), id, &mut state.last, out),
            Rules::SentencePiece(rules) => rules.push(vocab, row, &mut state.sentencepiece, out),
            Rules::LlamaCpp(rules) => rules.push(vocab, row, &mut state.llama_cpp, out),
            Rules::Chain(_) => {}
        }
        Ok(())
    }

    /// Appends the text of a special token that is no row of the vocabulary.
    fn push_text(&self, text: &[u8], id: u32, state: &mut DecodeState, out: &mut Vec<u8>) {
        match &self.rules {
            Rules::Bytes(_) | Rules::Chain(_) => out.extend_from_slice(text),
            Rules::Llama2c => {
                out.extend_from_slice(text);
                state.last = Some(id);
            }
            Rules::SentencePiece(rules) => rules.push_text(text, &mut state.sentencepiece, out),
            Rules::LlamaCpp(rules) => rules.push_text(text, &mut state.llama_cpp, out),
        }
    }

    /// A special token is left out; llama.cpp's rule for the first token takes notice.
    #[inline]
    pub fn skip(&self, state: &mut DecodeState) {
        if let Rules::LlamaCpp(rules) = &self.rules {
            rules.skip(&mut state.llama_cpp);
        }
    }

    /// Appends what is still held back at the end, and makes the state new.
    pub fn finish(&self, state: &mut DecodeState, out: &mut Vec<u8>) -> Result<()> {
        let mut state = std::mem::take(state);
        match &self.rules {
            Rules::Bytes(_) | Rules::Llama2c => Ok(()),
            Rules::SentencePiece(rules) => {
                rules.finish(&mut state.sentencepiece, out);
                Ok(())
            }
            Rules::LlamaCpp(rules) => {
                rules.finish(&mut state.llama_cpp, out);
                Ok(())
            }
            Rules::Chain(chain) => chain.finish(&mut state.chain, out),
        }
    }
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
