//! Converts ids to bytes, with one state machine for each family of tokenizers. Decoding a whole sequence of ids uses
//! the same state machine as decoding a stream of ids, so their results cannot differ. The caller converts the bytes to
//! text with an incremental UTF-8 decoder.
//!
//! The texts of most vocabulary rows are computed once and stored (row_texts.rs). The rules of the family decode all
//! other rows.

mod chain;
mod llama2c;
mod llama_cpp;
pub mod offsets;
mod row_texts;
mod sentencepiece;
#[cfg(test)]
mod tests;
pub mod traced;

use chain::{ChainState, DecodeChain};
use llama_cpp::LlamaCppDecoder;
use polytok_memory::{self as memory, Grow};
use row_texts::{RowTexts, SettledOutput};
use sentencepiece::{PieceEnds, SentencePieceDecoder};

use crate::error::{Error, Result};
use crate::lazy::Lazy;
use crate::space_mark;
use crate::spec::{Decode, SentencePieceVersion};
use crate::special::Specials;
use crate::token_id::TokenId;
use crate::vocab::Vocab;

/// The compiled decoder of a tokenizer.
pub struct Decoder {
    rules: DecodeRules,
    texts: Lazy<RowTexts>,
    skips_unknown: bool,
}

/// The rules of each family.
enum DecodeRules {
    Bytes,
    SentencePiece(Box<SentencePieceDecoder>),
    Llama2c,
    LlamaCpp(LlamaCppDecoder),
    Chain(DecodeChain),
}

/// The state of a decoder between two ids, with a field for each family that needs one.
#[derive(Clone, Debug, Default)]
pub struct DecodeState {
    sentencepiece: sentencepiece::SentencePieceState,
    chain: ChainState,
    /// The previous id (llama2.c).
    previous_id: Option<TokenId>,
    llama_cpp: llama_cpp::LlamaCppState,
}

impl DecodeState {
    /// Returns the state at the start of a text. An eager decoder writes each character of a run of Hugging Face's byte
    /// tokens when its bytes are complete, although the reference decodes the run as a whole.
    pub fn new(is_eager: bool) -> DecodeState {
        DecodeState { chain: ChainState::new(is_eager), ..DecodeState::default() }
    }
}

impl Decoder {
    /// Compiles the decode step.
    pub fn compile(decode: &Decode, vocab: &Vocab, version: SentencePieceVersion) -> Result<Decoder> {
        let rules = match decode {
            Decode::Bytes { .. } => DecodeRules::Bytes,
            Decode::Llama2c => DecodeRules::Llama2c,
            Decode::Chain { steps, byte_level } => {
                DecodeRules::Chain(DecodeChain::compile(steps.as_deref(), *byte_level)?)
            }
            Decode::SentencePiece { add_dummy_prefix, remove_extra_whitespaces, unk_surface, denormalize } => {
                let strips_space = *add_dummy_prefix || *remove_extra_whitespaces;
                let strips_all_leading = *remove_extra_whitespaces;
                DecodeRules::SentencePiece(Box::new(SentencePieceDecoder::compile(
                    (strips_space, strips_all_leading),
                    unk_surface,
                    denormalize.as_ref(),
                    vocab,
                    version,
                )?))
            }
            &Decode::LlamaCpp { family, strip_space, clean_spaces, escaped_spaces } => {
                DecodeRules::LlamaCpp(LlamaCppDecoder::compile(family, strip_space, clean_spaces, escaped_spaces))
            }
        };
        let skips_unknown = matches!(decode, Decode::Chain { .. } | Decode::Bytes { skips_unknown: true });
        Ok(Decoder { rules, texts: Lazy::default(), skips_unknown })
    }

    /// Reports whether an id that no token has is skipped. Otherwise such an id is an error.
    pub fn skips_unknown(&self) -> bool {
        self.skips_unknown
    }

    /// Computes the texts of the rows, which the first decoding would otherwise compute.
    pub fn warm_up(&self, vocab: &Vocab, specials: &Specials) {
        self.texts(vocab, specials);
    }

    /// Returns the texts of the rows; the first call computes them.
    fn texts(&self, vocab: &Vocab, specials: &Specials) -> &RowTexts {
        self.texts.get(|| self.compile_texts(vocab, specials))
    }

    /// Appends the bytes of `ids`. With `skip_special`, special tokens are skipped.
    pub fn append(
        &self,
        vocab: &Vocab,
        specials: &Specials,
        ids: &[TokenId],
        skip_special: bool,
        state: &mut DecodeState,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let texts = self.texts(vocab, specials);
        let mut remaining_ids = ids;
        loop {
            if let Some(out) = self.settled_output(state, out) {
                remaining_ids = &remaining_ids[texts.append_run(vocab, remaining_ids, skip_special, out)..];
            }
            let Some((&id, later_ids)) = remaining_ids.split_first() else { return Ok(()) };
            match skip_special && specials.is_skippable(id) {
                true => self.skip_special(state),
                false => self.push(vocab, specials, texts, id, state, out)?,
            }
            remaining_ids = later_ids;
        }
    }

    /// Decodes ids by SentencePiece's rules: returns the text, and for each id the end of the text that the ids up to it
    /// add. None for other rules, and if a denormalizer changes the text.
    pub fn decode_pieces(
        &self,
        vocab: &Vocab,
        specials: &Specials,
        ids: &[TokenId],
    ) -> Result<Option<(Vec<u8>, Vec<usize>)>> {
        let DecodeRules::SentencePiece(rules) = &self.rules else { return Ok(None) };
        if rules.changes_decoded_text() {
            return Ok(None);
        }
        let texts = self.texts(vocab, specials);
        let mut pieces = PieceEnds::with_room(ids.len());
        for id in ids {
            if pieces.push_settled(|out| texts.append_run(vocab, std::slice::from_ref(id), false, out) == 1) {
                continue;
            }
            match vocab.row(*id) {
                Some(row) => rules.push_row(vocab, row, &mut pieces),
                None => pieces.push_text(specials.text(*id).ok_or(Error::Id(id.0))?),
            }
        }
        Ok(Some(pieces.finish()))
    }

    /// Computes the text that each row prints in a settled state.
    fn compile_texts(&self, vocab: &Vocab, specials: &Specials) -> RowTexts {
        let mut remaining_bytes = chain::max_text_bytes(vocab);
        let settled_text = |row| match &self.rules {
            DecodeRules::Bytes => SettledOutput::Text(vocab.bytes(row).into()),
            DecodeRules::Llama2c => llama2c::settled_text(vocab.bytes(row), vocab.id(row)),
            DecodeRules::SentencePiece(rules) => rules.settled_text(vocab, row),
            DecodeRules::LlamaCpp(rules) => SettledOutput::Text(rules.row_text(vocab, row).into()),
            DecodeRules::Chain(chain) => chain.settled_text(vocab, specials, row, &mut remaining_bytes),
        };
        let is_skippable = |row| specials.is_skippable(vocab.id(row));
        RowTexts::new(vocab.rows().zip(vocab.rows().map(settled_text)).map(|(row, text)| (text, is_skippable(row))))
    }

    /// Returns the buffer to which the stored texts of rows can be appended; None if the state is not settled.
    #[inline]
    fn settled_output<'a>(&self, state: &'a mut DecodeState, out: &'a mut Vec<u8>) -> Option<&'a mut Vec<u8>> {
        match &self.rules {
            DecodeRules::Bytes => Some(out),
            DecodeRules::Llama2c => llama2c::is_settled(state.previous_id).then_some(out),
            DecodeRules::SentencePiece(rules) => rules.settled_output(&mut state.sentencepiece, out),
            DecodeRules::LlamaCpp(rules) => rules.is_settled(&state.llama_cpp).then_some(out),
            DecodeRules::Chain(chain) => chain.is_settled(&mut state.chain).then_some(out),
        }
    }

    /// Appends the bytes of one id by the rules of the family.
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
            DecodeRules::Bytes => out.checked_extend_from_slice(vocab.bytes(row)),
            DecodeRules::Llama2c => llama2c::push(vocab.bytes(row), id, &mut state.previous_id, out),
            DecodeRules::SentencePiece(rules) => rules.push(vocab, row, &mut state.sentencepiece, out),
            DecodeRules::LlamaCpp(rules) => rules.push_text(&rules.row_text(vocab, row), &mut state.llama_cpp, out),
            DecodeRules::Chain(_) => {}
        }
        Ok(())
    }

    /// Appends the text of a special token that is not a row of the vocabulary.
    fn push_text(&self, text: &[u8], id: TokenId, state: &mut DecodeState, out: &mut Vec<u8>) {
        match &self.rules {
            DecodeRules::Bytes | DecodeRules::Chain(_) => out.checked_extend_from_slice(text),
            DecodeRules::Llama2c => {
                out.checked_extend_from_slice(text);
                state.previous_id = Some(id);
            }
            DecodeRules::SentencePiece(rules) => rules.push_text(text, &mut state.sentencepiece, out),
            DecodeRules::LlamaCpp(rules) => rules.push_text(text, &mut state.llama_cpp, out),
        }
    }

    /// Skips a special token. With llama.cpp's rules a skipped token still counts as the first token, so no later token
    /// loses a space.
    fn skip_special(&self, state: &mut DecodeState) {
        if let DecodeRules::LlamaCpp(rules) = &self.rules {
            rules.skip_special(&mut state.llama_cpp);
        }
    }

    /// Appends the bytes that are held back at the end, and resets the state.
    pub fn finish(&self, state: &mut DecodeState, out: &mut Vec<u8>) -> Result<()> {
        match &self.rules {
            DecodeRules::Bytes => {}
            DecodeRules::Llama2c => state.previous_id = None,
            DecodeRules::SentencePiece(rules) => rules.finish(std::mem::take(&mut state.sentencepiece), out),
            DecodeRules::LlamaCpp(rules) => rules.finish(std::mem::take(&mut state.llama_cpp), out),
            DecodeRules::Chain(chain) => return chain.finish(&mut state.chain, out),
        }
        Ok(())
    }
}

/// Returns a piece with each U+2581 replaced by a space.
fn unescape_spaces(piece: &[u8]) -> Vec<u8> {
    let mut out = memory::with_capacity(piece.len());
    append_unescaped(piece, &mut out);
    out
}

/// Appends a piece with each U+2581 replaced by a space.
fn append_unescaped(piece: &[u8], out: &mut Vec<u8>) {
    let mut remaining_piece = piece;
    while let Some(at) = memchr::memmem::find(remaining_piece, space_mark::BYTES) {
        out.checked_extend_from_slice(&remaining_piece[..at]);
        out.checked_push(b' ');
        remaining_piece = &remaining_piece[at + space_mark::BYTES.len()..];
    }
    out.checked_extend_from_slice(remaining_piece);
}

/// Returns the byte of a piece `<0xHH>`. Like `sscanf("<0x%02hhX>")`, reads one or two hexadecimal digits and ignores
/// the remaining text.
fn hex_byte(piece: &[u8]) -> Option<u8> {
    let digits = piece.strip_prefix(b"<0x")?;
    let digit_value = |&digit: &u8| (digit as char).to_digit(16).map(|value| value as u8);
    let high_digit = digit_value(digits.first()?)?;
    Some(match digits.get(1).and_then(digit_value) {
        Some(low_digit) => high_digit << 4 | low_digit,
        None => high_digit,
    })
}
