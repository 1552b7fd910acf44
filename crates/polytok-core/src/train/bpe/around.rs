//! The changes of one merge to the pairs on one side of it, added up by symbol before any table is touched.

use super::places::{PairPlaces, PairPosition, PlaceRange};

/// Marks places that are dropped.
const NOWHERE: usize = usize::MAX;

/// A symbol on one side of the merged pair.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    /// How often it was adjacent to the merged half.
    lost: i64,
    /// How often it is adjacent to the new symbol, if such pairs count.
    gained: i64,
    /// The number of new places.
    len: u32,
    is_touched: bool,
}

/// One side of a merge.
#[derive(Default)]
pub struct Side {
    changes: Vec<Change>,
    touched: Vec<u32>,
    gained: Vec<(u32, PairPosition)>,
    /// The index for the next place of each symbol.
    next: Vec<usize>,
}

impl Side {
    /// Makes room for symbols below `symbols`.
    pub fn make_room(&mut self, symbols: usize) {
        if symbols <= self.changes.len() {
            return;
        }
        self.changes.resize(symbols, Change::default());
        self.next.resize(symbols, 0);
    }

    /// The half adjacent to this symbol was merged.
    #[inline]
    pub fn lose(&mut self, symbol: u32, weight: u64) {
        let change = &mut self.changes[symbol as usize];
        change.lost += weight as i64;
        if !change.is_touched {
            change.is_touched = true;
            self.touched.push(symbol);
        }
    }

    /// The new symbol is adjacent to this one, which has lost its neighbour. The new pair starts at `place`.
    #[inline]
    pub fn gain(&mut self, symbol: u32, weight: u64, place: PairPosition) {
        let change = &mut self.changes[symbol as usize];
        change.gained += weight as i64;
        change.len += 1;
        self.gained.push((symbol, place));
    }

    /// The bytes that the places of the largest merge so far take.
    pub fn memory(&self) -> usize {
        self.gained.capacity() * size_of::<(u32, PairPosition)>()
    }

    /// The symbols that changed.
    pub fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// The changes of a symbol, which are reset: how often it lost its neighbour, how often it gained the new one, and
    /// its number of new places.
    pub fn take(&mut self, symbol: u32) -> (i64, i64, u32) {
        let change = std::mem::take(&mut self.changes[symbol as usize]);
        (change.lost, change.gained, change.len)
    }

    /// Chooses the list for the places of a symbol; None drops them.
    pub fn send(&mut self, symbol: u32, list: Option<PlaceRange>) {
        self.next[symbol as usize] = list.map_or(NOWHERE, |list| list.start);
    }

    /// Writes the places to their lists, and resets.
    pub fn settle(&mut self, places: &mut PairPlaces) {
        for (symbol, place) in self.gained.drain(..) {
            let next = &mut self.next[symbol as usize];
            if *next != NOWHERE {
                places.set(*next, place);
                *next += 1;
            }
        }
        self.touched.clear();
    }
}
