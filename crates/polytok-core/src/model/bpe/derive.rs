//! How merging makes a row.

use super::merge::merge;
use super::merging::LastMerge;
use super::symbol::Symbol;
use super::{Bpe, BpeScratch};
use crate::vocab::Row;

/// How a row is made; the halves are symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derived {
    /// Merging starts from it.
    Initial,
    /// Out of these two, at last.
    Merged(Symbol, Symbol),
    /// Merging its text ends in something else.
    Never,
    /// Text does not reach it.
    Reserved,
}

impl Bpe {
    /// How merging the row's own text makes the row (see convert/derivation.rs).
    pub fn derive(&self, row: Row, scratch: &mut BpeScratch) -> Derived {
        let text = self.vocab.bytes(row);
        if self.dictionary.normal.find(&self.vocab, text) != Some(row) {
            return Derived::Reserved;
        }
        let own = Symbol::row(row);
        // Halves have the numbers of the tables.
        let Some(merging) = self.merging.now(|| self.build_merging()) else { return Derived::Never };
        let BpeScratch { symbols, merge: run, .. } = scratch;
        symbols.clear();
        merging.units.push(text, 0, symbols);
        let mut last = LastMerge(None);
        merge(&merging.pairs, symbols, run, &mut last);
        match (symbols.as_slice(), last.0) {
            ([symbol], None) if symbol.symbol == own => Derived::Initial,
            ([symbol], Some((left, right))) if symbol.symbol == own => Derived::Merged(left, right),
            _ => Derived::Never,
        }
    }
}
