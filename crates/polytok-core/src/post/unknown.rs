//! Rules for text that no entry covers.

use crate::error::{Error, Result};
use crate::spec::{Kind, Model, UnigramRules, Unknown};
use crate::token_id::TokenId;
use crate::vocab::Vocab;

/// The output for unknown text.
pub enum Fallback {
    /// An error whose message has the unknown bytes.
    Error,
    /// This id, once for each run of unknown characters.
    Unk(TokenId),
    /// The id of the unknown entry, which the model itself returns for unknown text; the token has the unknown text as
    /// its text (Unigram models of Hugging Face and llama.cpp).
    ModelUnk(TokenId),
    /// Nothing.
    Drop,
    /// For each unknown byte, the id of this byte in the array.
    Bytes(Box<[TokenId; 256]>),
}

/// The reference program whose rules apply to unknown text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownRules {
    /// SentencePiece.
    SentencePiece,
    /// Hugging Face's and llama.cpp's Unigram, in which an unknown token has the unknown text as its text.
    UnigramPieces,
    /// llama.cpp's BPE, in which the text of an entry decides which byte the entry represents, whatever its kind is.
    LlamaCppBpe,
}

impl UnknownRules {
    /// Returns the rules of the reference program of a model.
    pub fn of(model: &Model) -> UnknownRules {
        match model {
            Model::Bpe { reserved: true, .. } => UnknownRules::LlamaCppBpe,
            Model::Unigram(UnigramRules::HuggingFace { .. } | UnigramRules::LlamaCpp) => UnknownRules::UnigramPieces,
            _ => UnknownRules::SentencePiece,
        }
    }
}

impl Fallback {
    /// Returns the id of unknown tokens; None if unknown text has no id of its own.
    pub fn unknown_id(&self) -> Option<TokenId> {
        if let Fallback::Unk(id) | Fallback::ModelUnk(id) = self { Some(*id) } else { None }
    }

    /// Reports whether unknown text can be an error.
    pub fn can_fail(&self) -> bool {
        match self {
            Fallback::Error => true,
            Fallback::Bytes(ids) => ids.contains(&TokenId::UNKNOWN),
            _ => false,
        }
    }

    /// Compiles the output for unknown text: finds the unknown entry or the entries of the bytes, by the rules of the
    /// reference program.
    pub fn compile(unknown: Unknown, rules: UnknownRules, vocab: &Vocab) -> Result<Fallback> {
        match unknown {
            Unknown::Error => Ok(Fallback::Error),
            Unknown::Drop => Ok(Fallback::Drop),
            Unknown::Unk => vocab
                .rows()
                .find(|&row| vocab.kind(row) == Kind::Unknown)
                .map(|row| vocab.id(row))
                .map(if rules == UnknownRules::UnigramPieces { Fallback::ModelUnk } else { Fallback::Unk })
                .ok_or_else(|| {
                    Error::Spec("unknown=\"unk\" needs an entry of kind UNKNOWN, but the vocabulary has none".into())
                }),
            Unknown::Bytes if rules == UnknownRules::LlamaCppBpe => Ok(Fallback::Bytes(byte_ids_by_text(vocab))),
            Unknown::Bytes => {
                let mut ids = Box::new([TokenId::UNKNOWN; 256]);
                for row in vocab.rows_of(Kind::Byte) {
                    let digits = vocab.bytes(row).strip_prefix(b"<0x").and_then(|digits| digits.strip_suffix(b">"));
                    let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
                    let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                    let byte = byte.ok_or_else(|| {
                        let piece = String::from_utf8_lossy(vocab.bytes(row));
                        Error::Spec(format!(
                            "entry {row} is of kind BYTE, but its piece is {piece:?}, not <0x00> to <0xFF>"
                        ))
                    })?;
                    ids[byte as usize] = vocab.id(row);
                }
                Ok(Fallback::Bytes(ids))
            }
        }
    }
}

/// Finds the entry of each byte as llama.cpp's `byte_to_token` does: the entry with the text `<0xHH>`, in capitals, or
/// without such an entry the entry whose text is the byte.
fn byte_ids_by_text(vocab: &Vocab) -> Box<[TokenId; 256]> {
    let mut ids = Box::new([TokenId::UNKNOWN; 256]);
    let rows = || vocab.rows().map(|row| (vocab.bytes(row), vocab.id(row)));
    for (piece, id) in rows() {
        if let &[byte] = piece {
            ids[byte as usize] = id;
        }
    }
    for (piece, id) in rows() {
        if let &[b'<', b'0', b'x', high, low, b'>'] = piece
            && let (Some(high), Some(low)) = (hex_digit_value(high), hex_digit_value(low))
        {
            ids[(high << 4 | low) as usize] = id;
        }
    }
    ids
}

/// Returns the value of a hexadecimal digit; None for a lower-case letter or another character.
fn hex_digit_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}
