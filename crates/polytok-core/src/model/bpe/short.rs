//! Merges few symbols: repeatedly merges the adjacent pair of the lowest rank; of equal ranks, the leftmost pair.
//!
//! Each of at most 64 symbols has a slot. A 64-bit number has a bit for each symbol that remains, so neighbours are
//! found by counting zero bits, and no symbol is moved. The rank and the index of a candidate are packed into one
//! number, so the least number identifies the next merge. The numbers are floating-point numbers between one and two,
//! because all processors can find the least of several such numbers in one step. Cost: n² steps of the search for the
//! least number; a step takes a fraction of a nanosecond. Twin: the heap of merge.rs.

use super::merge::{PairLookup, PlacedSymbol};
use super::symbol::{Rank, Symbol};

/// The largest number of symbols.
pub const MAX_SYMBOLS: usize = 64;

/// The candidate of a slot whose symbol starts no mergeable pair.
const NO_MERGE: f64 = f64::INFINITY;

/// The symbols of a run. Slots from index `len` on contain data of earlier runs.
#[derive(Debug)]
pub struct ShortPiece {
    symbols: [Symbol; MAX_SYMBOLS],
    starts: [u32; MAX_SYMBOLS],
    /// For each symbol, a floating-point number made from the rank of the pair that the symbol starts and from the
    /// index of the symbol.
    candidates: [f64; MAX_SYMBOLS],
    /// The merged symbol of the pair that each symbol starts.
    merged: [Symbol; MAX_SYMBOLS],
    len: usize,
    /// A bit for each symbol that remains.
    remaining: u64,
}

#[inline(always)]
fn smaller(left: f64, right: f64) -> f64 {
    if right < left { right } else { left }
}

impl Default for ShortPiece {
    fn default() -> ShortPiece {
        let symbols = [Symbol::INERT; MAX_SYMBOLS];
        ShortPiece {
            symbols,
            starts: [0; MAX_SYMBOLS],
            candidates: [NO_MERGE; MAX_SYMBOLS],
            merged: symbols,
            len: 0,
            remaining: 0,
        }
    }
}

impl ShortPiece {
    /// Removes all symbols.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Returns the number of symbols before merging.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a symbol; the run must not be full. `rank_and_merged` is the rank and the merged symbol of the pair that
    /// the added symbol ends.
    #[inline]
    pub fn push(&mut self, symbol: Symbol, start: usize, rank_and_merged: (Rank, Symbol)) {
        let at = self.len % MAX_SYMBOLS;
        self.symbols[at] = symbol;
        self.starts[at] = start as u32;
        self.set_candidate(at.wrapping_sub(1) % MAX_SYMBOLS, rank_and_merged);
        self.len += 1;
    }

    /// Adds a symbol and looks up the pair that the added symbol ends; the run must not be full.
    #[inline]
    pub fn push_and_look_up(&mut self, pairs: &impl PairLookup, symbol: Symbol, start: usize, end: Option<u32>) {
        let rank_and_merged = match self.len {
            0 => (Rank::NONE, Symbol::INERT),
            len => {
                let last = len - 1;
                let left = PlacedSymbol::new(self.symbols[last], self.starts[last] as usize);
                pairs.look_up(left, PlacedSymbol::new(symbol, start), || end)
            }
        };
        self.push(symbol, start, rank_and_merged);
    }

    #[inline]
    fn set_candidate(&mut self, at: usize, (rank, merged): (Rank, Symbol)) {
        self.candidates[at] = f64::from_bits(1f64.to_bits() | (rank.0 as u64) << 6 | at as u64);
        self.merged[at] = merged;
    }

    /// Merges until no pair can merge.
    #[inline]
    pub fn merge(&mut self, pairs: &impl PairLookup) {
        if self.len == 0 {
            self.remaining = 0;
            return;
        }
        // The search reads four slots at a time.
        self.candidates[self.len - 1..self.len.next_multiple_of(4)].fill(NO_MERGE);
        let mut remaining = u64::MAX >> (MAX_SYMBOLS - self.len);
        loop {
            let least = self.find_least();
            if least >= f64::from_bits(1f64.to_bits() | (Rank::NONE.0 as u64) << 6) {
                break;
            }
            let least = least.to_bits();
            let left = least as usize % MAX_SYMBOLS;
            let following = remaining & (u64::MAX - 1) << left;
            let right = following.trailing_zeros() as usize % MAX_SYMBOLS;
            let following = following & following.wrapping_sub(1);
            let preceding = remaining & ((1 << left) - 1);
            remaining &= !(1 << right);
            self.symbols[left] = self.merged[left];
            self.candidates[right] = NO_MERGE;
            self.candidates[left] = NO_MERGE;
            let previous = MAX_SYMBOLS - 1 - (preceding | 1).leading_zeros() as usize;
            // Both lookups can miss the processor's cache, so the memory of the second lookup is prefetched during the
            // first lookup.
            pairs.prefetch(self.symbols[previous], self.symbols[left]);
            if following != 0 {
                self.look_up(
                    pairs,
                    left,
                    following.trailing_zeros() as usize % MAX_SYMBOLS,
                    following & (following - 1),
                );
            }
            if preceding != 0 {
                self.look_up(pairs, previous, left, following);
            }
        }
        self.remaining = remaining;
    }

    /// Returns the least number.
    #[inline]
    fn find_least(&self) -> f64 {
        let mut least = [NO_MERGE; 4];
        let mut at = 0;
        while at < self.len {
            let group = &self.candidates[at % MAX_SYMBOLS..at % MAX_SYMBOLS + 4];
            least[0] = smaller(least[0], group[0]);
            least[1] = smaller(least[1], group[1]);
            least[2] = smaller(least[2], group[2]);
            least[3] = smaller(least[3], group[3]);
            at += 4;
        }
        smaller(smaller(least[0], least[1]), smaller(least[2], least[3]))
    }

    /// Looks up the pair of two neighbours; `following` has the bits of the symbols after this pair.
    #[inline]
    fn look_up(&mut self, pairs: &impl PairLookup, left: usize, right: usize, following: u64) {
        let symbol = |at: usize| PlacedSymbol::new(self.symbols[at], self.starts[at] as usize);
        let end = || (following != 0).then(|| self.starts[following.trailing_zeros() as usize % MAX_SYMBOLS]);
        let rank_and_merged = pairs.look_up(symbol(left), symbol(right), end);
        self.set_candidate(left, rank_and_merged);
    }

    /// Returns the remaining symbols and their starts.
    #[inline]
    pub fn remaining_symbols(&self) -> impl Iterator<Item = PlacedSymbol> + '_ {
        let mut remaining = self.remaining;
        std::iter::from_fn(move || {
            let at = remaining.trailing_zeros() as usize;
            remaining &= remaining.wrapping_sub(1);
            (at < MAX_SYMBOLS)
                .then(|| PlacedSymbol::new(self.symbols[at % MAX_SYMBOLS], self.starts[at % MAX_SYMBOLS] as usize))
        })
    }
}
