//! Adds up, for each neighbouring symbol, how a merge changes the counts of pairs on one side of the merged pair. The
//! tables are updated afterwards.

use polytok_memory::Grow;

use super::places::{PairPlaces, PairPosition, PlaceRange};

/// The write index that marks a symbol whose places are dropped.
const DROPPED_INDEX: usize = usize::MAX;

/// The changes of a symbol on one side of the merged pair.
#[derive(Clone, Copy, Debug, Default)]
struct SymbolChange {
    /// How many occurrences of the pair (symbol, merged half) the merge removes.
    removed_count: i64,
    /// The count of the pair of the symbol and the new symbol.
    added_count: i64,
    /// The number of places of the pair of the symbol and the new symbol.
    new_place_count: u32,
    has_changed: bool,
}

/// The changes on one side of the merged pair: before it or after it.
#[derive(Default)]
pub struct SideChanges {
    changes: Vec<SymbolChange>,
    changed_symbols: Vec<u32>,
    new_places: Vec<(u32, PairPosition)>,
    /// For each symbol, the index at which its next place is written.
    write_index: Vec<usize>,
}

impl SideChanges {
    /// Extends the tables to all symbols with ids below `symbols`.
    pub fn extend_tables(&mut self, symbols: usize) {
        if symbols <= self.changes.len() {
            return;
        }
        self.changes.checked_resize(symbols, SymbolChange::default());
        self.write_index.checked_resize(symbols, 0);
    }

    /// Records that a merge removed the pair of a symbol and the merged half, in a word that occurs `weight` times.
    #[inline]
    pub fn record_removed_pair(&mut self, symbol: u32, weight: u64) {
        let change = &mut self.changes[symbol as usize];
        change.removed_count += weight as i64;
        if !change.has_changed {
            change.has_changed = true;
            self.changed_symbols.checked_push(symbol);
        }
    }

    /// Records that a merge created the pair of a symbol and the new symbol at `place`, in a word that occurs `weight`
    /// times.
    #[inline]
    pub fn record_added_pair(&mut self, symbol: u32, weight: u64, place: PairPosition) {
        let change = &mut self.changes[symbol as usize];
        change.added_count += weight as i64;
        change.new_place_count += 1;
        self.new_places.checked_push((symbol, place));
    }

    /// Returns the number of bytes of the buffer of new places.
    pub fn memory(&self) -> usize {
        self.new_places.capacity() * size_of::<(u32, PairPosition)>()
    }

    /// Returns the symbols whose pairs the merge has changed.
    pub fn changed_symbols(&self) -> &[u32] {
        &self.changed_symbols
    }

    /// Returns and resets the changes of a symbol: the removed count, the added count, and the number of new places.
    pub fn take_changes(&mut self, symbol: u32) -> (i64, i64, u32) {
        let change = std::mem::take(&mut self.changes[symbol as usize]);
        (change.removed_count, change.added_count, change.new_place_count)
    }

    /// Sets the list to which the new places of a symbol are written. With `None`, its new places are dropped.
    pub fn set_list(&mut self, symbol: u32, list: Option<PlaceRange>) {
        self.write_index[symbol as usize] = list.map_or(DROPPED_INDEX, |list| list.start);
    }

    /// Writes the new places to their lists, and forgets all changes.
    pub fn write_places(&mut self, places: &mut PairPlaces) {
        for (symbol, place) in self.new_places.drain(..) {
            let write_index = &mut self.write_index[symbol as usize];
            if *write_index != DROPPED_INDEX {
                places.set(*write_index, place);
                *write_index += 1;
            }
        }
        self.changed_symbols.clear();
    }
}
