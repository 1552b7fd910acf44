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
//! Cost: one merge run over each entry.

use hashbrown::HashSet;

use super::merge::{MergeScratch, NoWatcher, PlacedSymbol, merge};
use super::merging::RowSplitter;
use super::pairs::{GrowingPairs, Pair};
use super::symbol::{Rank, Symbol, SymbolKind};
use super::units::UnitNumbering;
use crate::error::Result;
use crate::vocab::dictionary::Dictionary;
use crate::vocab::{Row, Vocab};

/// The largest length of entries that are merged. Entries of trained vocabularies are shorter, and merging a text needs
/// sixteen times its memory.
const MAX_MERGED_BYTES: usize = 1 << 12;

/// Returns the table of the pairs, and the rows that have late halves, in ascending order. Units that are not rows get
/// numbers from `units`. `ranks` has a rank for each row, [`Rank::NONE`] for a row without a rank.
pub(super) fn derived_pairs(
    vocab: &Vocab,
    dictionary: &Dictionary,
    units: &mut UnitNumbering,
    ranks: &[Rank],
    seed: u64,
) -> Result<(GrowingPairs, Vec<Row>)> {
    let mut rows: Vec<Row> = vocab.rows().filter(|&row| ranks[row.index()] != Rank::NONE).collect();
    if !rows.is_sorted_by_key(|&row| ranks[row.index()]) {
        rows.sort_by_key(|&row| ranks[row.index()]);
    }
    let mut late_pairs = LatePairCollector { ranks, vocab, dictionary, splitter: None, rows: HashSet::new() };
    let mut pairs = GrowingPairs::new(rows.len(), seed);
    // Pairs are added to the table after all entries of their rank were merged.
    let mut pending_pairs: Vec<Pair> = Vec::new();
    let (mut symbols, mut scratch) = (Vec::new(), MergeScratch::default());
    for row in rows {
        let (piece, rank) = (vocab.bytes(row), ranks[row.index()]);
        if piece.len() < 2 || !dictionary.reaches(vocab, row) {
            continue;
        }
        if pending_pairs.last().is_some_and(|last| last.rank != rank) {
            pending_pairs.drain(..).try_for_each(|pair| pairs.insert(pair))?;
        }
        if dictionary.reachable_rows.find(vocab, piece) != Some(row) {
            continue;
        }
        if piece.len() > MAX_MERGED_BYTES {
            late_pairs.push(row, units, &mut pending_pairs);
            continue;
        }
        units.number_units(piece, &mut symbols);
        if symbols.len() < 2 {
            continue;
        }
        merge(&pairs, &mut symbols, &mut scratch, &mut NoWatcher);
        match symbols[..] {
            [PlacedSymbol { symbol: left, .. }, PlacedSymbol { symbol: right, .. }] => {
                pending_pairs.push(Pair { left, right, rank, merged: Symbol::row(row) });
            }
            _ => late_pairs.push(row, units, &mut pending_pairs),
        }
    }
    pending_pairs.drain(..).try_for_each(|pair| pairs.insert(pair))?;
    let mut late_pairs: Vec<Row> = late_pairs.rows.into_iter().collect();
    late_pairs.sort_unstable();
    Ok((pairs, late_pairs))
}

/// Collects the pairs of entries whose own texts merge to more than two symbols.
struct LatePairCollector<'a> {
    ranks: &'a [Rank],
    vocab: &'a Vocab,
    dictionary: &'a Dictionary,
    splitter: Option<RowSplitter<'a>>,
    rows: HashSet<Row>,
}

impl LatePairCollector<'_> {
    /// Adds the pairs of a row that have a late half, or all pairs of the row if the row is too long to be merged.
    /// Initial symbols are never late.
    fn push(&mut self, row: Row, units: &mut UnitNumbering, pairs: &mut Vec<Pair>) {
        let &mut LatePairCollector { ranks, vocab, dictionary, ref mut splitter, ref mut rows } = self;
        let splitter = splitter.get_or_insert_with(|| RowSplitter::new(vocab, dictionary, units.kind));
        let (rank, piece, old_count) = (ranks[row.index()], vocab.bytes(row), pairs.len());
        splitter.push(row, rank, units, pairs);
        let is_late = |half: Symbol| {
            let SymbolKind::Row(half) = half.kind(vocab.len()) else { return false };
            !units.is_unit(vocab.bytes(half)) && (ranks[half.index()] >= rank || rows.contains(&half))
        };
        if piece.len() <= MAX_MERGED_BYTES {
            let mut late_pairs = pairs.split_off(old_count);
            late_pairs.retain(|pair| is_late(pair.left) || is_late(pair.right));
            pairs.append(&mut late_pairs);
        }
        if pairs.len() > old_count {
            rows.insert(row);
        }
    }
}
