//! How BPE starts and what it may reach.

use crate::spec::{Line, ScalarRules, Symbols, Unknown};
use crate::vocab::dictionary::Reach;

/// The fields of the Spec that say how merging starts and what it may reach.
#[derive(Clone, Debug)]
pub struct BpeRules {
    /// What merging starts from.
    pub symbols: Symbols,
    /// A piece that is an entry as a whole is taken without merging.
    pub whole_piece_first: bool,
    /// Which rows take part.
    pub reach: Reach,
    /// The normalizer puts a space before every text (llama2.c).
    pub has_prefix: bool,
    /// For [`Symbols::Scalars`].
    pub scalars: ScalarRules,
    /// What becomes of unknown characters there.
    pub unknown: Unknown,
}

impl BpeRules {
    /// The rules of a family of symbols; `reserved` lets rows of every kind take part.
    pub fn new(symbols: Symbols, reserved: bool, line: Line) -> BpeRules {
        let reach = match symbols {
            _ if reserved => Reach::Last,
            Symbols::Chars => Reach::SentencePiece(line),
            Symbols::Groups => Reach::All,
            Symbols::Bytes => Reach::Plain,
            Symbols::Scalars => Reach::Last,
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
