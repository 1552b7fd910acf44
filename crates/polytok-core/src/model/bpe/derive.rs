//! Finds the last merge that turns the text of a row into the row.

use super::merge::merge;
use super::merging::LastMergeRecorder;
use super::symbol::Symbol;
use super::{Bpe, BpeScratch};
use crate::vocab::Row;

/// The derivation of a row: the symbols from which merging its own text makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowDerivation {
    /// The row is an initial symbol.
    Initial,
    /// The last merge joins these two symbols.
    Merged(Symbol, Symbol),
    /// Merging the text of the row results in other symbols.
    Never,
    /// Text never encodes to the row.
    Reserved,
}

impl Bpe {
    /// Returns the derivation of a row; convert/derivation.rs explains derivations.
    pub fn derive(&self, row: Row, scratch: &mut BpeScratch) -> RowDerivation {
        let text = self.vocab.bytes(row);
        if self.dictionary.reachable_rows.find(&self.vocab, text) != Some(row) {
            return RowDerivation::Reserved;
        }
        let own_symbol = Symbol::row(row);
        // The tables are built, because they assign the numbers of the symbols.
        let Some(merging) = self.merging.build_now(|| self.build_merging()) else { return RowDerivation::Never };
        let BpeScratch { symbols, merge: run, .. } = scratch;
        symbols.clear();
        merging.units.push(text, 0, symbols);
        let mut last_merge = LastMergeRecorder(None);
        merge(&merging.pairs, symbols, run, &mut last_merge);
        match (symbols.as_slice(), last_merge.0) {
            ([symbol], None) if symbol.symbol == own_symbol => RowDerivation::Initial,
            ([symbol], Some((left, right))) if symbol.symbol == own_symbol => RowDerivation::Merged(left, right),
            _ => RowDerivation::Never,
        }
    }
}
