//! The BPE merge loop: repeatedly merges the adjacent pair of the lowest rank; of equal ranks, the leftmost pair.
//!
//! Two implementations follow this rule. Few symbols are merged in short.rs. Many symbols are merged here, with a
//! linked list and a heap of candidates, in n log n steps for any input. A candidate is stale, and skipped, if its left
//! symbol was merged or its pair now merges to another symbol. Twin: python/polytok/reference/bpe.py.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use polytok_memory::{self as memory, Grow};

use super::pairs::{GrowingPairs, Pairs};
use super::short::{self, ShortPiece};
use super::symbol::{Rank, Symbol};
use super::windows::Window;

/// A table of the pairs that merge.
pub trait PairLookup {
    /// Returns the rank and the merged symbol of a pair of neighbours. The rank is `Rank::NONE` if the pair does not
    /// merge. `end` returns the end of the right symbol, which is the start of the next symbol; None for the last
    /// symbol.
    fn look_up(&self, left: PlacedSymbol, right: PlacedSymbol, end: impl FnOnce() -> Option<u32>) -> (Rank, Symbol);

    /// Prefetches the memory that `rate` reads for these symbols.
    #[inline]
    fn prefetch(&self, _left: Symbol, _right: Symbol) {}
}

impl PairLookup for Pairs {
    #[inline]
    fn look_up(&self, left: PlacedSymbol, right: PlacedSymbol, _end: impl FnOnce() -> Option<u32>) -> (Rank, Symbol) {
        self.get(left.symbol, right.symbol)
    }

    #[inline]
    fn prefetch(&self, left: Symbol, right: Symbol) {
        Pairs::prefetch(self, left, right);
    }
}

impl PairLookup for GrowingPairs {
    #[inline]
    fn look_up(&self, left: PlacedSymbol, right: PlacedSymbol, _end: impl FnOnce() -> Option<u32>) -> (Rank, Symbol) {
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
    /// The rank of the pair that starts with this symbol, and the symbol that the pair merges to. Only merging with the
    /// heap uses these fields.
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

/// Observes the candidates of a merge run, for BPE-dropout and for SentencePiece's splitting of Unused symbols.
pub trait Watch {
    /// Records a candidate: the two symbols could merge to `_merged`; the left symbol has `_left_len` bytes.
    fn on_candidate(&mut self, _merged: Symbol, _left: Symbol, _right: Symbol, _left_len: u32) {}
    /// Records that the two symbols merge.
    fn merged(&mut self, _left: Symbol, _right: Symbol) {}
    /// Reports whether the next candidate is allowed to merge.
    fn accepts_candidate(&mut self) -> bool {
        true
    }
    /// Reports whether the watcher depends on the order in which the heap reports candidates, so that the heap must be
    /// used.
    fn needs_heap(&self) -> bool {
        true
    }
}

/// The watcher that does nothing.
pub struct NoWatcher;

impl Watch for NoWatcher {
    fn needs_heap(&self) -> bool {
        false
    }
}

/// The buffers of a merge run, which are reused by later runs.
#[derive(Debug, Default)]
pub struct MergeScratch {
    pub(super) short: Box<ShortPiece>,
    pub(super) windows: Vec<Window>,
    /// The symbols of one window.
    pub(super) symbols: Vec<PlacedSymbol>,
    links: Vec<Link>,
    heap: BinaryHeap<Reverse<(u64, Symbol)>>,
}

/// The neighbours of a symbol in the linked list. If a symbol was merged into its left neighbour, its `next` is its own
/// index.
#[derive(Clone, Copy, Debug)]
struct Link {
    prev: u32,
    next: u32,
}

/// Merges `symbols` in place until no pair can merge.
pub fn merge(
    pairs: &impl PairLookup,
    symbols: &mut Vec<PlacedSymbol>,
    scratch: &mut MergeScratch,
    watcher: &mut impl Watch,
) {
    if watcher.needs_heap() || symbols.len() > short::MAX_SYMBOLS {
        merge_long(pairs, symbols, scratch, watcher);
    } else {
        merge_short(pairs, symbols, &mut scratch.short);
    }
}

fn merge_short(pairs: &impl PairLookup, symbols: &mut Vec<PlacedSymbol>, short: &mut ShortPiece) {
    short.clear();
    for (i, symbol) in symbols.iter().enumerate() {
        let end = symbols.get(i + 1).map(|next| next.start);
        short.push_and_look_up(pairs, symbol.symbol, symbol.start as usize, end);
    }
    short.merge(pairs);
    symbols.clear();
    symbols.checked_extend(short.remaining_symbols());
}

/// Merges `symbols` in place with the heap.
pub fn merge_long(
    pairs: &impl PairLookup,
    symbols: &mut Vec<PlacedSymbol>,
    scratch: &mut MergeScratch,
    watcher: &mut impl Watch,
) {
    let MergeScratch { links, heap, .. } = scratch;
    links.clear();
    links.checked_extend((0..symbols.len() as u32).map(|i| Link { prev: i.wrapping_sub(1), next: i + 1 }));
    heap.clear();
    for left in 0..symbols.len() {
        add_candidate(pairs, symbols, links, left, heap, watcher);
    }
    while let Some(Reverse((rank_and_index, merged))) = heap.pop() {
        let left = rank_and_index as u32 as usize;
        let right = links[left].next as usize;
        let is_stale = right == left
            || right >= symbols.len()
            || symbols[left].rank != Rank((rank_and_index >> 32) as u32)
            || symbols[left].merged != merged;
        if is_stale || !watcher.accepts_candidate() {
            continue;
        }
        let next = links[right].next;
        watcher.merged(symbols[left].symbol, symbols[right].symbol);
        symbols[left].symbol = merged;
        links[left].next = next;
        links[right].next = right as u32; // gone
        if let Some(link) = links.get_mut(next as usize) {
            link.prev = left as u32;
        }
        let previous = links[left].prev as usize;
        symbols[left].rank = Rank::NONE;
        if previous < symbols.len() {
            add_candidate(pairs, symbols, links, previous, heap, watcher);
        }
        add_candidate(pairs, symbols, links, left, heap, watcher);
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
fn add_candidate(
    pairs: &impl PairLookup,
    symbols: &mut [PlacedSymbol],
    links: &[Link],
    left: usize,
    heap: &mut BinaryHeap<Reverse<(u64, Symbol)>>,
    watcher: &mut impl Watch,
) {
    symbols[left].rank = Rank::NONE;
    let next = links[left].next as usize;
    let Some(&right) = symbols.get(next) else {
        return;
    };
    let end = || symbols.get(links[next].next as usize).map(|following| following.start);
    let (rank, merged) = pairs.look_up(symbols[left], right, end);
    if rank != Rank::NONE {
        symbols[left].rank = rank;
        symbols[left].merged = merged;
        watcher.on_candidate(merged, symbols[left].symbol, right.symbol, right.start - symbols[left].start);
        memory::reserve_item(heap);
        heap.push(Reverse(((rank.0 as u64) << 32 | left as u64, merged)));
    }
}

/// Frees buffers that a huge piece made large.
fn release(scratch: &mut MergeScratch) {
    const MAX_KEPT_LINKS: usize = 1 << 16;
    if scratch.links.capacity() > MAX_KEPT_LINKS {
        scratch.links = Vec::new();
        scratch.heap = BinaryHeap::new();
    }
}
