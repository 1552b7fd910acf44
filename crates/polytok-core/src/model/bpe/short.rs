//! Merges few symbols: repeatedly merges the adjacent pair of the lowest rank; of equal ranks, the leftmost pair.
//!
//! Up to 64 symbols stay in their slots. A 64-bit number has a bit for each remaining symbol, so neighbours are found
//! by counting zeros, and no symbol is moved. The rank and the index of a candidate are packed into one number, so the
//! least number identifies the next merge. The numbers are floating-point numbers between one and two, because all
//! processors can find the least of several such numbers in one step. Cost: n² steps of the search for the least
//! number; a step takes a fraction of a nanosecond. Twin: the heap of merge.rs.

use super::merge::{Lookup, PlacedSymbol};
use super::symbol::{Rank, Symbol};

/// The largest number of symbols.
pub const MAX_SYMBOLS: usize = 64;

/// The number of a symbol that starts no mergeable pair.
const NO_MERGE: f64 = f64::INFINITY;

/// The symbols of a run. Slots from index `len` on contain data of earlier runs.
#[derive(Debug)]
pub struct ShortPiece {
    symbols: [Symbol; MAX_SYMBOLS],
    starts: [u32; MAX_SYMBOLS],
    /// The rank of the pair that each symbol starts, with the index of the symbol in the lower bits.
    due: [f64; MAX_SYMBOLS],
    /// The merged symbol of the pair that each symbol starts.
    merged: [Symbol; MAX_SYMBOLS],
    len: usize,
    /// A bit for each symbol that remains.
    alive: u64,
}

#[inline(always)]
fn lesser(one: f64, other: f64) -> f64 {
    if other < one { other } else { one }
}

impl Default for ShortPiece {
    fn default() -> ShortPiece {
        let symbols = [Symbol::INERT; MAX_SYMBOLS];
        ShortPiece {
            symbols,
            starts: [0; MAX_SYMBOLS],
            due: [NO_MERGE; MAX_SYMBOLS],
            merged: symbols,
            len: 0,
            alive: 0,
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

    /// Adds a symbol; there must be room. `rank_and_merged` is the rank and the merged symbol of the pair that the
    /// added symbol ends.
    #[inline]
    pub fn push(&mut self, symbol: Symbol, start: usize, rank_and_merged: (Rank, Symbol)) {
        let at = self.len % MAX_SYMBOLS;
        self.symbols[at] = symbol;
        self.starts[at] = start as u32;
        self.rate(at.wrapping_sub(1) % MAX_SYMBOLS, rank_and_merged);
        self.len += 1;
    }

    /// Adds a symbol and looks up the pair that the added symbol ends; there must be room.
    #[inline]
    pub fn push_and_rate(&mut self, pairs: &impl Lookup, symbol: Symbol, start: usize, end: Option<u32>) {
        let rank_and_merged = match self.len {
            0 => (Rank::NONE, Symbol::INERT),
            len => {
                let last = len - 1;
                let left = PlacedSymbol::new(self.symbols[last], self.starts[last] as usize);
                pairs.rate(left, PlacedSymbol::new(symbol, start), || end)
            }
        };
        self.push(symbol, start, rank_and_merged);
    }

    #[inline]
    fn rate(&mut self, at: usize, (rank, merged): (Rank, Symbol)) {
        self.due[at] = f64::from_bits(1f64.to_bits() | (rank.0 as u64) << 6 | at as u64);
        self.merged[at] = merged;
    }

    /// Merges until no pair can merge.
    #[inline]
    pub fn merge(&mut self, pairs: &impl Lookup) {
        if self.len == 0 {
            self.alive = 0;
            return;
        }
        // The search reads four slots at a time.
        self.due[self.len - 1..self.len.next_multiple_of(4)].fill(NO_MERGE);
        let mut alive = u64::MAX >> (MAX_SYMBOLS - self.len);
        loop {
            let least = self.least();
            if least >= f64::from_bits(1f64.to_bits() | (Rank::NONE.0 as u64) << 6) {
                break;
            }
            let least = least.to_bits();
            let left = least as usize % MAX_SYMBOLS;
            let above = alive & (u64::MAX - 1) << left;
            let right = above.trailing_zeros() as usize % MAX_SYMBOLS;
            let above = above & above.wrapping_sub(1);
            let below = alive & ((1 << left) - 1);
            alive &= !(1 << right);
            self.symbols[left] = self.merged[left];
            self.due[right] = NO_MERGE;
            self.due[left] = NO_MERGE;
            let before = MAX_SYMBOLS - 1 - (below | 1).leading_zeros() as usize;
            // Both lookups can miss the processor's cache, so the memory of the second lookup is prefetched during the
            // first lookup.
            pairs.prefetch(self.symbols[before], self.symbols[left]);
            if above != 0 {
                self.look_up(pairs, left, above.trailing_zeros() as usize % MAX_SYMBOLS, above & (above - 1));
            }
            if below != 0 {
                self.look_up(pairs, before, left, above);
            }
        }
        self.alive = alive;
    }

    /// Returns the least number.
    #[inline]
    fn least(&self) -> f64 {
        let mut least = [NO_MERGE; 4];
        let mut at = 0;
        while at < self.len {
            let four = &self.due[at % MAX_SYMBOLS..at % MAX_SYMBOLS + 4];
            least[0] = lesser(least[0], four[0]);
            least[1] = lesser(least[1], four[1]);
            least[2] = lesser(least[2], four[2]);
            least[3] = lesser(least[3], four[3]);
            at += 4;
        }
        lesser(lesser(least[0], least[1]), lesser(least[2], least[3]))
    }

    /// Looks up the pair of two neighbours; `above` has the bits of the symbols after this pair.
    #[inline]
    fn look_up(&mut self, pairs: &impl Lookup, left: usize, right: usize, above: u64) {
        let symbol = |at: usize| PlacedSymbol::new(self.symbols[at], self.starts[at] as usize);
        let end = || (above != 0).then(|| self.starts[above.trailing_zeros() as usize % MAX_SYMBOLS]);
        let rank_and_merged = pairs.rate(symbol(left), symbol(right), end);
        self.rate(left, rank_and_merged);
    }

    /// Returns the remaining symbols and their starts.
    #[inline]
    pub fn left(&self) -> impl Iterator<Item = PlacedSymbol> + '_ {
        let mut alive = self.alive;
        std::iter::from_fn(move || {
            let at = alive.trailing_zeros() as usize;
            alive &= alive.wrapping_sub(1);
            (at < MAX_SYMBOLS)
                .then(|| PlacedSymbol::new(self.symbols[at % MAX_SYMBOLS], self.starts[at % MAX_SYMBOLS] as usize))
        })
    }
}
