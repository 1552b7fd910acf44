//! Stores the texts and the lengths of symbols.

use polytok_memory::{Grow, GrowText};

use crate::error::{Error, Result};

/// The symbols by number: the characters of the alphabet, then the merged symbols.
pub struct NumberedSymbols {
    text: String,
    ends: Vec<usize>,
    /// The length of each symbol in characters.
    lengths: Vec<u32>,
    /// The number of cells of each symbol. Symbols that existed at the last call of `reset_cells` have one cell.
    cells: Vec<u32>,
}

impl NumberedSymbols {
    pub fn new(alphabet: impl Iterator<Item = char>) -> NumberedSymbols {
        let mut symbols =
            NumberedSymbols { text: String::new(), ends: Vec::new(), lengths: Vec::new(), cells: Vec::new() };
        for c in alphabet {
            symbols.text.checked_push_char(c);
            symbols.ends.checked_push(symbols.text.len());
            symbols.lengths.checked_push(1);
            symbols.cells.checked_push(1);
        }
        symbols
    }

    /// Adds a symbol of `cells` cells and returns its number.
    pub fn push(&mut self, text: &str, cells: u32) -> Result<u32> {
        let id = u32::try_from(self.ends.len())
            .ok()
            .filter(|&id| id < crate::train::bpe::cells::MAX_SYMBOLS)
            .ok_or_else(|| Error::Argument("the vocabulary would have 2^31 pieces or more; lower vocab_size".into()))?;
        self.text.checked_push_str(text);
        self.ends.checked_push(self.text.len());
        self.lengths.checked_push(text.chars().count() as u32);
        self.cells.checked_push(cells);
        Ok(id)
    }

    /// Returns the text of a symbol.
    #[inline]
    pub fn text(&self, id: u32) -> &str {
        let start = (id as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[id as usize]]
    }

    /// Returns the number of characters of a symbol.
    #[inline]
    pub fn chars(&self, id: u32) -> u32 {
        self.lengths[id as usize]
    }

    /// Returns the number of cells of every symbol.
    #[inline]
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// Sets the number of cells of every symbol to one. Must be called when words are copied to new cells.
    pub fn reset_cells(&mut self) {
        self.cells.fill(1);
    }
}
