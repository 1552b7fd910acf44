//! The options of SentencePiece training; field names follow SentencePiece's TrainerSpec.

use crate::spec::{SentencePieceNormalize, SentencePieceVersion};

/// The unit of the training text that is one sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SentenceUnit {
    /// Each line of each text, without its line feed (SentencePiece's files).
    #[default]
    Lines,
    /// Each text, without its trailing line ends (SentencePiece's iterator).
    Items,
    /// Each text as it is.
    Texts,
}

/// The options that all trainers share. The caller checks the numbers.
#[derive(Clone, Debug)]
pub struct SentencePieceOptions {
    /// The SentencePiece version whose rules are applied.
    pub version: SentencePieceVersion,
    /// The number of pieces of the vocabulary, including reserved pieces.
    pub vocab_size: usize,
    /// The texts of all reserved pieces; training treats each of them as a boundary.
    pub meta: Vec<Vec<u8>>,
    /// The normalization of sentences.
    pub normalize: SentencePieceNormalize,
    /// The unit of the training text that is one sentence.
    pub sentences: SentenceUnit,
    /// True if each line consists of a text, a tab, and the count of the text.
    pub is_tsv: bool,
    /// The largest number of bytes of a sentence; longer sentences are skipped.
    pub max_sentence_length: usize,
    /// True if sentences that contain U+2585 are read too; no piece contains U+2585.
    pub keeps_reserved: bool,
    /// The number of sentences that are read; 0 for all sentences.
    pub input_sentence_size: usize,
    /// True if the sentences are a random sample, false if they are the first sentences.
    pub shuffle_input_sentence: bool,
    /// The fraction of all characters in the text that the alphabet covers.
    pub character_coverage: f32,
    /// True if training chooses the number of merges and the characters together, so that texts have the fewest tokens.
    pub auto_character_coverage: bool,
    /// Characters that are always in the alphabet, however rare.
    pub required_chars: String,
    /// True if all words or characters are pieces.
    pub use_all_vocab: bool,
    /// The largest number of characters of a piece.
    pub max_sentencepiece_length: usize,
    /// True if no piece mixes scripts.
    pub split_by_unicode_script: bool,
    /// True if no piece has a space inside.
    pub split_by_whitespace: bool,
    /// True if digits do not belong to the script of the letters around them.
    pub split_by_number: bool,
    /// True if every digit is a piece of its own.
    pub split_digits: bool,
    /// True if a space is the end of a word, false if it is the start of the next word.
    pub treat_whitespace_as_suffix: bool,
    /// True if runs of spaces can be pieces.
    pub allow_whitespace_only_pieces: bool,
    /// A text that separates words: no piece contains a part of it. An empty text disables it.
    pub pretokenization_delimiter: String,
    /// The number of threads that read and count.
    pub threads: usize,
}

impl Default for SentencePieceOptions {
    fn default() -> SentencePieceOptions {
        SentencePieceOptions {
            version: SentencePieceVersion::default(),
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

/// U+2585, which replaces characters that are not in the alphabet; no piece contains U+2585.
pub const RARE_CHAR: char = '\u{2585}';

impl SentencePieceOptions {
    /// Returns the character that replaces a reserved piece or a delimiter, which depends on the SentencePiece version.
    /// No piece contains this character.
    pub fn boundary(&self) -> char {
        match self.version {
            SentencePieceVersion::V0_2_1 => '\t',
            SentencePieceVersion::V0_2_3 => '\u{1F}',
        }
    }
}
