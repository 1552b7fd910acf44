//! Finds the merge by which merging a row's own text makes the row.

use super::merge::merge;
use super::merging::LastMerge;
use super::symbol::Symbol;
use super::{Bpe, BpeScratch};
use crate::vocab::Row;

/// The derivation of a row: the symbols from which merging its own text makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derived {
    /// The row is an initial symbol.
    Initial,
    /// The last merge joins these two symbols.
    Merged(Symbol, Symbol),
    /// Merging the row's text does not make the row.
    Never,
    /// Text never encodes to the row.
    Reserved,
}

impl Bpe {
    /// Returns the derivation of a row (see convert/derivation.rs).
    pub fn derive(&self, row: Row, scratch: &mut BpeScratch) -> Derived {
        let text = self.vocab.bytes(row);
        if self.dictionary.normal.find(&self.vocab, text) != Some(row) {
            return Derived::Reserved;
        }
        let own = Symbol::row(row);
        // The symbols of a derivation have the numbers that the tables assigned.
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
