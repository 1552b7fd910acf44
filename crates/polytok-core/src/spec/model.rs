//! The models, which convert a piece to ids.

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

    /// Reports whether the model is SentencePiece's, which matches user-defined pieces before it runs.
    pub fn is_sentencepiece(&self) -> bool {
        match self {
            Model::Bpe { symbols, reserved, .. } => *symbols == Symbols::Chars && !reserved,
            Model::Unigram(rules) => *rules == UnigramRules::SentencePiece,
            Model::Word | Model::Char => true,
            _ => false,
        }
    }
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
