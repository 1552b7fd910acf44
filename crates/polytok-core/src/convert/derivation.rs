//! Finds, for each row of a vocabulary, the last merge with which byte-pair merging makes the row.
//!
//! The text of each row is merged on its own. If the result is the single symbol of the row, the pair that was merged
//! last is the row's derivation, and *no other pair ever makes this row in any text*. The reason: while a text is
//! merged, the symbols of a substring are merged in the same order as if the substring were the whole text, as long as
//! no merge crosses its ends, because the best pair of the whole text is then also the best pair of the substring. So
//! if two adjacent symbols together have the text of the row, merging that text alone reaches a state with exactly
//! these two symbols, and it reaches only one state with two symbols. Therefore a list of the derivations, in the order
//! of their ranks, merges every text as the rule "any pair whose concatenation is an entry" does, with one pair for
//! each row instead of all ways to split it. A listed pair that is not a derivation never merges.
//!
//! Cost: one merge run over each row, n log n in its length. Twin: `derivation` in
//! python/polytok/reference/derivation.py.

use std::sync::Arc;

use crate::error::Result;
use crate::model::bpe::symbol::{Symbol, SymbolKind};
use crate::model::bpe::{Bpe, BpeRules, BpeScratch, RowDerivation};
use crate::native::Tables;
use crate::spec::{Line, Priority, Symbols};
use crate::vocab::Vocab;
use crate::vocab::dictionary::ReachRule;

/// The value of a half that is not a row: a character that occurs only inside of pieces (SentencePiece).
pub const NO_ROW: u32 = u32::MAX;

/// The way in which a row is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum DerivationKind {
    /// The row is one of the symbols that merging starts from.
    Initial = 0,
    /// The row has a last merge.
    Merged = 1,
    /// Merging the row's own text ends in other rows, so merging never makes this row.
    Never = 2,
    /// Text does not reach the row: it is a control symbol, a byte piece, or the later of two equal rows.
    Reserved = 3,
}

/// The derivations of all rows, as columns. Halves are ids, or [`NO_ROW`] if a half is not a row.
#[derive(Debug, Default)]
pub struct Derivations {
    /// The id of each left half.
    pub left: Vec<u32>,
    /// The id of each right half.
    pub right: Vec<u32>,
    /// The way in which each row is made.
    pub how: Vec<u8>,
}

/// Returns the derivation of each row.
pub fn derivations(vocab: Vocab, priority: &Priority, symbols: Symbols, reach: ReachRule) -> Result<Derivations> {
    let vocab = Arc::new(vocab);
    let rules = BpeRules { reach, ..BpeRules::new(symbols, false, Line::default()) };
    let bpe = Bpe::compile(vocab.clone(), priority, &rules, None, &mut Tables::default())?;
    let id = |symbol: Symbol| match symbol.kind(vocab.len()) {
        SymbolKind::Row(row) => vocab.id(row).0,
        _ => NO_ROW,
    };
    let (mut found, mut scratch) = (Derivations::default(), BpeScratch::default());
    for row in vocab.rows() {
        let (left, right, how) = match bpe.derive(row, &mut scratch) {
            RowDerivation::Initial => (NO_ROW, NO_ROW, DerivationKind::Initial),
            RowDerivation::Merged(left, right) => (id(left), id(right), DerivationKind::Merged),
            RowDerivation::Never => (NO_ROW, NO_ROW, DerivationKind::Never),
            RowDerivation::Reserved => (NO_ROW, NO_ROW, DerivationKind::Reserved),
        };
        found.left.push(left);
        found.right.push(right);
        found.how.push(how as u8);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Kind, VocabColumns};

    fn vocab(pieces: &[(&str, Kind)]) -> Vocab {
        let mut columns = VocabColumns { offsets: vec![0], ..VocabColumns::default() };
        for (id, (text, kind)) in pieces.iter().enumerate() {
            columns.blob.extend_from_slice(text.as_bytes());
            columns.offsets.push(columns.blob.len() as u32);
            columns.ids.push(id as u32);
            columns.scores.push(0.0);
            columns.kinds.push(*kind);
        }
        Vocab::new(columns).unwrap()
    }

    fn by_rank(pieces: &[(&str, Kind)]) -> Vec<(u8, u32, u32)> {
        let found = derivations(vocab(pieces), &Priority::Rank, Symbols::Bytes, ReachRule::PlainRows).unwrap();
        (0..pieces.len()).map(|row| (found.how[row], found.left[row], found.right[row])).collect()
    }

    #[test]
    fn each_row_has_one_last_merge() {
        use Kind::{Control, Normal};
        let none = |how: DerivationKind| (how as u8, NO_ROW, NO_ROW);
        let rows = [
            ("a", Normal),
            ("b", Normal),
            ("c", Normal),
            ("bc", Normal),
            ("ab", Normal),
            ("abc", Normal), // a bc, since bc comes before ab
            ("<s>", Control),
            ("abab", Normal),
            ("cab", Normal),
            ("bc", Normal),
            ("cc d", Normal),
        ];
        let merged = |left, right| (DerivationKind::Merged as u8, left, right);
        let expected = [
            none(DerivationKind::Initial),
            none(DerivationKind::Initial),
            none(DerivationKind::Initial),
            merged(1, 2),
            merged(0, 1),
            merged(0, 3),
            none(DerivationKind::Reserved),
            merged(4, 4),
            merged(2, 4),
            none(DerivationKind::Reserved),
            none(DerivationKind::Never),
        ];
        assert_eq!(by_rank(&rows), expected);
    }

    #[test]
    fn a_row_that_its_own_parts_prevent_is_never_made() {
        use Kind::Normal;
        // `b c` merges first, so `abc` is never made: the only listed pair that makes `abc` is `ab c`.
        let rows = [("a", Normal), ("b", Normal), ("c", Normal), ("d", Normal), ("bcd", Normal), ("bc", Normal)];
        assert_eq!(by_rank(&rows)[4], (DerivationKind::Merged as u8, 5, 3)); // a later row makes an earlier one
        let merges = vec![[0, 1, 3], [3, 2, 4]];
        let rows = [("a", Normal), ("b", Normal), ("c", Normal), ("ab", Normal), ("abc", Normal), ("bc", Normal)];
        let found = |merges: Vec<[u32; 3]>| {
            derivations(vocab(&rows), &Priority::Merges(merges), Symbols::Bytes, ReachRule::PlainRows).unwrap().how
        };
        assert_eq!(found(merges), [0, 0, 0, 1, 1, 2]);
        assert_eq!(found(vec![[1, 2, 5], [0, 1, 3], [3, 2, 4]]), [0, 0, 0, 1, 2, 1]);
    }

    #[test]
    fn characters_that_are_not_rows_have_no_id() {
        let pieces = [("é", Kind::Normal), ("éü", Kind::Normal)];
        let reach = ReachRule::SentencePiece(Default::default());
        let found = derivations(vocab(&pieces), &Priority::Score, Symbols::Chars, reach).unwrap();
        assert_eq!((found.how, found.left, found.right), (vec![0, 1], vec![NO_ROW, 0], vec![NO_ROW, NO_ROW]));
    }
}
