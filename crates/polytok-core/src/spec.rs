//! The Rust side of `polytok.Spec`: what a tokenizer is compiled from, and nothing else.
//!
//! Plain data; the binding fills it from the Python dataclasses of python/polytok/spec.py, field by field.

use crate::error::{Error, Result};

/// What a vocabulary entry is. The numbers are SentencePiece's and GGUF's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// An ordinary piece.
    Normal = 1,
    /// The piece that stands for text the vocabulary does not know.
    Unknown = 2,
    /// A control symbol such as `<s>`: never produced from plain text, no text of its own when decoded.
    Control = 3,
    /// A piece that is matched before the model runs.
    UserDefined = 4,
    /// A piece that the model may pass through but never emits.
    Unused = 5,
    /// One raw byte, `<0x00>` to `<0xFF>`.
    Byte = 6,
}

impl TryFrom<u8> for Kind {
    type Error = Error;

    fn try_from(number: u8) -> Result<Kind> {
        Ok(match number {
            1 => Kind::Normal,
            2 => Kind::Unknown,
            3 => Kind::Control,
            4 => Kind::UserDefined,
            5 => Kind::Unused,
            6 => Kind::Byte,
            _ => return Err(Error::Spec(format!("kind {number} is not one of 1 to 6"))),
        })
    }
}

/// The SentencePiece release whose rules are followed where its lines differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Line {
    /// 0.2.0 and 0.2.1.
    V0_2_1,
    /// 0.2.3, the newest.
    #[default]
    V0_2_3,
}

/// The vocabulary, column by column; row `i` is `blob[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, Default)]
pub struct VocabColumns {
    /// All pieces' bytes, one after the other.
    pub blob: Vec<u8>,
    /// Row borders in `blob`, one more than there are rows.
    pub offsets: Vec<u32>,
    /// The id of each row, unique.
    pub ids: Vec<u32>,
    /// The score of each row, 0 where the format has none.
    pub scores: Vec<f32>,
    /// The kind of each row.
    pub kinds: Vec<Kind>,
    /// Kinds that replace `kinds` when pieces are emitted and decoded, but not when tables are built
    /// (SentencePiece's vocabulary restriction).
    pub active_kinds: Option<Vec<Kind>>,
}

/// A text that stands for one id when the caller allows it.
#[derive(Clone, Debug)]
pub struct SpecialToken {
    /// The text, as it stands in the input.
    pub text: Vec<u8>,
    /// Its id.
    pub id: u32,
}

/// How the text is rewritten before it is split.
#[derive(Clone, Debug)]
pub enum Normalize {
    /// SentencePiece's normalizer.
    SentencePiece(SentencePieceNormalize),
    /// One space before every text that is not empty (llama2.c).
    PrefixSpace,
}

/// The fields of a SentencePiece NormalizerSpec that shape the output.
#[derive(Clone, Debug, Default)]
pub struct SentencePieceNormalize {
    /// The `precompiled_charsmap` blob; empty means no mapping.
    pub charsmap: Vec<u8>,
    /// One space before the text (or after it, see `whitespace_as_suffix`).
    pub add_dummy_prefix: bool,
    /// Strip spaces at both ends and collapse runs.
    pub remove_extra_whitespaces: bool,
    /// Write spaces as U+2581.
    pub escape_whitespaces: bool,
    /// The dummy space goes behind the text (TrainerSpec's `treat_whitespace_as_suffix`).
    pub whitespace_as_suffix: bool,
}

/// Where a pair's priority comes from.
#[derive(Clone, Debug)]
pub enum Priority {
    /// From a list of pairs of ids; the position is the priority (minbpe, Hugging Face). The merged id is the third.
    Merges(Vec<[u32; 3]>),
    /// From the id of the concatenation, low first (tiktoken).
    Rank,
    /// From the score of the concatenation, high first (SentencePiece, llama2.c).
    Score,
}

/// What BPE starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// Single bytes.
    Bytes,
    /// Characters by SentencePiece's lead-byte rule.
    Chars,
    /// llama2.c's groups: a byte and up to three continuation bytes; a group that is no piece becomes its bytes' pieces.
    Groups,
}

/// What becomes of text that no piece covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// An error that names the bytes.
    Error,
    /// The piece of kind Unknown; runs become one.
    Unk,
    /// One piece of kind Byte for each byte.
    Bytes,
}

/// The model: pieces to ids.
#[derive(Clone, Debug)]
pub enum Model {
    /// Byte-pair encoding.
    Bpe {
        /// Where priorities come from.
        priority: Priority,
        /// The initial symbols.
        symbols: Symbols,
        /// A piece that is an entry as a whole is taken without merging.
        whole_piece_first: bool,
    },
    /// The best path by the sum of scores.
    Unigram,
    /// The longest entry that is a prefix of the rest, again and again (RWKV World).
    Longest,
    /// SentencePiece WORD: stretches between spaces.
    Word,
    /// SentencePiece CHAR.
    Char,
}

/// How ids become text.
#[derive(Clone, Debug)]
pub enum Decode {
    /// The pieces' bytes, one after the other.
    Bytes,
    /// SentencePiece's rules.
    SentencePiece {
        /// The model normalizes with a dummy prefix or strips spaces, so a leading space is taken away.
        add_dummy_prefix: bool,
        /// See `add_dummy_prefix`; strips from every leading piece instead of the first.
        remove_extra_whitespaces: bool,
        /// What an unknown piece prints.
        unk_surface: Vec<u8>,
        /// A normalizer run over the decoded text.
        denormalize: Option<SentencePieceNormalize>,
    },
    /// llama2.c's: a space after BOS goes, `<0x..>` pieces are bytes.
    Llama2c,
}

/// Everything that a tokenizer is made of.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The vocabulary.
    pub vocab: VocabColumns,
    /// Special tokens that are not rows of the vocabulary, in their order.
    pub special: Vec<SpecialToken>,
    /// At most one rewriting step.
    pub normalize: Option<Normalize>,
    /// Split patterns, each applied to the pieces of the one before; text that a pattern does not match is dropped.
    pub split: Vec<String>,
    /// The model.
    pub model: Model,
    /// What happens to text no piece covers.
    pub unknown: Unknown,
    /// Ids put before the text when special tokens are asked for.
    pub before: Vec<u32>,
    /// Ids put after it.
    pub after: Vec<u32>,
    /// How ids become text.
    pub decode: Decode,
    /// The SentencePiece release to follow.
    pub line: Line,
}
