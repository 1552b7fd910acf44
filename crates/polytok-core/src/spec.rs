//! Defines the Rust side of `polytok.Spec`, the plain data from which a tokenizer is compiled.
//!
//! Each part of the pipeline has a file. The binding fills these types, field by field, from the Python dataclasses of
//! python/polytok/spec/, where the part has a file of the same name.

mod decode;
mod model;
mod names;
mod normalize;
mod post;
mod special;
mod split;
mod vocab;

pub use decode::{Decode, DecodeStep, Family};
pub use model::{Model, Priority, ScalarRules, Symbols, UnigramRules, Unknown};
pub use names::Named;
pub use normalize::{Form, Normalize, Pattern, Replace, SentencePieceNormalize};
pub use post::{TemplatePart, TrimOffsets};
pub use special::{Matching, SpecialToken};
pub use split::{Behavior, Scheme, Split};
pub use vocab::{Kind, VocabColumns};

/// The complete description of a tokenizer.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The vocabulary in columns.
    pub vocab: VocabColumns,
    /// The special tokens that are listed separately from the vocabulary, in the order of the list.
    pub special: Vec<SpecialToken>,
    /// The rule that chooses between overlapping special tokens.
    pub matching: Matching,
    /// The steps that rewrite a text, in the order in which they run.
    pub normalize: Vec<Normalize>,
    /// The steps that split a text; each splits the pieces of the step before it.
    pub split: Vec<Split>,
    /// The model that encodes pieces to ids.
    pub model: Model,
    /// The output for text that no entry covers.
    pub unknown: Unknown,
    /// The template around a text.
    pub single: Vec<TemplatePart>,
    /// The kind of text at the ends of tokens that their spans do not cover.
    pub trim: TrimOffsets,
    /// The rules that convert ids to text.
    pub decode: Decode,
    /// The SentencePiece version whose rules the tokenizer follows.
    pub sentencepiece_version: SentencePieceVersion,
}

impl Spec {
    /// Returns the Spec of a model over a vocabulary, with the default of each other field: no special tokens, no
    /// normalization, no split, an error for text that no entry covers, no template, and decoding that concatenates the
    /// bytes of the tokens.
    pub fn new(vocab: VocabColumns, model: Model) -> Spec {
        Spec {
            vocab,
            special: Vec::new(),
            matching: Matching::default(),
            normalize: Vec::new(),
            split: Vec::new(),
            model,
            unknown: Unknown::Error,
            single: vec![TemplatePart::Slot],
            trim: TrimOffsets::Nothing,
            decode: Decode::Bytes { skips_unknown: false },
            sentencepiece_version: SentencePieceVersion::default(),
        }
    }
}

/// The version of SentencePiece whose rules the tokenizer follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SentencePieceVersion {
    /// The releases 0.2.0 and 0.2.1.
    V0_2_1,
    /// The newest release, 0.2.3.
    #[default]
    V0_2_3,
}
