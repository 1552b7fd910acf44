//! The one pair that makes each entry, found without trying all cuts: entries in the order of their ranks, each merged by the pairs of
//! those before it.
//!
//! Why it is exact (the theorem is in convert/derivation.rs): pairs of lower ranks go first, so merging an entry's text comes to where
//! no pair of a lower rank is left. If two symbols are left then, they are its derivation. If more are, the entry is made
//! by no pair of halves of lower ranks, since these would have come together; should there be a cut into halves of which one
//! has no lower rank, which is so in no trained vocabulary, then all cuts are needed and `None` says so.
//!
//! Entries that are too long for that are looked at by their cuts: where there is none they are made of nothing.
//!
//! Cost: one merge run over each entry.

use super::dictionary::Dictionary;
use super::merge::{INERT, MergeScratch, Symbol, Unwatched, merge};
use super::merging::lengths_of;
use super::pairs::{Growing, Pair};
use super::units::Numbering;
use crate::error::Result;
use crate::vocab::Vocab;

/// Longer entries are in no trained vocabulary, and merging them would take sixteen times their memory.
const LONGEST: usize = 1 << 12;

/// The table of these pairs; units that are no rows get their numbers. `ranks` has a rank for each row, [`INERT`] for none.
pub(super) fn derived_pairs(
    vocab: &Vocab,
    dictionary: &Dictionary,
    units: &mut Numbering,
    ranks: &[u32],
    seed: u64,
) -> Result<Option<Growing>> {
    let mut order: Vec<u32> = (0..vocab.len() as u32).filter(|&row| ranks[row as usize] != INERT).collect();
    if !order.is_sorted_by_key(|&row| ranks[row as usize]) {
        order.sort_by_key(|&row| ranks[row as usize]);
    }
    let mut cuts = Cuts { vocab, dictionary, ranks, lengths: None };
    let mut pairs = Growing::new(order.len(), seed);
    // Pairs of the same rank wait until all of it were looked at.
    let mut waiting: Vec<Pair> = Vec::new();
    let (mut symbols, mut scratch) = (Vec::new(), MergeScratch::default());
    for row in order {
        let (piece, rank) = (vocab.bytes(row as usize), ranks[row as usize]);
        if piece.len() < 2 || !dictionary.reaches(vocab, row as usize) {
            continue;
        }
        if waiting.last().is_some_and(|last| last.rank != rank) {
            waiting.drain(..).try_for_each(|pair| pairs.insert(pair))?;
        }
        if piece.len() > LONGEST {
            match cuts.has_late_half(piece, 0) {
                true => return Ok(None),
                false => continue,
            }
        }
        units.number(piece, &mut symbols);
        if symbols.len() < 2 || dictionary.normal.find(vocab, piece) != Some(row) {
            continue;
        }
        merge(&pairs, &mut symbols, &mut scratch, &mut Unwatched);
        match symbols[..] {
            [Symbol { symbol: left, .. }, Symbol { symbol: right, .. }] => {
                waiting.push(Pair { left, right, rank, merged: row });
            }
            _ if cuts.has_late_half(piece, rank) => return Ok(None),
            _ => {}
        }
    }
    waiting.drain(..).try_for_each(|pair| pairs.insert(pair))?;
    Ok(Some(pairs))
}

/// Looks for cuts of entries.
struct Cuts<'a> {
    vocab: &'a Vocab,
    dictionary: &'a Dictionary,
    ranks: &'a [u32],
    /// Whether an entry has so many bytes.
    lengths: Option<Vec<bool>>,
}

impl Cuts<'_> {
    /// Whether the piece can be cut into two, of which one is an entry of this rank or a higher one. Halves that are no entries may
    /// be units; that both are entries or units is not asked.
    fn has_late_half(&mut self, piece: &[u8], rank: u32) -> bool {
        let &mut Cuts { vocab, dictionary, ranks, ref mut lengths } = self;
        let lengths = lengths.get_or_insert_with(|| lengths_of(vocab, dictionary));
        let is_late = |half| dictionary.normal.find(vocab, half).is_some_and(|row| ranks[row as usize] >= rank);
        let mut cuts = (1..piece.len()).filter(|&cut| lengths[cut] && lengths[piece.len() - cut]);
        cuts.any(|cut| is_late(&piece[..cut]) || is_late(&piece[cut..]))
    }
}
