//! The BPE merge loop: again and again the adjacent pair of the lowest rank, the leftmost of equals.
//!
//! There is one rule and there are two ways to run it. Few symbols: see short.rs. Many: a linked list and a heap of candidates, n log n
//! for any input; a candidate is stale, and skipped, when its left symbol has gone or the pair there now merges into something
//! else. Twin: python/polytok/reference/bpe.py.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::pairs::{Growing, Pairs};
use super::short::{self, ShortPiece};
use super::symbol::{Rank, Symbol};
use super::windows::Window;

/// What says which pairs merge.
pub trait Lookup {
    /// The rank of a pair of neighbours, [`Rank::NONE`] if it does not merge, and what it becomes. `end` is where the right
    /// one ends: the start of the next, if there is one.
    fn rate(&self, left: PlacedSymbol, right: PlacedSymbol, end: impl FnOnce() -> Option<u32>) -> (Rank, Symbol);

    /// Asks the processor for what `rate` will read of these symbols.
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

impl Lookup for Growing {
    #[inline]
    fn rate(&self, left: PlacedSymbol, right: PlacedSymbol, _end: impl FnOnce() -> Option<u32>) -> (Rank, Symbol) {
        self.get(left.symbol, right.symbol)
    }

    #[inline]
    fn prefetch(&self, left: Symbol, right: Symbol) {
        Growing::prefetch(self, left, right);
    }
}

/// A symbol and where it starts in the piece.
#[derive(Clone, Copy, Debug)]
pub struct PlacedSymbol {
    /// The symbol.
    pub symbol: Symbol,
    /// Its first byte.
    pub start: u32,
    /// For the heap: the rank of the pair that starts here, and what that pair becomes.
    rank: Rank,
    merged: Symbol,
}

impl PlacedSymbol {
    /// A symbol that starts at `start`.
    #[inline]
    pub fn new(symbol: Symbol, start: usize) -> PlacedSymbol {
        PlacedSymbol { symbol, start: start as u32, rank: Rank::NONE, merged: Symbol::INERT }
    }
}

/// Watches the candidates of a merge run: SentencePiece's re-segmentation and BPE-dropout need it.
pub trait Watch {
    /// A candidate is considered: the two symbols could become `merged`; the left one has `_left_len` bytes.
    fn considered(&mut self, _merged: Symbol, _left: Symbol, _right: Symbol, _left_len: u32) {}
    /// The two symbols merge.
    fn merged(&mut self, _left: Symbol, _right: Symbol) {}
    /// Whether a candidate that is due may merge.
    fn keeps(&mut self) -> bool {
        true
    }
    /// Whether the two ways to run differ to the watcher, so that the heap must be used.
    fn wants_heap(&self) -> bool {
        true
    }
}

/// Nobody watches.
pub struct Unwatched;

impl Watch for Unwatched {
    fn wants_heap(&self) -> bool {
        false
    }
}

/// Memory of a merge run, kept between runs.
#[derive(Debug, Default)]
pub struct MergeScratch {
    pub(super) short: Box<ShortPiece>,
    pub(super) windows: Vec<Window>,
    /// Those of one window.
    pub(super) symbols: Vec<PlacedSymbol>,
    links: Vec<Link>,
    heap: BinaryHeap<Reverse<(u64, Symbol)>>,
}

/// The neighbours of a symbol in the linked list; a symbol that has gone has itself as `next`.
#[derive(Clone, Copy, Debug)]
struct Link {
    prev: u32,
    next: u32,
}

/// Merges `symbols` in place until no pair is left that may.
pub fn merge(pairs: &impl Lookup, symbols: &mut Vec<PlacedSymbol>, scratch: &mut MergeScratch, watch: &mut impl Watch) {
    if watch.wants_heap() || symbols.len() > short::MOST {
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

/// The same by the heap.
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

/// Puts the pair that starts at `left` on the heap if it may merge.
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

/// Gives back what one huge piece made the scratch grow to.
fn release(scratch: &mut MergeScratch) {
    const KEEP: usize = 1 << 16;
    if scratch.links.capacity() > KEEP {
        scratch.links = Vec::new();
        scratch.heap = BinaryHeap::new();
    }
}
