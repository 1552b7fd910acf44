//! The one pair that makes each entry, found without trying all cuts: entries in the order of their ranks, each merged by the pairs of
//! those before it.
//!
//! Why it is exact (the theorem is in convert/derivation.rs): pairs of lower ranks go first, so merging an entry's text comes to where
//! no pair of a lower rank is left. If two symbols are left then, they are its derivation. If more are, the next merge makes an
//! entry of this rank or a higher one. Should the text become the entry all the same, that merge lies in one of its two last halves,
//! and merging goes on there as over the half's text alone. So that half has no lower rank than the entry, or it was itself left in more
//! than two symbols: a *late* half. Such cuts, of which trained vocabularies have few, all get into the table, as they are in the table
//! of all cuts; an entry without them is made of nothing.
//!
//! Entries that are too long for merging keep all cuts.
//!
//! Cost: one merge run over each entry.

use hashbrown::HashSet;

use super::merge::{MergeScratch, PlacedSymbol, Unwatched, merge};
use super::merging::RowCutter;
use super::pairs::{Growing, Pair};
use super::symbol::{Rank, Symbol, SymbolKind};
use super::units::Numbering;
use crate::error::Result;
use crate::vocab::dictionary::Dictionary;
use crate::vocab::{Row, Vocab};

/// Longer entries are in no trained vocabulary, and merging them would take sixteen times their memory.
const LONGEST: usize = 1 << 12;

/// The table of these pairs, and the rows that have late halves, in order; units that are no rows get their numbers. `ranks` has a
/// rank for each row, [`Rank::NONE`] for none.
pub(super) fn derived_pairs(
    vocab: &Vocab,
    dictionary: &Dictionary,
    units: &mut Numbering,
    ranks: &[Rank],
    seed: u64,
) -> Result<(Growing, Vec<Row>)> {
    let mut order: Vec<Row> = vocab.rows().filter(|&row| ranks[row.index()] != Rank::NONE).collect();
    if !order.is_sorted_by_key(|&row| ranks[row.index()]) {
        order.sort_by_key(|&row| ranks[row.index()]);
    }
    let mut late = Late { ranks, vocab, dictionary, cuts: None, rows: HashSet::new() };
    let mut pairs = Growing::new(order.len(), seed);
    // Pairs of the same rank wait until all of it were looked at.
    let mut waiting: Vec<Pair> = Vec::new();
    let (mut symbols, mut scratch) = (Vec::new(), MergeScratch::default());
    for row in order {
        let (piece, rank) = (vocab.bytes(row), ranks[row.index()]);
        if piece.len() < 2 || !dictionary.reaches(vocab, row) {
            continue;
        }
        if waiting.last().is_some_and(|last| last.rank != rank) {
            waiting.drain(..).try_for_each(|pair| pairs.insert(pair))?;
        }
        if dictionary.normal.find(vocab, piece) != Some(row) {
            continue;
        }
        if piece.len() > LONGEST {
            late.push(row, units, &mut waiting);
            continue;
        }
        units.number(piece, &mut symbols);
        if symbols.len() < 2 {
            continue;
        }
        merge(&pairs, &mut symbols, &mut scratch, &mut Unwatched);
        match symbols[..] {
            [PlacedSymbol { symbol: left, .. }, PlacedSymbol { symbol: right, .. }] => {
                waiting.push(Pair { left, right, rank, merged: Symbol::row(row) });
            }
            _ => late.push(row, units, &mut waiting),
        }
    }
    waiting.drain(..).try_for_each(|pair| pairs.insert(pair))?;
    let mut late: Vec<Row> = late.rows.into_iter().collect();
    late.sort_unstable();
    Ok((pairs, late))
}

/// Entries that were left in more than two symbols and are not made of nothing.
struct Late<'a> {
    ranks: &'a [Rank],
    vocab: &'a Vocab,
    dictionary: &'a Dictionary,
    cuts: Option<RowCutter<'a>>,
    rows: HashSet<Row>,
}

impl Late<'_> {
    /// Adds the row's cuts that have a late half; all cuts if it is too long. What merging starts from is not late.
    fn push(&mut self, row: Row, units: &mut Numbering, pairs: &mut Vec<Pair>) {
        let &mut Late { ranks, vocab, dictionary, ref mut cuts, ref mut rows } = self;
        let cuts = cuts.get_or_insert_with(|| RowCutter::new(vocab, dictionary, units.kind));
        let (rank, piece, before) = (ranks[row.index()], vocab.bytes(row), pairs.len());
        cuts.push(row, rank, units, pairs);
        let is_late = |half: Symbol| {
            let SymbolKind::Row(half) = half.kind(vocab.len()) else { return false };
            !units.is_unit(vocab.bytes(half)) && (ranks[half.index()] >= rank || rows.contains(&half))
        };
        if piece.len() <= LONGEST {
            let mut late = pairs.split_off(before);
            late.retain(|pair| is_late(pair.left) || is_late(pair.right));
            pairs.append(&mut late);
        }
        if pairs.len() > before {
            rows.insert(row);
        }
    }
}
