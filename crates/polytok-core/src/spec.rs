//! The Rust side of `polytok.Spec`: what a tokenizer is compiled from, and nothing else.
//!
//! Plain data; the binding fills it from the Python dataclasses of python/polytok/spec/, field by field.

use bytemuck::CheckedBitPattern;

use crate::error::{Error, Result};
use crate::token_id::TokenId;

/// What a vocabulary entry is. The numbers are SentencePiece's and GGUF's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
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
    /// The same in float64, where the format has such (Hugging Face).
    pub wide_scores: Option<Vec<f64>>,
    /// The kind of each row.
    pub kinds: Vec<Kind>,
    /// Kinds that replace `kinds` when pieces are emitted and decoded, but not when tables are built
    /// (SentencePiece's vocabulary restriction).
    pub active_kinds: Option<Vec<Kind>>,
}

/// A text that stands for one id before the rest of the pipeline sees it.
#[derive(Clone, Debug, Default)]
pub struct SpecialToken {
    /// The text, as it stands in the input.
    pub text: Vec<u8>,
    /// Its id.
    pub id: TokenId,
    /// Recognised always, not only where the caller allows it.
    pub always: bool,
    /// Not where it touches a letter, digit or underscore.
    pub single_word: bool,
    /// With the white space before it.
    pub lstrip: bool,
    /// With the white space behind it.
    pub rstrip: bool,
    /// The normalized token is searched in the normalized text.
    pub normalized: bool,
}

/// Which of several special tokens counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// The leftmost; at one place the longest.
    #[default]
    Longest,
    /// The leftmost; at one place the one listed first (minbpe).
    Listed,
    /// The longest of all, wherever it stands, then the next longest in what is left (llama.cpp).
    LongestFirst,
}

/// How the text is rewritten before it is split. The steps are those of python/polytok/spec/.
#[derive(Clone, Debug)]
pub enum Normalize {
    /// SentencePiece's normalizer.
    SentencePiece(SentencePieceNormalize),
    /// One space before every text that is not empty (llama2.c).
    PrefixSpace,
    /// U+FFFD for every byte that is part of no character; by llama.cpp's decoder if `lenient`.
    ReplaceInvalid {
        /// Overlong forms and surrogates pass.
        lenient: bool,
    },
    /// Hugging Face's BertNormalizer.
    Bert {
        /// Control characters go, white space becomes a space.
        clean_text: bool,
        /// Spaces around ideographs.
        handle_chinese_chars: bool,
        /// NFD without nonspacing marks.
        strip_accents: bool,
        /// Lower case.
        lowercase: bool,
    },
    /// White space at the ends goes.
    Strip {
        /// At the start.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// Combining marks go.
    StripAccents,
    /// A Unicode normalization form.
    Unicode(Form),
    /// Lower case.
    Lowercase,
    /// Hugging Face's Nmt.
    Nmt,
    /// A charsmap as Hugging Face applies it.
    Precompiled(Vec<u8>),
    /// Every match becomes a text.
    Replace(Replace),
    /// A text before every text that is not empty.
    Prepend(String),
    /// Bytes become the characters of GPT-2's table.
    ByteLevel,
    /// llama.cpp's normalizer of T5 vocabularies.
    Ugm {
        /// The `precompiled_charsmap` blob.
        charsmap: Vec<u8>,
        /// A space before the first word.
        add_space_prefix: bool,
        /// Runs of spaces are one, and those at the ends none.
        remove_extra_whitespaces: bool,
    },
    /// llama.cpp's normalizer of BERT vocabularies; U+0000 stands between words.
    Wpm {
        /// Lower case.
        lowercase: bool,
        /// Only the base of each character.
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

/// What a replacement looks for and what it puts there.
#[derive(Clone, Debug)]
pub struct Replace {
    /// What is looked for.
    pub pattern: Pattern,
    /// What stands there afterwards.
    pub content: String,
}

/// A plain text or a regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// In the syntax of fancy_regex if it is a regular expression.
    pub text: String,
    /// It is one.
    pub is_regex: bool,
    /// The version of the Unicode tables, e.g. "15.0"; None for the engine's own.
    pub unicode: Option<String>,
}

/// What a split makes of the matches of its pattern and of the gaps between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    /// Matches are pieces, gaps are dropped.
    Matches,
    /// Gaps are pieces, matches are dropped.
    Removed,
    /// Both are pieces.
    Isolated,
    /// A match joins the gap before it.
    MergedWithPrevious,
    /// A match joins the gap behind it.
    MergedWithNext,
    /// Both are pieces, adjacent ones of a kind are one.
    Contiguous,
}

/// When Metaspace puts its character before a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Before each.
    Always,
    /// Before the one that starts the text.
    First,
    /// Not at all.
    Never,
}

/// How pieces are cut further. Steps may also rewrite them.
#[derive(Clone, Debug)]
pub enum Split {
    /// At the matches of a pattern.
    Pattern {
        /// The pattern.
        pattern: Pattern,
        /// What becomes of matches and gaps.
        behavior: Behavior,
        /// Matches and gaps are swapped first.
        invert: bool,
    },
    /// Spaces made visible, and cuts before them.
    Metaspace {
        /// What a space becomes.
        replacement: String,
        /// When it is put before a piece.
        prepend: Scheme,
        /// Whether to cut.
        split: bool,
    },
    /// A space before each piece that does not start with one.
    PieceSpace,
    /// Bytes become the characters of GPT-2's table.
    ByteLevel,
    /// Where the script changes.
    Script,
    /// Every so many characters.
    FixedLength(usize),
    /// Runs of numbers into threes from the right.
    DigitGroups {
        /// The version of the Unicode tables.
        unicode: Option<String>,
    },
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
    /// Unicode characters, whose unknowns are settled before merging (Hugging Face).
    Scalars,
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
    /// Nothing.
    Drop,
}

/// What BPE over Unicode characters does beside merging.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScalarRules {
    /// Before all but the first character of a piece.
    pub continuing_prefix: String,
    /// Behind the last.
    pub word_suffix: String,
    /// Byte pieces before anything else that may become of unknown text.
    pub byte_fallback: bool,
    /// Adjacent unknowns are one.
    pub fuse_unknown: bool,
}

/// Whose Unigram it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnigramRules {
    /// Sums in float32.
    SentencePiece,
    /// Sums in float64; every entry matches; unknown stretches are looked up again.
    HuggingFace {
        /// Byte pieces for unknown stretches, if all of them exist.
        byte_fallback: bool,
    },
    /// Sums in float64 of float32 scores.
    LlamaCpp,
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
        /// Rows of every kind take part (llama.cpp).
        reserved: bool,
        /// For `Symbols::Scalars`.
        scalars: ScalarRules,
    },
    /// The best path by the sum of scores.
    Unigram(UnigramRules),
    /// The longest entry that is a prefix of the rest, again and again (RWKV World).
    Longest,
    /// SentencePiece WORD: stretches between spaces.
    Word,
    /// SentencePiece CHAR.
    Char,
    /// The longest entry that is a prefix of the piece, again and again, or unknown as a whole.
    WordPiece {
        /// Before all but the first entry of a piece.
        continuing_prefix: String,
        /// Pieces of more characters are unknown.
        max_chars: Option<usize>,
        /// Entries that start a word begin with U+2581 (llama.cpp).
        phantom_space: bool,
    },
    /// A piece is an entry or unknown (Hugging Face).
    WordLevel,
    /// PLaMo-2's (llama.cpp).
    Plamo2,
}

/// How ids become text.
#[derive(Clone, Debug)]
pub enum Decode {
    /// The pieces' bytes, one after the other.
    Bytes {
        /// Ids that no token has print nothing, as in Hugging Face's; otherwise they are an error, as in tiktoken.
        skips_unknown: bool,
    },
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
    /// Hugging Face's: each step rewrites the list of tokens; None joins them with spaces.
    Chain {
        /// The steps.
        steps: Option<Vec<DecodeStep>>,
        /// The vocabulary is of bytes, which become GPT-2's characters first.
        byte_level: bool,
    },
    /// llama.cpp's detokenizer.
    LlamaCpp {
        /// How texts are written.
        family: Family,
        /// The first token loses one space.
        strip_space: bool,
        /// Spaces before English punctuation go.
        clean_spaces: bool,
        /// A BPE vocabulary of plain text with escaped spaces.
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
#[derive(Clone, Debug)]
pub enum DecodeStep {
    /// Characters of GPT-2's table become bytes.
    ByteLevel,
    /// The suffix becomes a space.
    Bpe {
        /// The suffix.
        suffix: String,
    },
    /// Joined with spaces but where the prefix stands.
    WordPiece {
        /// The prefix.
        prefix: String,
        /// English punctuation is mended.
        cleanup: bool,
    },
    /// The replacement becomes a space.
    Metaspace {
        /// The replacement.
        replacement: String,
        /// In the first token it goes, unless never.
        prepend: Scheme,
    },
    /// Repeated tokens become one.
    Ctc {
        /// The token that goes.
        pad: String,
        /// What becomes a space.
        delimiter: String,
        /// English punctuation is mended.
        cleanup: bool,
    },
    /// Every match becomes a text.
    Replace(Replace),
    /// Some characters at the ends go.
    Strip {
        /// The character.
        content: char,
        /// At most so many at the start.
        start: usize,
        /// And at the end.
        stop: usize,
    },
    /// Byte pieces become characters.
    ByteFallback,
    /// All tokens become one.
    Fuse,
}

/// A part of the template around a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePart {
    /// Ids.
    Insert(Vec<TokenId>),
    /// The text.
    Slot,
}

/// What spans leave out at the ends of tokens (Hugging Face's byte-level post-processors).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimOffsets {
    /// Nothing.
    Nothing,
    /// White space.
    Space,
    /// White space, except one space that the normalizer put before the first token.
    SpaceExceptPrefix,
}

/// Everything that a tokenizer is made of.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The vocabulary.
    pub vocab: VocabColumns,
    /// Special tokens beside the vocabulary, in their order.
    pub special: Vec<SpecialToken>,
    /// Which of several counts.
    pub matching: Matching,
    /// Rewriting steps, one after the other.
    pub normalize: Vec<Normalize>,
    /// Splitting steps, each applied to the pieces of the one before.
    pub split: Vec<Split>,
    /// The model.
    pub model: Model,
    /// What happens to text no piece covers.
    pub unknown: Unknown,
    /// What stands around one text when special tokens are asked for.
    pub single: Vec<TemplatePart>,
    /// What spans leave out.
    pub trim: TrimOffsets,
    /// How ids become text.
    pub decode: Decode,
    /// The SentencePiece release to follow.
    pub line: Line,
}
