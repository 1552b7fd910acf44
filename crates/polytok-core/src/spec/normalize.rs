//! The normalizer steps, which rewrite the text before it is split.

use polytok_memory::Copied;

/// A step that rewrites the text before it is split.
#[derive(Clone, Debug, PartialEq)]
pub enum Normalize {
    /// SentencePiece's normalizer.
    SentencePiece(SentencePieceNormalize),
    /// Inserts a space before every text that is not empty (llama2.c).
    PrefixSpace,
    /// Replaces bytes that are not UTF-8 by U+FFFD.
    ReplaceInvalid {
        /// True for llama.cpp's UTF-8 decoder, which accepts overlong forms and surrogates.
        lenient: bool,
    },
    /// Hugging Face's BertNormalizer.
    Bert {
        /// True if control characters are removed and each white space is replaced by a space.
        clean_text: bool,
        /// True if each ideograph gets a space before and after it.
        handle_chinese_chars: bool,
        /// True if text is converted to NFD and nonspacing marks are removed.
        strip_accents: bool,
        /// True if text is converted to lower case.
        lowercase: bool,
    },
    /// Removes white space at the ends of a text.
    Strip {
        /// True if white space is removed at the start.
        left: bool,
        /// True if white space is removed at the end.
        right: bool,
    },
    /// Removes combining marks.
    StripAccents,
    /// Converts text to a Unicode normalization form.
    Unicode(Form),
    /// Converts text to lower case.
    Lowercase,
    /// Removes control characters and replaces unusual white space, as Hugging Face's Nmt does.
    Nmt,
    /// Applies a charsmap as Hugging Face does.
    Precompiled(Vec<u8>),
    /// Replaces every match of a pattern.
    Replace(Replace),
    /// Inserts this text before every text that is not empty.
    Prepend(String),
    /// Converts bytes to the characters of GPT-2's table.
    ByteLevel,
    /// Applies llama.cpp's normalizer of T5 vocabularies.
    Ugm {
        /// The `precompiled_charsmap` blob.
        charsmap: Vec<u8>,
        /// True if a space is inserted before the first word.
        add_space_prefix: bool,
        /// True if runs of spaces are merged, and spaces at the ends are removed.
        remove_extra_whitespaces: bool,
    },
    /// Applies llama.cpp's normalizer of BERT vocabularies, which writes U+0000 between words.
    Wpm {
        /// True if text is converted to lower case.
        lowercase: bool,
        /// True if each character is replaced by its base character.
        strip_accents: bool,
    },
}

/// The fields of a SentencePiece NormalizerSpec that affect normalization.
#[derive(Debug, Default, PartialEq)]
pub struct SentencePieceNormalize {
    /// The `precompiled_charsmap` blob; an empty blob rewrites nothing.
    pub charsmap: Vec<u8>,
    /// True if a space is inserted before the text, or after the text if `whitespace_as_suffix` is true.
    pub add_dummy_prefix: bool,
    /// True if spaces at both ends are removed and runs of spaces are merged.
    pub remove_extra_whitespaces: bool,
    /// True if spaces are written as U+2581.
    pub escape_whitespaces: bool,
    /// True if the space is inserted after the text (TrainerSpec's `treat_whitespace_as_suffix`).
    pub whitespace_as_suffix: bool,
}

impl Clone for SentencePieceNormalize {
    fn clone(&self) -> SentencePieceNormalize {
        SentencePieceNormalize { charsmap: self.charsmap.checked_to_vec(), ..*self }
    }
}

/// A Unicode normalization form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
}

/// A replacement of the matches of a pattern by a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Replace {
    /// The pattern to search for.
    pub pattern: Pattern,
    /// The text that replaces each match.
    pub content: String,
}

/// A literal text or a regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The literal text, or the regular expression in the syntax of fancy_regex.
    pub text: String,
    /// True if `text` is a regular expression.
    pub is_regex: bool,
    /// The version of the Unicode tables, for example "15.0"; None for the version of the engine's tables.
    pub unicode: Option<String>,
}
