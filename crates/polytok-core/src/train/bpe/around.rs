//! What one merge changes: pairs with the symbols on one side of it, added up by symbol before any table is touched.

use super::places::{List, Place, Places};

/// Stands for places that nobody wants.
const NOWHERE: usize = usize::MAX;

/// A symbol on one side of the merged pair.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    /// How often it stood beside the half that is gone.
    lost: i64,
    /// How often it stands beside the new symbol, where such pairs count.
    gained: i64,
    /// Places gained.
    len: u32,
    is_touched: bool,
}

/// One side of a merge.
#[derive(Default)]
pub struct Side {
    changes: Vec<Change>,
    touched: Vec<u32>,
    gained: Vec<(u32, Place)>,
    /// Where the next place of a symbol goes.
    next: Vec<usize>,
}

impl Side {
    /// Symbols are below `symbols` from now on.
    pub fn make_room(&mut self, symbols: usize) {
        if symbols <= self.changes.len() {
            return;
        }
        self.changes.resize(symbols, Change::default());
        self.next.resize(symbols, 0);
    }

    /// The half beside this symbol is gone.
    #[inline]
    pub fn lose(&mut self, symbol: u32, weight: u64) {
        let change = &mut self.changes[symbol as usize];
        change.lost += weight as i64;
        if !change.is_touched {
            change.is_touched = true;
            self.touched.push(symbol);
        }
    }

    /// The new symbol stands beside this one, which has lost its neighbour. The pair starts at the place.
    #[inline]
    pub fn gain(&mut self, symbol: u32, weight: u64, place: Place) {
        let change = &mut self.changes[symbol as usize];
        change.gained += weight as i64;
        change.len += 1;
        self.gained.push((symbol, place));
    }

    /// Bytes that the places of the largest merge so far take.
    pub fn memory(&self) -> usize {
        self.gained.capacity() * size_of::<(u32, Place)>()
    }

    /// The symbols that changed.
    pub fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// What changed for a symbol, which starts anew: how often it lost its neighbour and gained the new one, and how many places.
    pub fn take(&mut self, symbol: u32) -> (i64, i64, u32) {
        let change = std::mem::take(&mut self.changes[symbol as usize]);
        (change.lost, change.gained, change.len)
    }

    /// The places of a symbol go to a list, or nowhere.
    pub fn send(&mut self, symbol: u32, list: Option<List>) {
        self.next[symbol as usize] = list.map_or(NOWHERE, |list| list.start);
    }

    /// Sets the places of all lists, and starts anew.
    pub fn settle(&mut self, places: &mut Places) {
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
