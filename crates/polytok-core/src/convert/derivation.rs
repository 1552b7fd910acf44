//! How byte-pair merging makes each row of a vocabulary: the pair of its last merge.
//!
//! For each row its text is merged on its own. If that ends in the one symbol of the row, the pair merged last is the
//! row's derivation, and *no other pair ever makes this row in any text*: while a text is merged, the symbols inside a
//! stretch are merged in the order in which the stretch alone would be, as long as nothing has crossed its borders, for
//! the best pair of the whole text is then also the best of the stretch. So where two symbols stand next to each other
//! whose texts together are the row's, merging that text alone goes through just these two symbols; and it goes through
//! one state of two symbols only. Hence a list of the derivations, in the order of their ranks, merges every text as
//! "any pair whose concatenation is an entry" does, with one pair for each row instead of all its cuts; and pairs of a
//! list that are no derivation are dead.
//!
//! Cost: one merge run over each row, n log n in its length. Twin: `derivation` in python/polytok/reference/derivation.py.

use std::sync::Arc;

use crate::error::Result;
use crate::model::bpe::symbol::{Symbol, SymbolKind};
use crate::model::bpe::{Bpe, BpeRules, BpeScratch, Derived};
use crate::native::Tables;
use crate::spec::{Line, Priority, Symbols};
use crate::vocab::Vocab;
use crate::vocab::dictionary::Reach;

/// A half of a pair that is no row: a character that occurs only inside of pieces (SentencePiece).
pub const NO_ROW: u32 = u32::MAX;

/// How a row is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum How {
    /// It is one of the symbols that merging starts from.
    Initial = 0,
    /// Its last merge is known.
    Merged = 1,
    /// Merging its own text ends in other rows, and so no text makes it.
    Never = 2,
    /// Text does not reach it: a control symbol, a byte piece, the later of two equal rows.
    Reserved = 3,
}

/// The derivations, column by column; halves are ids, and [`NO_ROW`] where there is none.
#[derive(Debug, Default)]
pub struct Derivations {
    /// The left half's id.
    pub left: Vec<u32>,
    /// The right half's id.
    pub right: Vec<u32>,
    /// How the row is made.
    pub how: Vec<u8>,
}

/// The derivation of each row.
pub fn derivations(vocab: Vocab, priority: &Priority, symbols: Symbols, reach: Reach) -> Result<Derivations> {
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
            Derived::Initial => (NO_ROW, NO_ROW, How::Initial),
            Derived::Merged(left, right) => (id(left), id(right), How::Merged),
            Derived::Never => (NO_ROW, NO_ROW, How::Never),
            Derived::Reserved => (NO_ROW, NO_ROW, How::Reserved),
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
        let found = derivations(vocab(pieces), &Priority::Rank, Symbols::Bytes, Reach::Plain).unwrap();
        (0..pieces.len()).map(|row| (found.how[row], found.left[row], found.right[row])).collect()
    }

    #[test]
    fn each_row_has_one_last_merge() {
        use Kind::{Control, Normal};
        let none = |how: How| (how as u8, NO_ROW, NO_ROW);
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
        let merged = |left, right| (How::Merged as u8, left, right);
        let expected = [
            none(How::Initial),
            none(How::Initial),
            none(How::Initial),
            merged(1, 2),
            merged(0, 1),
            merged(0, 3),
            none(How::Reserved),
            merged(4, 4),
            merged(2, 4),
            none(How::Reserved),
            none(How::Never),
        ];
        assert_eq!(by_rank(&rows), expected);
    }

    #[test]
    fn a_row_that_its_own_parts_keep_from_being_made() {
        use Kind::Normal;
        // b c merges first, and a bc is no entry that makes abc: only ab c would.
        let rows = [("a", Normal), ("b", Normal), ("c", Normal), ("d", Normal), ("bcd", Normal), ("bc", Normal)];
        assert_eq!(by_rank(&rows)[4], (How::Merged as u8, 5, 3)); // a later row makes an earlier one
        let merges = vec![[0, 1, 3], [3, 2, 4]];
        let rows = [("a", Normal), ("b", Normal), ("c", Normal), ("ab", Normal), ("abc", Normal), ("bc", Normal)];
        let found = |merges: Vec<[u32; 3]>| {
            derivations(vocab(&rows), &Priority::Merges(merges), Symbols::Bytes, Reach::Plain).unwrap().how
        };
        assert_eq!(found(merges), [0, 0, 0, 1, 1, 2]);
        assert_eq!(found(vec![[1, 2, 5], [0, 1, 3], [3, 2, 4]]), [0, 0, 0, 1, 2, 1]);
    }

    #[test]
    fn characters_that_are_no_row() {
        let pieces = [("é", Kind::Normal), ("éü", Kind::Normal)];
        let reach = Reach::SentencePiece(Default::default());
        let found = derivations(vocab(&pieces), &Priority::Score, Symbols::Chars, reach).unwrap();
        assert_eq!((found.how, found.left, found.right), (vec![0, 1], vec![NO_ROW, 0], vec![NO_ROW, NO_ROW]));
    }
}
