//! The BPE merge loop: repeatedly merges the adjacent pair of the lowest rank; of equal ranks, the leftmost pair.
//!
//! Two implementations follow this rule. Few symbols are merged in short.rs. Many symbols are merged here, with a
//! linked list and a heap of candidates, in n log n steps for any input. A candidate is stale, and skipped, if its left
//! symbol was merged or its pair now merges to another symbol. Twin: python/polytok/reference/bpe.py.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::pairs::{GrowingPairs, Pairs};
use super::short::{self, ShortPiece};
use super::symbol::{Rank, Symbol};
use super::windows::Window;

/// A table of the pairs that merge.
pub trait Lookup {
    /// Returns the rank of a pair of neighbours, [`Rank::NONE`] if it does not merge, and the merged symbol. `end`
    /// returns the end of the right symbol, which is the start of the next symbol; None for the last symbol.
    fn rate(&self, left: PlacedSymbol, right: PlacedSymbol, end: impl FnOnce() -> Option<u32>) -> (Rank, Symbol);

    /// Prefetches the memory that `rate` reads for these symbols.
    #[inline]
    fn prefetch(&self, _left: Symbol, _right: Symbol) {}
}

impl Lookup for Pairs {
    #[inline]
    fn rate(&self, left: PlacedSymbol, right: PlacedSymbol, _end: impl FnOnce() -> Option<u32>) -> (Rank, Symbol) {
        self.get(left.symbol, right.symbol)
    }

    #[inline]
    fn prefetch(&self, left: Symbol, right: Symbol) {
        Pairs::prefetch(self, left, right);
    }
}

impl Lookup for GrowingPairs {
    #[inline]
    fn rate(&self, left: PlacedSymbol, right: PlacedSymbol, _end: impl FnOnce() -> Option<u32>) -> (Rank, Symbol) {
        self.get(left.symbol, right.symbol)
    }

    #[inline]
    fn prefetch(&self, left: Symbol, right: Symbol) {
        GrowingPairs::prefetch(self, left, right);
    }
}

/// A symbol and the offset of its start in the piece.
#[derive(Clone, Copy, Debug)]
pub struct PlacedSymbol {
    /// The symbol itself.
    pub symbol: Symbol,
    /// The offset of its first byte.
    pub start: u32,
    /// The rank of the pair that starts with this symbol, and the symbol that the pair merges to (for the heap).
    rank: Rank,
    merged: Symbol,
}

impl PlacedSymbol {
    /// Returns a symbol that starts at `start`.
    #[inline]
    pub fn new(symbol: Symbol, start: usize) -> PlacedSymbol {
        PlacedSymbol { symbol, start: start as u32, rank: Rank::NONE, merged: Symbol::INERT }
    }
}

/// Watches the candidates of a merge run: SentencePiece's re-segmentation and BPE-dropout need it.
pub trait Watch {
    /// Records a candidate: the two symbols could merge to `_merged`; the left symbol has `_left_len` bytes.
    fn considered(&mut self, _merged: Symbol, _left: Symbol, _right: Symbol, _left_len: u32) {}
    /// Records that the two symbols merge.
    fn merged(&mut self, _left: Symbol, _right: Symbol) {}
    /// Reports whether the next candidate is allowed to merge.
    fn keeps(&mut self) -> bool {
        true
    }
    /// Reports whether the watcher depends on the order in which the heap reports candidates, so that the heap must be
    /// used.
    fn wants_heap(&self) -> bool {
        true
    }
}

/// The watcher that does nothing.
pub struct NoWatcher;

impl Watch for NoWatcher {
    fn wants_heap(&self) -> bool {
        false
    }
}

/// The memory of a merge run, which later runs use again.
#[derive(Debug, Default)]
pub struct MergeScratch {
    pub(super) short: Box<ShortPiece>,
    pub(super) windows: Vec<Window>,
    /// The symbols of one window.
    pub(super) symbols: Vec<PlacedSymbol>,
    links: Vec<Link>,
    heap: BinaryHeap<Reverse<(u64, Symbol)>>,
}

/// The neighbours of a symbol in the linked list. A symbol that was merged into its left neighbour has itself as
/// `next`.
#[derive(Clone, Copy, Debug)]
struct Link {
    prev: u32,
    next: u32,
}

/// Merges `symbols` in place until no pair can merge.
pub fn merge(pairs: &impl Lookup, symbols: &mut Vec<PlacedSymbol>, scratch: &mut MergeScratch, watch: &mut impl Watch) {
    if watch.wants_heap() || symbols.len() > short::MAX_SYMBOLS {
        merge_long(pairs, symbols, scratch, watch);
    } else {
        merge_short(pairs, symbols, &mut scratch.short);
    }
}

fn merge_short(pairs: &impl Lookup, symbols: &mut Vec<PlacedSymbol>, short: &mut ShortPiece) {
    short.clear();
    for (i, symbol) in symbols.iter().enumerate() {
        let end = symbols.get(i + 1).map(|next| next.start);
        short.push_and_rate(pairs, symbol.symbol, symbol.start as usize, end);
    }
    short.merge(pairs);
    symbols.clear();
    symbols.extend(short.left());
}

/// Merges `symbols` in place with the heap.
pub fn merge_long(
    pairs: &impl Lookup,
    symbols: &mut Vec<PlacedSymbol>,
    scratch: &mut MergeScratch,
    watch: &mut impl Watch,
) {
    let MergeScratch { links, heap, .. } = scratch;
    links.clear();
    links.extend((0..symbols.len() as u32).map(|i| Link { prev: i.wrapping_sub(1), next: i + 1 }));
    heap.clear();
    for left in 0..symbols.len() {
        consider(pairs, symbols, links, left, heap, watch);
    }
    while let Some(Reverse((due, merged))) = heap.pop() {
        let left = due as u32 as usize;
        let right = links[left].next as usize;
        let is_stale = right == left
            || right >= symbols.len()
            || symbols[left].rank != Rank((due >> 32) as u32)
            || symbols[left].merged != merged;
        if is_stale || !watch.keeps() {
            continue;
        }
        let after = links[right].next;
        watch.merged(symbols[left].symbol, symbols[right].symbol);
        symbols[left].symbol = merged;
        links[left].next = after;
        links[right].next = right as u32; // gone
        if let Some(link) = links.get_mut(after as usize) {
            link.prev = left as u32;
        }
        let before = links[left].prev as usize;
        symbols[left].rank = Rank::NONE;
        if before < symbols.len() {
            consider(pairs, symbols, links, before, heap, watch);
        }
        consider(pairs, symbols, links, left, heap, watch);
    }
    let mut i = 0u32;
    symbols.retain(|_| {
        i += 1;
        links[i as usize - 1].next != i - 1
    });
    release(scratch);
}

/// Adds the pair that starts at `left` to the heap if it can merge.
#[inline]
fn consider(
    pairs: &impl Lookup,
    symbols: &mut [PlacedSymbol],
    links: &[Link],
    left: usize,
    heap: &mut BinaryHeap<Reverse<(u64, Symbol)>>,
    watch: &mut impl Watch,
) {
    symbols[left].rank = Rank::NONE;
    let next = links[left].next as usize;
    let Some(&right) = symbols.get(next) else {
        return;
    };
    let end = || symbols.get(links[next].next as usize).map(|after| after.start);
    let (rank, merged) = pairs.rate(symbols[left], right, end);
    if rank != Rank::NONE {
        symbols[left].rank = rank;
        symbols[left].merged = merged;
        watch.considered(merged, symbols[left].symbol, right.symbol, right.start - symbols[left].start);
        heap.push(Reverse(((rank.0 as u64) << 32 | left as u64, merged)));
    }
}

/// Frees the memory that a huge piece needed.
fn release(scratch: &mut MergeScratch) {
    const KEEP: usize = 1 << 16;
    if scratch.links.capacity() > KEEP {
        scratch.links = Vec::new();
        scratch.heap = BinaryHeap::new();
    }
}
