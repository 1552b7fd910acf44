//! Finds rows with the same text.
//!
//! The set is an open-addressing table of row numbers, at most half full. The seed of the hash function is a hash of
//! all texts, so that no file can make lookups slow. A hash map keyed by slices would need six times the memory.

use polytok_memory as memory;

use super::text;
use crate::hash::hash_bytes;
use crate::spec::VocabColumns;

/// A set of rows of a vocabulary; no two rows of the set have the same text.
pub(super) struct TextIndex<'a> {
    columns: &'a VocabColumns,
    /// The slots of the table. A used slot has `row + 1` in its low bits and a part of the hash of the text in its high
    /// bits; a free slot is 0. The number of slots is a power of two.
    slots: Vec<u32>,
    row_mask: u32,
    seed: u64,
}

impl<'a> TextIndex<'a> {
    /// Creates an empty set with room for all rows.
    pub(super) fn new(columns: &'a VocabColumns) -> TextIndex<'a> {
        TextIndex::with_room(columns, columns.ids.len())
    }

    /// Creates an empty set with room for `rows` rows.
    pub(super) fn with_room(columns: &'a VocabColumns, rows: usize) -> TextIndex<'a> {
        let slots = memory::zeroed((2 * rows).next_power_of_two().max(2));
        let row_mask = (columns.ids.len() as u32)
            .saturating_add(1)
            .checked_next_power_of_two()
            .map_or(u32::MAX, |above| above - 1);
        TextIndex { columns, slots, row_mask, seed: hash_bytes(&columns.blob, columns.ids.len() as u64) }
    }

    /// Adds a row to the set. If the set has a row with the same text, returns that row and adds nothing.
    pub(super) fn insert(&mut self, row: usize) -> Option<usize> {
        let row_text = text(self.columns, row);
        let mask = self.slots.len() - 1;
        let hash = hash_bytes(row_text, self.seed);
        let tag = (hash >> 32) as u32 & !self.row_mask;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != 0 {
            let slot_row = (self.slots[slot] & self.row_mask) as usize - 1;
            if self.slots[slot] & !self.row_mask == tag && text(self.columns, slot_row) == row_text {
                return Some(slot_row);
            }
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = tag | (row as u32 + 1);
        None
    }
}

/// Finds the first row that repeats the text of an earlier row; returns the earlier row, then the repeating row.
pub(super) fn find_repeated_text(columns: &VocabColumns) -> Option<(usize, usize)> {
    let mut texts = TextIndex::new(columns);
    (0..columns.ids.len()).find_map(|row| texts.insert(row).map(|first| (first, row)))
}

#[cfg(test)]
mod tests {
    use super::super::{empty_columns, push_row};
    use super::*;
    use crate::spec::Kind;

    #[test]
    fn first_repeated_text_is_found() {
        let mut columns = empty_columns();
        assert_eq!(find_repeated_text(&columns), None);
        for number in 0..1000u32 {
            push_row(&mut columns, number.to_string().as_bytes(), number, 0.0, Kind::Normal).unwrap();
        }
        assert_eq!(find_repeated_text(&columns), None);
        push_row(&mut columns, b"77", 1000, 0.0, Kind::Normal).unwrap();
        push_row(&mut columns, b"5", 1001, 0.0, Kind::Normal).unwrap();
        assert_eq!(find_repeated_text(&columns), Some((77, 1000)));
    }
}
