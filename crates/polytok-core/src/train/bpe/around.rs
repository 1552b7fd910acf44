//! What one merge changes: pairs with the symbols on one side of it, added up by symbol before any table is touched.

use super::places::{List, Place, Places};

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

    /// Hands out the changes by symbol and starts anew. `counted(symbol, lost, gained, list)` says whether it wants the places
    /// that it would get as a list.
    pub fn settle(&mut self, places: &mut Places, mut counted: impl FnMut(u32, i64, i64, List) -> bool) {
        const NONE: usize = usize::MAX;
        for &symbol in &self.touched {
            let change = std::mem::take(&mut self.changes[symbol as usize]);
            let list = places.next(change.len);
            let is_wanted = counted(symbol, change.lost, change.gained, list);
            self.next[symbol as usize] = if is_wanted { list.start } else { NONE };
            if is_wanted {
                places.reserve(list);
            }
        }
        for (symbol, place) in self.gained.drain(..) {
            let next = &mut self.next[symbol as usize];
            if *next != NONE {
                places.set(*next, place);
                *next += 1;
            }
        }
        self.touched.clear();
    }
}
