//! A set of rows by their texts, to find a text that comes twice.
//!
//! Open addressing over row numbers, at most half full, with a hash whose seed is a hash of all texts, so that no file can
//! make it slow. A map from slices would take six times the memory.

use super::text;
use crate::hash::hash_bytes;
use crate::spec::VocabColumns;

/// Rows of one vocabulary, of which no two have the same text.
pub(super) struct TextIndex<'a> {
    columns: &'a VocabColumns,
    /// Row + 1 in the low bits and a part of the hash in the others, or 0 for a free slot; the length is a power of two.
    slots: Vec<u32>,
    row_mask: u32,
    seed: u64,
}

impl<'a> TextIndex<'a> {
    /// An empty set with room for all rows.
    pub(super) fn new(columns: &'a VocabColumns) -> TextIndex<'a> {
        TextIndex::with_room(columns, columns.ids.len())
    }

    /// An empty set with room for so many rows.
    pub(super) fn with_room(columns: &'a VocabColumns, rows: usize) -> TextIndex<'a> {
        let slots = vec![0; (2 * rows).next_power_of_two().max(2)];
        let row_mask = (columns.ids.len() as u32)
            .saturating_add(1)
            .checked_next_power_of_two()
            .map_or(u32::MAX, |above| above - 1);
        TextIndex { columns, slots, row_mask, seed: hash_bytes(&columns.blob, columns.ids.len() as u64) }
    }

    /// Adds a row, or gives the row that has its text already.
    pub(super) fn insert(&mut self, row: usize) -> Option<usize> {
        let wanted = text(self.columns, row);
        let mask = self.slots.len() - 1;
        let hash = hash_bytes(wanted, self.seed);
        let tag = (hash >> 32) as u32 & !self.row_mask;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != 0 {
            let found = (self.slots[slot] & self.row_mask) as usize - 1;
            if self.slots[slot] & !self.row_mask == tag && text(self.columns, found) == wanted {
                return Some(found);
            }
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = tag | (row as u32 + 1);
        None
    }
}

/// The first row whose text an earlier row has: (earlier, row).
pub(super) fn first_twice(columns: &VocabColumns) -> Option<(usize, usize)> {
    let mut texts = TextIndex::new(columns);
    (0..columns.ids.len()).find_map(|row| texts.insert(row).map(|first| (first, row)))
}

#[cfg(test)]
mod tests {
    use super::super::{no_rows, push_row};
    use super::*;
    use crate::spec::Kind;

    #[test]
    fn finds_the_first_text_that_comes_twice() {
        let mut columns = no_rows();
        assert_eq!(first_twice(&columns), None);
        for number in 0..1000u32 {
            push_row(&mut columns, number.to_string().as_bytes(), number, 0.0, Kind::Normal).unwrap();
        }
        assert_eq!(first_twice(&columns), None);
        push_row(&mut columns, b"77", 1000, 0.0, Kind::Normal).unwrap();
        push_row(&mut columns, b"5", 1001, 0.0, Kind::Normal).unwrap();
        assert_eq!(first_twice(&columns), Some((77, 1000)));
    }
}
