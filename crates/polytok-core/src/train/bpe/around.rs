//! Adds up the changes of one merge to the pairs on one side of it, symbol by symbol, before any table is changed.

use super::places::{PairPlaces, PairPosition, PlaceRange};

/// The write index of a symbol whose places are dropped.
const DROPPED: usize = usize::MAX;

/// The changes of a symbol on one side of the merged pair.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    /// The number of the symbol's occurrences that were adjacent to the merged half.
    lost_pairs: i64,
    /// The number of the symbol's occurrences that are adjacent to the new symbol, if pairs with the new symbol count.
    gained_pairs: i64,
    /// The number of new places of the pair.
    len: u32,
    has_changed: bool,
}

/// One side of a merge, before or after the merged pair.
#[derive(Default)]
pub struct Side {
    changes: Vec<Change>,
    changed_symbols: Vec<u32>,
    new_places: Vec<(u32, PairPosition)>,
    /// The index at which the next place of each symbol is written.
    write_index: Vec<usize>,
}

impl Side {
    /// Makes room for symbols with ids below `symbols`.
    pub fn make_room(&mut self, symbols: usize) {
        if symbols <= self.changes.len() {
            return;
        }
        self.changes.resize(symbols, Change::default());
        self.write_index.resize(symbols, 0);
    }

    /// Records that an occurrence of a symbol was adjacent to a half that was merged.
    #[inline]
    pub fn lose(&mut self, symbol: u32, weight: u64) {
        let change = &mut self.changes[symbol as usize];
        change.lost_pairs += weight as i64;
        if !change.has_changed {
            change.has_changed = true;
            self.changed_symbols.push(symbol);
        }
    }

    /// Records that an occurrence of a symbol is adjacent to the new symbol. The new pair starts at `place`.
    #[inline]
    pub fn gain(&mut self, symbol: u32, weight: u64, place: PairPosition) {
        let change = &mut self.changes[symbol as usize];
        change.gained_pairs += weight as i64;
        change.len += 1;
        self.new_places.push((symbol, place));
    }

    /// Returns the number of bytes that the places of the largest merge so far take.
    pub fn memory(&self) -> usize {
        self.new_places.capacity() * size_of::<(u32, PairPosition)>()
    }

    /// Returns the symbols that changed.
    pub fn changed_symbols(&self) -> &[u32] {
        &self.changed_symbols
    }

    /// Returns the changes of a symbol and resets them: the number of lost pairs, the number of new pairs, and the
    /// number of new places.
    pub fn take(&mut self, symbol: u32) -> (i64, i64, u32) {
        let change = std::mem::take(&mut self.changes[symbol as usize]);
        (change.lost_pairs, change.gained_pairs, change.len)
    }

    /// Sets the list for the places of a symbol. With `None`, the places are dropped.
    pub fn set_list(&mut self, symbol: u32, list: Option<PlaceRange>) {
        self.write_index[symbol as usize] = list.map_or(DROPPED, |list| list.start);
    }

    /// Writes the places to their lists, and resets the side.
    pub fn write_places(&mut self, places: &mut PairPlaces) {
        for (symbol, place) in self.new_places.drain(..) {
            let write_index = &mut self.write_index[symbol as usize];
            if *write_index != DROPPED {
                places.set(*write_index, place);
                *write_index += 1;
            }
        }
        self.changed_symbols.clear();
    }
}
