//! Finds for each entry the only pair that merges to the entry, without trying all pairs. Entries are processed in the
//! order of their ranks: the text of an entry is merged with the pairs of the earlier entries.
//!
//! Why this is exact (the theorem is in convert/derivation.rs): pairs of lower ranks merge first, so merging the text
//! of an entry reaches a state in which no pair of a lower rank remains. If two symbols remain, they are the derivation
//! of the entry. If more remain, the next merge makes an entry of the same or a higher rank. If the text merges to the
//! entry nevertheless, that merge is inside of one of the last two halves, and merging continues there as over the text
//! of the half alone. So this half does not have a lower rank than the entry, or its own text also merged to more than
//! two symbols: it is a *late* half. All pairs with a late half are added to the table. Trained vocabularies have few
//! such pairs. No merge results in an entry that has no pair.
//!
//! If an entry is too long to be merged here, all its pairs are added.
//!
//! Cost: one merge run over each entry. The work can be done in steps, because it takes 0.1 s for 200,000 entries. Nearly
//! all of the time is waiting for the memory of the table.

use hashbrown::HashSet;
use polytok_memory::{self as memory, Collect, Grow, GrowSet};

use super::merge::{MergeScratch, NoWatcher, PlacedSymbol, merge};
use super::merging::{Merging, MergingSource, RowSplitter};
use super::pairs::{GrowingPairs, Pair};
use super::symbol::{Rank, Symbol, SymbolKind};
use super::units::UnitNumbering;
use crate::error::Result;
use crate::vocab::Row;

/// The largest length of entries that are merged. Entries of trained vocabularies are shorter, and merging a text needs
/// sixteen times its memory.
const MAX_MERGED_BYTES: usize = 1 << 12;

/// The unfinished tables. Every method needs the same `source`.
#[derive(Debug)]
pub(super) struct PairDerivation {
    /// The rows that can have pairs, in the order of their ranks.
    rows: Vec<Row>,
    /// True if several rows can have the same text.
    has_equal_rows: bool,
    /// The number of rows that are done.
    rows_done: usize,
    /// A rank for each row of the vocabulary, [`Rank::NONE`] for a row without a rank.
    ranks: Vec<Rank>,
    units: UnitNumbering,
    pairs: GrowingPairs,
    /// Pairs are added to the table after all entries of their rank were merged.
    pending_pairs: Vec<Pair>,
    /// Built for the first entry whose own text merges to more than two symbols.
    splitter: Option<RowSplitter>,
    /// The rows that have pairs with late halves.
    late_rows: HashSet<Row>,
    symbols: Vec<PlacedSymbol>,
    scratch: MergeScratch,
}

impl PairDerivation {
    /// Returns tables without pairs.
    pub(super) fn start(source: &MergingSource) -> PairDerivation {
        let &MergingSource { vocab, dictionary, .. } = source;
        let ranks = source.ranks();
        let can_have_pairs = |&row: &Row| {
            ranks[row.index()] != Rank::NONE && vocab.bytes(row).len() >= 2 && dictionary.reaches(vocab, row)
        };
        let mut rows: Vec<Row> = vocab.rows().filter(can_have_pairs).checked_collect();
        if !rows.is_sorted_by_key(|&row| ranks[row.index()]) {
            memory::sort_stably(&mut rows, |a, b| ranks[a.index()].cmp(&ranks[b.index()]));
        }
        let order = rows.iter().map(|&row| (ranks[row.index()], Symbol::row(row))).checked_collect();
        PairDerivation {
            pairs: GrowingPairs::new(order, rows.len(), source.seed()),
            units: UnitNumbering::new(vocab, dictionary, source.symbols),
            has_equal_rows: dictionary.has_equal_rows(vocab),
            rows,
            ranks,
            rows_done: 0,
            pending_pairs: Vec::new(),
            splitter: None,
            late_rows: HashSet::new(),
            symbols: Vec::new(),
            scratch: MergeScratch::default(),
        }
    }

    /// Adds the pairs of the next `max_rows` rows. Returns true if all rows are done.
    pub(super) fn advance(&mut self, source: &MergingSource, max_rows: usize) -> Result<bool> {
        let end = self.rows.len().min(self.rows_done.saturating_add(max_rows));
        for at in self.rows_done..end {
            self.add_row(source, self.rows[at])?;
        }
        self.rows_done = end;
        Ok(end == self.rows.len())
    }

    /// Returns the finished tables; all rows must be done.
    pub(super) fn finish(mut self) -> Result<Merging> {
        self.insert_pending_pairs()?;
        let mut late_rows: Vec<Row> = self.late_rows.into_iter().checked_collect();
        late_rows.sort_unstable();
        Ok(Merging::from_derived(self.units.finish()?, self.pairs.finish(), late_rows))
    }

    fn add_row(&mut self, source: &MergingSource, row: Row) -> Result<()> {
        let &MergingSource { vocab, dictionary, .. } = source;
        let (piece, rank) = (vocab.bytes(row), self.ranks[row.index()]);
        if self.pending_pairs.last().is_some_and(|last| last.rank != rank) {
            self.insert_pending_pairs()?;
        }
        if self.has_equal_rows && dictionary.reachable_rows.find(vocab, piece) != Some(row) {
            return Ok(());
        }
        if piece.len() > MAX_MERGED_BYTES {
            self.add_late_pairs(source, row);
            return Ok(());
        }
        self.units.number_units(piece, &mut self.symbols);
        if self.symbols.len() < 2 {
            return Ok(());
        }
        merge(&self.pairs, &mut self.symbols, &mut self.scratch, &mut NoWatcher);
        match self.symbols[..] {
            [PlacedSymbol { symbol: left, .. }, PlacedSymbol { symbol: right, .. }] => {
                self.pending_pairs.checked_push(Pair { left, right, rank, merged: Symbol::row(row) });
            }
            _ => self.add_late_pairs(source, row),
        }
        Ok(())
    }

    fn insert_pending_pairs(&mut self) -> Result<()> {
        self.pending_pairs.drain(..).try_for_each(|pair| self.pairs.insert(pair))
    }

    /// Adds the pairs of a row that have a late half, or all pairs of the row if the row is too long to be merged.
    /// Initial symbols are never late.
    fn add_late_pairs(&mut self, source: &MergingSource, row: Row) {
        let PairDerivation { ranks, units, pending_pairs: pairs, splitter, late_rows, .. } = self;
        let vocab = source.vocab;
        let splitter = splitter.get_or_insert_with(|| RowSplitter::new(source));
        let (rank, piece, old_count) = (ranks[row.index()], vocab.bytes(row), pairs.len());
        splitter.push(source, row, rank, units, pairs);
        let is_late = |half: Symbol| {
            let SymbolKind::Row(half) = half.kind(vocab.len()) else { return false };
            !units.is_unit(vocab.bytes(half)) && (ranks[half.index()] >= rank || late_rows.contains(&half))
        };
        if piece.len() <= MAX_MERGED_BYTES {
            let mut late_pairs = pairs.split_off(old_count);
            late_pairs.retain(|pair| is_late(pair.left) || is_late(pair.right));
            pairs.checked_extend(late_pairs);
        }
        if pairs.len() > old_count {
            late_rows.checked_insert(row);
        }
    }
}
