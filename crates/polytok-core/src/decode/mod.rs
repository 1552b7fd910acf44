//! ids → bytes: one state machine per family. Decoding a whole sequence feeds it at once, so decoding in parts cannot
//! differ from it. The caller makes text of the bytes with an incremental UTF-8 decoder.
//!
//! Each family knows what its rows print in a settled state (row_texts.rs), and has rules for everything else.

mod chain;
mod llama2c;
mod llama_cpp;
mod row_texts;
mod sentencepiece;
#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::lazy::Lazy;
use crate::space_mark;
use crate::spec::{Decode, Line};
use crate::special::Specials;
use crate::token_id::TokenId;
use crate::vocab::Vocab;
use chain::{ChainState, DecodeChain};
use llama_cpp::LlamaCppDecoder;
use row_texts::{RowTexts, Settled};
use sentencepiece::SentencePieceDecoder;

/// The compiled rules.
pub struct Decoder {
    rules: DecodeRules,
    texts: Lazy<RowTexts>,
    skips_unknown: bool,
}

enum DecodeRules {
    Bytes,
    SentencePiece(Box<SentencePieceDecoder>),
    Llama2c,
    LlamaCpp(LlamaCppDecoder),
    Chain(DecodeChain),
}

/// The state of a decoder between ids; each family has its own part.
#[derive(Clone, Debug, Default)]
pub struct DecodeState {
    sentencepiece: sentencepiece::SentencePieceState,
    chain: ChainState,
    /// llama2.c: the previous id.
    last: Option<TokenId>,
    llama_cpp: llama_cpp::LlamaCppState,
}

impl Decoder {
    /// Compiles the decode step.
    pub fn compile(decode: &Decode, vocab: &Vocab, line: Line) -> Result<Decoder> {
        let rules = match decode {
            Decode::Bytes { .. } => DecodeRules::Bytes,
            Decode::Llama2c => DecodeRules::Llama2c,
            Decode::Chain { steps, byte_level } => {
                DecodeRules::Chain(DecodeChain::compile(steps.as_deref(), *byte_level)?)
            }
            Decode::SentencePiece { add_dummy_prefix, remove_extra_whitespaces, unk_surface, denormalize } => {
                let strips = *add_dummy_prefix || *remove_extra_whitespaces;
                let collapses = *remove_extra_whitespaces;
                DecodeRules::SentencePiece(Box::new(SentencePieceDecoder::compile(
                    (strips, collapses),
                    unk_surface,
                    denormalize.as_ref(),
                    vocab,
                    line,
                )?))
            }
            &Decode::LlamaCpp { family, strip_space, clean_spaces, escaped_spaces } => {
                DecodeRules::LlamaCpp(LlamaCppDecoder::compile(family, strip_space, clean_spaces, escaped_spaces))
            }
        };
        let skips_unknown = matches!(decode, Decode::Chain { .. } | Decode::Bytes { skips_unknown: true });
        Ok(Decoder { rules, texts: Lazy::default(), skips_unknown })
    }

    /// Whether an id that no token has is skipped; otherwise it is an error.
    pub fn skips_unknown(&self) -> bool {
        self.skips_unknown
    }

    /// Appends the bytes of ids, without those of special tokens if `skip_special`.
    pub fn append(
        &self,
        vocab: &Vocab,
        specials: &Specials,
        ids: &[TokenId],
        skip_special: bool,
        state: &mut DecodeState,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let texts = self.texts.get(|| self.compile_texts(vocab, specials));
        let mut rest = ids;
        loop {
            if let Some(out) = self.settled(state, out) {
                rest = &rest[texts.append_run(vocab, rest, skip_special, out)..];
            }
            let Some((&id, after)) = rest.split_first() else { return Ok(()) };
            match skip_special && specials.is_skippable(id) {
                true => self.skip(state),
                false => self.push(vocab, specials, texts, id, state, out)?,
            }
            rest = after;
        }
    }

    fn compile_texts(&self, vocab: &Vocab, specials: &Specials) -> RowTexts {
        let mut chain_room = chain::room(vocab);
        let settled = |row| match &self.rules {
            DecodeRules::Bytes => Settled::Text(vocab.bytes(row).into()),
            DecodeRules::Llama2c => llama2c::settled(vocab.bytes(row), vocab.id(row)),
            DecodeRules::SentencePiece(rules) => rules.settled_text(vocab, row),
            DecodeRules::LlamaCpp(rules) => Settled::Text(rules.print(vocab, row).into()),
            DecodeRules::Chain(chain) => chain.settled_text(vocab, specials, row, &mut chain_room),
        };
        let is_skippable = |row| specials.is_skippable(vocab.id(row));
        RowTexts::new(vocab.rows().zip(vocab.rows().map(settled)).map(|(row, text)| (text, is_skippable(row))))
    }

    /// The place for settled texts; None if the state is not settled.
    #[inline]
    fn settled<'a>(&self, state: &'a mut DecodeState, out: &'a mut Vec<u8>) -> Option<&'a mut Vec<u8>> {
        match &self.rules {
            DecodeRules::Bytes => Some(out),
            DecodeRules::Llama2c => llama2c::is_settled(state.last).then_some(out),
            DecodeRules::SentencePiece(rules) => rules.settled(&mut state.sentencepiece, out),
            DecodeRules::LlamaCpp(rules) => rules.is_settled(&state.llama_cpp).then_some(out),
            DecodeRules::Chain(_) => state.chain.is_settled().then_some(out),
        }
    }

    /// Appends the bytes of one id, by the rules.
    fn push(
        &self,
        vocab: &Vocab,
        specials: &Specials,
        texts: &RowTexts,
        id: TokenId,
        state: &mut DecodeState,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if let DecodeRules::Chain(chain) = &self.rules {
            return chain.push(vocab, specials, texts, id, &mut state.chain, out);
        }
        let Some(row) = vocab.row(id) else {
            return match specials.text(id) {
                Some(text) => {
                    self.push_text(text, id, state, out);
                    Ok(())
                }
                None if self.skips_unknown => Ok(()),
                None => Err(Error::Id(id.0)),
            };
        };
        match &self.rules {
            DecodeRules::Bytes => out.extend_from_slice(vocab.bytes(row)),
            DecodeRules::Llama2c => llama2c::push(vocab.bytes(row), id, &mut state.last, out),
            DecodeRules::SentencePiece(rules) => rules.push(vocab, row, &mut state.sentencepiece, out),
            DecodeRules::LlamaCpp(rules) => rules.push_text(&rules.print(vocab, row), &mut state.llama_cpp, out),
            DecodeRules::Chain(_) => {}
        }
        Ok(())
    }

    /// Appends the text of a special token that is not a row of the vocabulary.
    fn push_text(&self, text: &[u8], id: TokenId, state: &mut DecodeState, out: &mut Vec<u8>) {
        match &self.rules {
            DecodeRules::Bytes | DecodeRules::Chain(_) => out.extend_from_slice(text),
            DecodeRules::Llama2c => {
                out.extend_from_slice(text);
                state.last = Some(id);
            }
            DecodeRules::SentencePiece(rules) => rules.push_text(text, &mut state.sentencepiece, out),
            DecodeRules::LlamaCpp(rules) => rules.push_text(text, &mut state.llama_cpp, out),
        }
    }

    /// Skips a special token, which counts for llama.cpp's rule about the first token.
    fn skip(&self, state: &mut DecodeState) {
        if let DecodeRules::LlamaCpp(rules) = &self.rules {
            rules.skip(&mut state.llama_cpp);
        }
    }

    /// Appends the bytes that are held back at the end, and resets the state.
    pub fn finish(&self, state: &mut DecodeState, out: &mut Vec<u8>) -> Result<()> {
        let mut state = std::mem::take(state);
        match &self.rules {
            DecodeRules::Bytes | DecodeRules::Llama2c => Ok(()),
            DecodeRules::SentencePiece(rules) => {
                rules.finish(&mut state.sentencepiece, out);
                Ok(())
            }
            DecodeRules::LlamaCpp(rules) => {
                rules.finish(&mut state.llama_cpp, out);
                Ok(())
            }
            DecodeRules::Chain(chain) => chain.finish(&mut state.chain, out),
        }
    }
}

/// A piece with a space for each U+2581.
fn spaced(piece: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(piece.len());
    append_spaced(piece, &mut out);
    out
}

fn append_spaced(piece: &[u8], out: &mut Vec<u8>) {
    let mut rest = piece;
    while let Some(at) = memchr::memmem::find(rest, space_mark::BYTES) {
        out.extend_from_slice(&rest[..at]);
        out.push(b' ');
        rest = &rest[at + space_mark::BYTES.len()..];
    }
    out.extend_from_slice(rest);
}

/// The byte of `<0xHH>`, as `sscanf("<0x%02hhX>")` reads it: one or two hexadecimal digits, whatever follows them.
fn hex_byte(piece: &[u8]) -> Option<u8> {
    let digits = piece.strip_prefix(b"<0x")?;
    let value = |&digit: &u8| (digit as char).to_digit(16).map(|value| value as u8);
    let first = value(digits.first()?)?;
    Some(match digits.get(1).and_then(value) {
        Some(second) => first << 4 | second,
        None => first,
    })
}
