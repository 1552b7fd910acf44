//! Finds the *derivation* of each vocabulary row: the last merge when byte-pair merging produces the row from its text.
//!
//! The text of each row is merged alone. If the result is a single symbol, the pair that was merged last is the
//! derivation of the row, and *no other pair ever merges to this row in any text*. The reason: as long as no merge
//! crosses the ends of a substring, the symbols of the substring merge in the same order as if the substring were the
//! whole text, because the best pair of the text, if it is inside the substring, is also the best pair of the
//! substring. So if two adjacent symbols of a text together have the text of the row, then merging the text of the row
//! alone also reaches a state with exactly these two symbols; but it reaches only one state with two symbols. Therefore
//! a list of merges with only the derivations, in the order of their ranks, encodes every text like a model that merges
//! any pair whose concatenation is an entry. A pair that is not a derivation never merges, even if a list of merges
//! contains this pair.
//!
//! Cost: the text of each row is merged once, in n log n steps for n bytes. Twin: `derivation` in
//! python/polytok/reference/derivation.py.

use std::sync::Arc;

use polytok_memory::{self as memory, Grow};

use crate::error::Result;
use crate::model::bpe::symbol::{Symbol, SymbolKind};
use crate::model::bpe::{Bpe, BpeRules, BpeScratch, RowDerivation};
use crate::native::Tables;
use crate::spec::{Priority, SentencePieceVersion, Symbols};
use crate::vocab::Vocab;
use crate::vocab::dictionary::ReachRule;

/// The id of a merge side that is not a row: a character that occurs only inside longer pieces (SentencePiece).
pub const NO_ROW: u32 = u32::MAX;

/// Whether and how merging produces a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum DerivationKind {
    /// The row is one of the symbols that merging starts from.
    Initial = 0,
    /// Merging two symbols produces the row.
    Merged = 1,
    /// Merging the text of the row ends with several symbols, so merging never produces this row.
    Never = 2,
    /// The model never uses the row: it is a control symbol, a byte piece, or the later of two rows with the same text.
    Reserved = 3,
}

/// The derivations of all rows, as columns. Each side of a merge is an id, or [`NO_ROW`] if the side is not a row.
#[derive(Debug, Default)]
pub struct Derivations {
    /// The id of the left side of each derivation.
    pub left: Vec<u32>,
    /// The id of the right side of each derivation.
    pub right: Vec<u32>,
    /// The `DerivationKind` of each row.
    pub kinds: Vec<u8>,
}

/// Returns the derivation of each row.
pub fn derivations(vocab: Vocab, priority: &Priority, symbols: Symbols, reach: ReachRule) -> Result<Derivations> {
    memory::catch(|| {
        let vocab = Arc::new(vocab);
        let rules = BpeRules { reach, ..BpeRules::new(symbols, false, SentencePieceVersion::default()) };
        let bpe = Bpe::compile(vocab.clone(), priority, &rules, None, &mut Tables::default())?;
        let id_of_symbol = |symbol: Symbol| match symbol.kind(vocab.len()) {
            SymbolKind::Row(row) => vocab.id(row).0,
            _ => NO_ROW,
        };
        let (mut derivations, mut scratch) = (Derivations::default(), BpeScratch::default());
        for row in vocab.rows() {
            let (left, right, kind) = match bpe.derive(row, &mut scratch) {
                RowDerivation::Initial => (NO_ROW, NO_ROW, DerivationKind::Initial),
                RowDerivation::Merged(left, right) => (id_of_symbol(left), id_of_symbol(right), DerivationKind::Merged),
                RowDerivation::Never => (NO_ROW, NO_ROW, DerivationKind::Never),
                RowDerivation::Reserved => (NO_ROW, NO_ROW, DerivationKind::Reserved),
            };
            derivations.left.checked_push(left);
            derivations.right.checked_push(right);
            derivations.kinds.checked_push(kind as u8);
        }
        Ok(derivations)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Kind, VocabColumns};

    fn vocab(pieces: &[(&str, Kind)]) -> Vocab {
        Vocab::new(VocabColumns::from_rows(pieces.iter().map(|&(text, kind)| (text, 0.0, kind)))).unwrap()
    }

    fn derivations_by_rank(pieces: &[(&str, Kind)]) -> Vec<(u8, u32, u32)> {
        let derivations = derivations(vocab(pieces), &Priority::Rank, Symbols::Bytes, ReachRule::PlainRows).unwrap();
        (0..pieces.len()).map(|row| (derivations.kinds[row], derivations.left[row], derivations.right[row])).collect()
    }

    #[test]
    fn each_row_has_one_last_merge() {
        use Kind::{Control, Normal};
        let without_merge = |kind: DerivationKind| (kind as u8, NO_ROW, NO_ROW);
        let rows = [
            ("a", Normal),
            ("b", Normal),
            ("c", Normal),
            ("bc", Normal),
            ("ab", Normal),
            ("abc", Normal), // from `a` and `bc`, because the rank of `bc` is lower than that of `ab`
            ("<s>", Control),
            ("abab", Normal),
            ("cab", Normal),
            ("bc", Normal),
            ("cc d", Normal),
        ];
        let with_merge = |left, right| (DerivationKind::Merged as u8, left, right);
        let expected = [
            without_merge(DerivationKind::Initial),
            without_merge(DerivationKind::Initial),
            without_merge(DerivationKind::Initial),
            with_merge(1, 2),
            with_merge(0, 1),
            with_merge(0, 3),
            without_merge(DerivationKind::Reserved),
            with_merge(4, 4),
            with_merge(2, 4),
            without_merge(DerivationKind::Reserved),
            without_merge(DerivationKind::Never),
        ];
        assert_eq!(derivations_by_rank(&rows), expected);
    }

    #[test]
    fn a_row_whose_text_merges_differently_is_never_made() {
        use Kind::Normal;
        // `b c` merges first, so merging never produces `abc`: the only listed merge with the result `abc` is `ab c`.
        let rows = [("a", Normal), ("b", Normal), ("c", Normal), ("d", Normal), ("bcd", Normal), ("bc", Normal)];
        assert_eq!(derivations_by_rank(&rows)[4], (DerivationKind::Merged as u8, 5, 3)); // a later row is a side of the merge of an earlier row
        let merges = vec![[0, 1, 3], [3, 2, 4]];
        let rows = [("a", Normal), ("b", Normal), ("c", Normal), ("ab", Normal), ("abc", Normal), ("bc", Normal)];
        let kinds_with_merges = |merges: Vec<[u32; 3]>| {
            derivations(vocab(&rows), &Priority::Merges(merges), Symbols::Bytes, ReachRule::PlainRows).unwrap().kinds
        };
        assert_eq!(kinds_with_merges(merges), [0, 0, 0, 1, 1, 2]);
        assert_eq!(kinds_with_merges(vec![[1, 2, 5], [0, 1, 3], [3, 2, 4]]), [0, 0, 0, 1, 2, 1]);
    }

    #[test]
    fn characters_that_are_not_rows_have_no_id() {
        let pieces = [("é", Kind::Normal), ("éü", Kind::Normal)];
        let reach = ReachRule::SentencePiece(Default::default());
        let derivations = derivations(vocab(&pieces), &Priority::Score, Symbols::Chars, reach).unwrap();
        assert_eq!(
            (derivations.kinds, derivations.left, derivations.right),
            (vec![0, 1], vec![NO_ROW, 0], vec![NO_ROW, NO_ROW])
        );
    }
}
