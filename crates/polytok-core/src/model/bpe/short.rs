//! Merges few symbols: repeatedly merges the adjacent pair of the lowest rank; of equal ranks, the leftmost pair.
//!
//! Each of at most 62 symbols has a slot, and no symbol is moved. The slots before the first and after the last symbol
//! are borders, whose symbols never merge. So every symbol has two neighbours, and no step branches at the ends of the
//! piece, which the processor could not predict. The rank and the slot of a candidate are packed into one number, so the
//! least number identifies the next merge. The numbers are integers, because compilers load several floating-point
//! numbers as one vector, and such a load waits until the latest of these numbers is stored. Cost: n² steps of the
//! search for the least number; a step takes a fraction of a nanosecond. Twin: the heap of merge.rs.

use super::merge::{PairLookup, PlacedSymbol};
use super::symbol::{Rank, Symbol};

/// The number of slots, which include the two borders.
const SLOT_COUNT: usize = 64;

/// The largest number of symbols.
pub const MAX_SYMBOLS: usize = SLOT_COUNT - 2;

/// The number of candidates that the search reads at a time.
const GROUP_LEN: usize = 4;

/// The candidate of a slot whose symbol starts no mergeable pair.
const NO_MERGE: u64 = u64::MAX;

/// The symbols of a run. Slots after the right border contain data of earlier runs.
#[derive(Debug)]
pub struct ShortPiece {
    symbols: [Symbol; SLOT_COUNT],
    starts: [u32; SLOT_COUNT],
    /// For each symbol, a number made from the rank of the pair that the symbol starts and from the slot of the symbol.
    candidates: [u64; SLOT_COUNT + GROUP_LEN],
    /// The merged symbol of the pair that each symbol starts.
    merged: [Symbol; SLOT_COUNT],
    /// The slots of the left and the right neighbours.
    previous: [u8; SLOT_COUNT],
    next: [u8; SLOT_COUNT],
    /// The slot of the right border.
    end: usize,
}

impl Default for ShortPiece {
    fn default() -> ShortPiece {
        ShortPiece {
            symbols: [Symbol::BORDER; SLOT_COUNT],
            starts: [0; SLOT_COUNT],
            candidates: [NO_MERGE; SLOT_COUNT + GROUP_LEN],
            merged: [Symbol::BORDER; SLOT_COUNT],
            previous: [0; SLOT_COUNT],
            next: [0; SLOT_COUNT],
            end: 1,
        }
    }
}

impl ShortPiece {
    /// Removes all symbols.
    #[inline]
    pub fn clear(&mut self) {
        self.end = 1;
    }

    /// Returns the number of symbols before merging.
    #[inline]
    pub fn len(&self) -> usize {
        self.end - 1
    }

    /// Adds a symbol; the run must not be full. `rank_and_merged` is the rank and the merged symbol of the pair that
    /// the added symbol ends.
    #[inline(always)]
    pub fn push(&mut self, symbol: Symbol, start: usize, rank_and_merged: (Rank, Symbol)) {
        let slot = self.end % SLOT_COUNT;
        self.symbols[slot] = symbol;
        self.starts[slot] = start as u32;
        self.set_candidate(slot.wrapping_sub(1) % SLOT_COUNT, rank_and_merged);
        self.end += 1;
    }

    /// Adds a symbol and looks up the pair that the added symbol ends; the run must not be full.
    #[inline]
    pub fn push_and_look_up(&mut self, pairs: &impl PairLookup, symbol: Symbol, start: usize, end: Option<u32>) {
        let left = self.placed_symbol(self.end - 1);
        self.push(symbol, start, pairs.look_up(left, PlacedSymbol::new(symbol, start), || end));
    }

    #[inline(always)]
    fn set_candidate(&mut self, slot: usize, (rank, merged): (Rank, Symbol)) {
        self.candidates[slot] = candidate(rank, slot);
        self.merged[slot] = merged;
    }

    /// Merges until no pair can merge.
    #[inline]
    pub fn merge(&mut self, pairs: &impl PairLookup) {
        self.add_borders();
        let group_count = self.end / GROUP_LEN + 1;
        loop {
            let least = self.find_least(group_count);
            if least >= candidate(Rank::NONE, 0) {
                return;
            }
            let left = least as usize % SLOT_COUNT;
            let (previous, right) = (self.previous_slot(left), self.next_slot(left));
            let next = self.next_slot(right);
            self.next[left] = next as u8;
            self.previous[next] = left as u8;
            self.symbols[left] = self.merged[left];
            self.candidates[right] = NO_MERGE;
            // Both lookups can miss the processor's cache, so the memory of the second lookup is prefetched during the
            // first lookup.
            pairs.prefetch(self.symbols[previous], self.symbols[left]);
            self.look_up(pairs, left, next);
            self.look_up(pairs, previous, left);
        }
    }

    /// Writes the right border, and links all slots to their neighbours.
    #[inline(always)]
    fn add_borders(&mut self) {
        const PREVIOUS: [u8; SLOT_COUNT] = neighbours(u8::MAX);
        const NEXT: [u8; SLOT_COUNT] = neighbours(1);
        (self.previous, self.next) = (PREVIOUS, NEXT);
        self.end = self.end.min(SLOT_COUNT - 1);
        self.symbols[self.end] = Symbol::BORDER;
        // Neither the left border nor the last symbol starts a pair, and the search reads whole groups.
        self.candidates[0] = NO_MERGE;
        self.candidates[self.end - 1..self.end + GROUP_LEN].fill(NO_MERGE);
    }

    /// Returns the least candidate of the first `group_count` groups.
    #[inline(always)]
    fn find_least(&self, group_count: usize) -> u64 {
        let mut least = [NO_MERGE; GROUP_LEN];
        let mut group = 0;
        while group < group_count {
            let at = group * GROUP_LEN % SLOT_COUNT;
            least[0] = smaller(least[0], self.candidates[at]);
            least[1] = smaller(least[1], self.candidates[at + 1]);
            least[2] = smaller(least[2], self.candidates[at + 2]);
            least[3] = smaller(least[3], self.candidates[at + 3]);
            group += 1;
        }
        smaller(smaller(least[0], least[1]), smaller(least[2], least[3]))
    }

    /// Looks up the pair of two neighbours.
    #[inline(always)]
    fn look_up(&mut self, pairs: &impl PairLookup, left: usize, right: usize) {
        let end = || Some(self.next_slot(right)).filter(|&next| next != self.end).map(|next| self.starts[next]);
        let rank_and_merged = pairs.look_up(self.placed_symbol(left), self.placed_symbol(right), end);
        self.set_candidate(left, rank_and_merged);
    }

    #[inline(always)]
    fn placed_symbol(&self, slot: usize) -> PlacedSymbol {
        PlacedSymbol::new(self.symbols[slot % SLOT_COUNT], self.starts[slot % SLOT_COUNT] as usize)
    }

    #[inline(always)]
    fn previous_slot(&self, slot: usize) -> usize {
        self.previous[slot] as usize % SLOT_COUNT
    }

    #[inline(always)]
    fn next_slot(&self, slot: usize) -> usize {
        self.next[slot] as usize % SLOT_COUNT
    }

    /// Returns the remaining symbols and their starts.
    #[inline(always)]
    pub fn remaining_symbols(&self) -> impl Iterator<Item = PlacedSymbol> + '_ {
        let mut slot = 0;
        std::iter::from_fn(move || {
            slot = self.next_slot(slot);
            (slot != self.end).then(|| self.placed_symbol(slot))
        })
    }
}

/// Returns the sum of each slot and `step`, without the carry.
const fn neighbours(step: u8) -> [u8; SLOT_COUNT] {
    let mut neighbours = [0; SLOT_COUNT];
    let mut slot = 0;
    while slot < SLOT_COUNT {
        neighbours[slot] = (slot as u8).wrapping_add(step);
        slot += 1;
    }
    neighbours
}

#[inline(always)]
fn candidate(rank: Rank, slot: usize) -> u64 {
    (rank.0 as u64) << SLOT_COUNT.trailing_zeros() | slot as u64
}

#[inline(always)]
fn smaller(left: u64, right: u64) -> u64 {
    if right < left { right } else { left }
}
