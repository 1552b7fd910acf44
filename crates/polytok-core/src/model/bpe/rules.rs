//! The rules of a BPE model: its initial symbols and the rows that it can use.

use crate::spec::{ScalarRules, SentencePieceVersion, Symbols, Unknown};
use crate::vocab::dictionary::ReachRule;

/// The fields of the Spec that decide the initial symbols, the rows that are used, and the output for unknown text.
#[derive(Clone, Debug)]
pub struct BpeRules {
    /// The kind of the initial symbols.
    pub symbols: Symbols,
    /// True if a piece that is an entry is encoded without merging.
    pub whole_piece_first: bool,
    /// The rows that are used.
    pub reach: ReachRule,
    /// True if the normalizer inserts a space before every text (llama2.c).
    pub has_prefix: bool,
    /// The rules that only [`Symbols::Scalars`] uses.
    pub scalars: ScalarRules,
    /// The output for unknown characters of [`Symbols::Scalars`].
    pub unknown: Unknown,
}

impl BpeRules {
    /// Returns the rules for a kind of symbols. If `reserved` is true, rows of every kind are used.
    pub fn new(symbols: Symbols, reserved: bool, version: SentencePieceVersion) -> BpeRules {
        let reach = match symbols {
            _ if reserved => ReachRule::LastOfEqualRows,
            Symbols::Chars => ReachRule::SentencePiece(version),
            Symbols::Groups => ReachRule::AllRows,
            Symbols::Bytes => ReachRule::PlainRows,
            Symbols::Scalars => ReachRule::LastOfEqualRows,
        };
        BpeRules {
            symbols,
            reach,
            whole_piece_first: false,
            has_prefix: false,
            scalars: ScalarRules::default(),
            unknown: Unknown::Error,
        }
    }
}
