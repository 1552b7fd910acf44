//! The decoders, which convert ids to text.

use super::{Replace, Scheme, SentencePieceNormalize};

/// The rules that convert ids to text.
#[derive(Clone, Debug, PartialEq)]
pub enum Decode {
    /// The bytes of the pieces are concatenated.
    Bytes {
        /// True if an id without a token prints nothing, as in Hugging Face's decoder; otherwise such an id is an
        /// error, as in tiktoken.
        skips_unknown: bool,
    },
    /// SentencePiece's rules.
    SentencePiece {
        /// True if the model inserts a space before the text, so that a space is removed from the first piece.
        add_dummy_prefix: bool,
        /// True if the model removes extra spaces, so that a space is removed from every piece up to the first that
        /// prints text.
        remove_extra_whitespaces: bool,
        /// The text that an unknown piece prints.
        unk_surface: Vec<u8>,
        /// A normalizer that runs over the decoded text.
        denormalize: Option<SentencePieceNormalize>,
    },
    /// llama2.c's rules: a space after BOS is removed, and `<0x..>` pieces are bytes.
    Llama2c,
    /// Hugging Face's decoders; each decoder rewrites the list of tokens.
    Chain {
        /// The decoders; without them, tokens are joined with spaces.
        steps: Option<Vec<DecodeStep>>,
        /// True if entries are bytes, which are first converted to GPT-2's characters.
        byte_level: bool,
    },
    /// llama.cpp's detokenizer.
    LlamaCpp {
        /// The family of the vocabulary, which decides how tokens are written.
        family: Family,
        /// True if a space is removed from the first token.
        strip_space: bool,
        /// True if spaces before English punctuation are removed.
        clean_spaces: bool,
        /// True for a BPE vocabulary of plain text in which spaces are written as U+2581.
        escaped_spaces: bool,
    },
}

/// A vocabulary family of llama.cpp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// SentencePiece BPE.
    Spm,
    /// Byte-level BPE.
    Bpe,
    /// WordPiece.
    Wpm,
    /// SentencePiece Unigram.
    Ugm,
    /// RWKV World.
    Rwkv,
    /// PLaMo-2.
    Plamo2,
}

/// A step of Hugging Face's decoders.
#[derive(Clone, Debug, PartialEq)]
pub enum DecodeStep {
    /// Converts the characters of GPT-2's table to bytes.
    ByteLevel,
    /// Replaces the suffix of words by a space.
    Bpe {
        /// The suffix of words.
        suffix: String,
    },
    /// Joins tokens with spaces, except before tokens that start with the prefix.
    WordPiece {
        /// The prefix of tokens that continue a word.
        prefix: String,
        /// True if spaces before English punctuation are removed.
        cleanup: bool,
    },
    /// Replaces the visible text for spaces by a space.
    Metaspace {
        /// The visible text that is replaced by a space.
        replacement: String,
        /// The pieces before which the tokenizer inserts the replacement; unless this is `Never`, the replacement is
        /// removed from the first token.
        prepend: Scheme,
    },
    /// Removes repetitions of a token.
    Ctc {
        /// The token that is removed.
        pad: String,
        /// The text that is replaced by a space.
        delimiter: String,
        /// True if spaces before English punctuation are removed.
        cleanup: bool,
    },
    /// Replaces every match of a pattern.
    Replace(Replace),
    /// Removes a character at the ends of tokens.
    Strip {
        /// The character that is removed.
        content: char,
        /// The largest number of characters removed at the start.
        start: usize,
        /// The largest number of characters removed at the end.
        stop: usize,
    },
    /// Converts tokens `<0xHH>` to bytes.
    ByteFallback,
    /// Joins all tokens to one.
    Fuse,
}
