//! Defines the Rust side of `polytok.Spec`, the plain data from which a tokenizer is compiled.
//!
//! The binding fills these types from the Python dataclasses of python/polytok/spec/, field by field.

mod names;

use bytemuck::CheckedBitPattern;

use crate::error::{Error, Result};
use crate::token_id::TokenId;
pub use names::Named;

/// The kind of a vocabulary entry. The numbers of the kinds are those of SentencePiece and GGUF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u8)]
pub enum Kind {
    /// An ordinary piece.
    Normal = 1,
    /// The unknown entry, whose id is written for text that no other entry covers.
    Unknown = 2,
    /// A control symbol such as `<s>`: encoding plain text never returns its id, and decoding prints nothing for this
    /// id.
    Control = 3,
    /// A piece that is matched before the model runs.
    UserDefined = 4,
    /// A piece that can be an intermediate result of merging, but whose id the model never returns.
    Unused = 5,
    /// A single byte, `<0x00>` to `<0xFF>`.
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
            _ => return Err(Error::Spec(format!("kind {number} does not exist; kinds are numbers from 1 to 6"))),
        })
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

/// The vocabulary in columns; the bytes of row `i` are `blob[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VocabColumns {
    /// The concatenated bytes of all pieces.
    pub blob: Vec<u8>,
    /// The start of each row in `blob`, and the end of the last row.
    pub offsets: Vec<u32>,
    /// The id of each row; no two rows have the same id.
    pub ids: Vec<u32>,
    /// The score of each row; 0 if the format has no scores.
    pub scores: Vec<f32>,
    /// The score of each row in float64, if the format has float64 scores (Hugging Face).
    pub wide_scores: Option<Vec<f64>>,
    /// The kind of each row.
    pub kinds: Vec<Kind>,
    /// The kinds that encoding and decoding use instead of `kinds`, if SentencePiece's vocabulary restriction is on;
    /// tables are built with `kinds`.
    pub active_kinds: Option<Vec<Kind>>,
}

impl VocabColumns {
    /// Returns the columns of ordinary entries without scores. The id of an entry is its position. The entries must be
    /// shorter than 4 GiB together.
    pub fn from_entries<E: AsRef<[u8]>>(entries: &[E]) -> VocabColumns {
        let entries = || entries.iter().map(AsRef::as_ref);
        let ends = entries().scan(0, |end, entry| {
            *end += entry.len() as u32;
            Some(*end)
        });
        VocabColumns {
            blob: entries().flatten().copied().collect(),
            offsets: std::iter::once(0).chain(ends).collect(),
            ids: (0..).zip(entries()).map(|(id, _)| id).collect(),
            scores: vec![0.0; entries().len()],
            kinds: vec![Kind::Normal; entries().len()],
            ..VocabColumns::default()
        }
    }
}

/// A special token: a text that is encoded as one id, before the other steps of the pipeline run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpecialToken {
    /// The text to search for.
    pub text: Vec<u8>,
    /// The id of the token.
    pub id: TokenId,
    /// True if the token is always recognized, even if the caller does not allow it.
    pub always: bool,
    /// True if the token is not recognized next to a letter, digit or underscore.
    pub single_word: bool,
    /// True if the white space before the token becomes a part of the token.
    pub lstrip: bool,
    /// True if the white space after the token becomes a part of the token.
    pub rstrip: bool,
    /// True if the normalized text of the token is searched for in the normalized text.
    pub normalized: bool,
}

/// The rule that chooses between overlapping special tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// The leftmost token is taken; of several tokens at the same offset, the longest is taken.
    #[default]
    Longest,
    /// The leftmost token is taken; of several tokens at the same offset, the first listed is taken (minbpe).
    Listed,
    /// The longest token in the whole text is taken, then the next longest in the remaining parts (llama.cpp).
    LongestFirst,
}

/// A step that rewrites the text before it is split. The steps are those of python/polytok/spec/.
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

/// The rule that decides which pieces a split forms from the matches of its pattern and from the gaps between the
/// matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    /// Matches are pieces, and gaps are dropped.
    Matches,
    /// Gaps are pieces, and matches are dropped.
    Removed,
    /// Matches are pieces, and so are gaps.
    Isolated,
    /// A match joins the gap before it.
    MergedWithPrevious,
    /// A match joins the gap after it.
    MergedWithNext,
    /// Adjacent matches are one piece, and so are adjacent gaps.
    Contiguous,
}

/// The pieces before which Metaspace inserts its replacement for spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// All pieces.
    Always,
    /// The piece at the start of the text.
    First,
    /// No piece.
    Never,
}

/// A step that splits pieces further, or rewrites pieces.
#[derive(Clone, Debug, PartialEq)]
pub enum Split {
    /// Splits at the matches of a pattern.
    Pattern {
        /// The pattern to search for.
        pattern: Pattern,
        /// The rule for matches and gaps.
        behavior: Behavior,
        /// True if gaps count as matches, and matches as gaps.
        invert: bool,
    },
    /// Replaces spaces by a visible text, and can split before each such text.
    Metaspace {
        /// The text that replaces a space.
        replacement: String,
        /// The pieces before which the replacement is inserted.
        prepend: Scheme,
        /// True if pieces are split before each replacement.
        split: bool,
    },
    /// Inserts a space before each piece that does not start with a space.
    PieceSpace,
    /// Converts bytes to the characters of GPT-2's table.
    ByteLevel,
    /// Splits between characters of different scripts.
    Script,
    /// Splits to pieces of this number of characters.
    FixedLength(usize),
    /// Splits runs of number characters to groups of three, counted from the right.
    DigitGroups {
        /// The version of the Unicode tables.
        unicode: Option<String>,
    },
}

/// The fields of a SentencePiece NormalizerSpec that affect normalization.
#[derive(Clone, Debug, Default, PartialEq)]
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

/// The source of the priorities of merges.
#[derive(Clone, Debug, PartialEq)]
pub enum Priority {
    /// A list of merges, each with the left, right and merged id; earlier merges have priority (minbpe, Hugging Face).
    Merges(Vec<[u32; 3]>),
    /// The id of the merged entry; the lowest id merges first (tiktoken).
    Rank,
    /// The score of the merged entry; the highest score merges first (SentencePiece, llama2.c).
    Score,
}

/// The symbols from which BPE starts to merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// Single bytes.
    Bytes,
    /// Characters whose length follows from the lead byte, as in SentencePiece.
    Chars,
    /// llama2.c's groups: a byte and up to three continuation bytes. A group that is not an entry is encoded as the
    /// entries of its bytes.
    Groups,
    /// Unicode characters; unknown characters are replaced before merging starts (Hugging Face).
    Scalars,
}

/// The output for text that no entry covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// An error that names the bytes.
    Error,
    /// The entry of kind Unknown, once for each run of unknown text.
    Unk,
    /// An entry of kind Byte for each byte.
    Bytes,
    /// Nothing.
    Drop,
}

/// The rules of BPE over Unicode characters (Hugging Face), in addition to the merges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScalarRules {
    /// The text that is written before every character of a piece except the first.
    pub continuing_prefix: String,
    /// The text that is written after the last character of a piece.
    pub word_suffix: String,
    /// True if unknown text is encoded as the entries of its bytes if all these entries exist; otherwise the other
    /// rules for unknown text apply.
    pub byte_fallback: bool,
    /// True if adjacent unknown characters are encoded as one unknown token.
    pub fuse_unknown: bool,
}

/// The reference program that a Unigram model follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnigramRules {
    /// SentencePiece: sums are float32.
    SentencePiece,
    /// Hugging Face: sums are float64, entries of every kind can be used, and the text of each run of unknown
    /// characters is searched for in the vocabulary.
    HuggingFace {
        /// True if a run of unknown text is encoded as the entries of its bytes when the vocabulary has all these
        /// entries.
        byte_fallback: bool,
    },
    /// llama.cpp: scores are float32, and sums are float64.
    LlamaCpp,
}

/// The model that encodes pieces to ids, with its options.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// Byte-pair encoding.
    Bpe {
        /// The source of the priorities of merges.
        priority: Priority,
        /// The symbols from which merging starts.
        symbols: Symbols,
        /// True if a piece that is an entry is encoded as this entry, without merging.
        whole_piece_first: bool,
        /// True if merging can produce vocabulary rows of every kind (llama.cpp).
        reserved: bool,
        /// The additional rules for `Symbols::Scalars`.
        scalars: ScalarRules,
    },
    /// Encodes to the sequence of entries with the highest sum of scores (Unigram).
    Unigram(UnigramRules),
    /// Takes repeatedly the longest entry that the remaining text starts with (RWKV World).
    Longest,
    /// SentencePiece's WORD model: the text between two spaces is an entry or unknown.
    Word,
    /// SentencePiece's CHAR model: each character is an entry or unknown.
    Char,
    /// Takes repeatedly the longest entry that the remaining piece starts with (WordPiece). If no entry matches, the
    /// whole piece is unknown.
    WordPiece {
        /// The prefix of the entries that are not at the start of a piece.
        continuing_prefix: String,
        /// The largest number of characters of a piece; a longer piece is unknown.
        max_chars: Option<usize>,
        /// True if entries at the start of a word begin with U+2581 (llama.cpp).
        phantom_space: bool,
    },
    /// Looks each piece up: a piece is an entry or unknown (Hugging Face's WordLevel).
    WordLevel,
    /// PLaMo-2's model (llama.cpp).
    Plamo2,
}

impl Model {
    /// Returns tiktoken's model: bytes merge in the order of ids, and a piece that is an entry is not merged.
    pub fn bpe_by_rank() -> Model {
        Model::Bpe {
            priority: Priority::Rank,
            symbols: Symbols::Bytes,
            whole_piece_first: true,
            reserved: false,
            scalars: ScalarRules::default(),
        }
    }
}

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

/// A part of the template around a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePart {
    /// These ids are inserted.
    Insert(Vec<TokenId>),
    /// The text is encoded here.
    Slot,
}

/// The kind of text at the ends of tokens that their spans do not cover (Hugging Face's byte-level post-processors).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimOffsets {
    /// Nothing.
    Nothing,
    /// White space.
    Space,
    /// White space, except a space that the normalizer inserted before the first token.
    SpaceExceptPrefix,
}

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
