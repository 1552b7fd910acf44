//! What shapes a SentencePiece vocabulary; the names are those of its TrainerSpec.

use crate::spec::{Line, SentencePieceNormalize};

/// What one sentence of the training text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SentenceUnit {
    /// Each line of each text, without its line feed (SentencePiece's files).
    #[default]
    Lines,
    /// Each text, without the line ends behind it (SentencePiece's iterator).
    Items,
    /// Each text as it is.
    Texts,
}

/// All options that the trainers share. Numbers are checked where they come from.
#[derive(Clone, Debug)]
pub struct SentencePieceOptions {
    /// Whose rules are followed.
    pub line: Line,
    /// Of the whole vocabulary, with what is reserved.
    pub vocab_size: usize,
    /// The texts of all reserved pieces; none of them is trained on.
    pub meta: Vec<Vec<u8>>,
    /// How sentences are rewritten.
    pub normalize: SentencePieceNormalize,
    /// What one sentence is.
    pub sentences: SentenceUnit,
    /// Lines are texts, a tab, and how often the text counts.
    pub is_tsv: bool,
    /// Bytes; longer sentences are left out.
    pub max_sentence_length: usize,
    /// Sentences with U+2585 are taken too; no piece will have it.
    pub keeps_reserved: bool,
    /// Sentences that are taken; 0 for all.
    pub input_sentence_size: usize,
    /// They are drawn, not the first ones.
    pub shuffle_input_sentence: bool,
    /// The part of all characters that the alphabet covers.
    pub character_coverage: f32,
    /// The characters are chosen with the merges, by what saves the most.
    pub auto_character_coverage: bool,
    /// They are in the alphabet, however rare.
    pub required_chars: String,
    /// All words or characters become pieces.
    pub use_all_vocab: bool,
    /// In characters.
    pub max_sentencepiece_length: usize,
    /// No piece mixes scripts.
    pub split_by_unicode_script: bool,
    /// No piece has a space inside.
    pub split_by_whitespace: bool,
    /// Digits are of a script of their own (Common).
    pub split_by_number: bool,
    /// Every digit is a piece of its own.
    pub split_digits: bool,
    /// A space belongs to the word before it.
    pub treat_whitespace_as_suffix: bool,
    /// Runs of spaces may be pieces.
    pub allow_whitespace_only_pieces: bool,
    /// No piece contains it or crosses it; empty for none.
    pub pretokenization_delimiter: String,
    /// How many read and count.
    pub threads: usize,
}

impl Default for SentencePieceOptions {
    fn default() -> SentencePieceOptions {
        SentencePieceOptions {
            line: Line::default(),
            vocab_size: 8000,
            meta: Vec::new(),
            normalize: SentencePieceNormalize {
                charsmap: Vec::new(),
                add_dummy_prefix: true,
                remove_extra_whitespaces: true,
                escape_whitespaces: true,
                whitespace_as_suffix: false,
            },
            sentences: SentenceUnit::Lines,
            is_tsv: false,
            max_sentence_length: 4192,
            keeps_reserved: false,
            input_sentence_size: 0,
            shuffle_input_sentence: true,
            character_coverage: 0.9995,
            auto_character_coverage: false,
            required_chars: String::new(),
            use_all_vocab: false,
            max_sentencepiece_length: 16,
            split_by_unicode_script: true,
            split_by_whitespace: true,
            split_by_number: true,
            split_digits: false,
            treat_whitespace_as_suffix: false,
            allow_whitespace_only_pieces: false,
            pretokenization_delimiter: String::new(),
            threads: 1,
        }
    }
}

/// Stands for what is not in the alphabet; no piece contains it.
pub const RARE: char = '\u{2585}';

impl SentencePieceOptions {
    /// Stands where a reserved piece or a delimiter was; no piece contains it. The lines differ.
    pub fn boundary(&self) -> char {
        match self.line {
            Line::V0_2_1 => '\t',
            Line::V0_2_3 => '\u{1F}',
        }
    }
}
