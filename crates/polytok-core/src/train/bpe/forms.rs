//! Stores the length of each symbol (in initial symbols) and its number of cells, from which the ends of pairs follow.
//!
//! Without affixes a symbol has one length. The length and the number of cells differ if words are copied to a new
//! array after some merges, because each symbol then takes one cell. With affixes one text can consist of more or fewer
//! initial symbols (with the prefix `##`, the text `##` can be one symbol or two characters). The option
//! `max_token_length` of `tokenizers` applies to the length of each occurrence. So with affixes, cells hold forms; a
//! form is a symbol with a length.

use std::collections::HashMap;

use super::cells::Cells;

/// The forms of all symbols. If `MANY` is false, each symbol has one form, and the form's id is the symbol's id.
pub struct Forms<const MANY: bool> {
    lengths: Vec<u32>,
    cells: Vec<u32>,
    /// The symbol of a form; empty unless `MANY`.
    symbols: Vec<u32>,
    /// The form of each symbol and length. If `MANY`, the length is also the number of cells.
    form_ids: HashMap<(u32, u32), u32>,
}

impl<const MANY: bool> Forms<MANY> {
    /// Creates forms of symbols that have these lengths, each in one cell. If `MANY`, all lengths must be 1.
    pub fn new(lengths: Vec<u32>) -> Forms<MANY> {
        let numbers = 0..if MANY { lengths.len() as u32 } else { 0 };
        let form_ids = numbers.clone().map(|symbol| ((symbol, 1), symbol)).collect();
        Forms { cells: vec![1; lengths.len()], lengths, symbols: numbers.collect(), form_ids }
    }

    /// Returns the lengths by form.
    #[inline]
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Returns the numbers of cells by form.
    #[inline]
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// Returns the symbol of a form.
    #[inline]
    pub fn symbol(&self, form: u32) -> u32 {
        if MANY { self.symbols[form as usize] } else { form }
    }

    /// Returns the start and the end of the right half of a pair, if the pair starts at a position.
    #[inline]
    pub fn pair_at(&self, cells: &Cells, left: u32, right: u32, at: u32) -> Option<(u32, u32)> {
        let second = at + self.cells_if(cells.at(at), left)?;
        Some((second, second + self.cells_if(cells.at(second), right)?))
    }

    /// Returns the number of cells of a form if the form belongs to the symbol.
    #[inline]
    fn cells_if(&self, form: u32, symbol: u32) -> Option<u32> {
        let matches = if MANY { self.symbols.get(form as usize) == Some(&symbol) } else { form == symbol };
        matches.then(|| self.cells[form as usize])
    }

    /// Prepares for the merge of a pair to a symbol.
    pub fn prepare_merge(&mut self, left: u32, right: u32, symbol: u32) {
        if !MANY {
            for numbers in [&mut self.lengths, &mut self.cells] {
                numbers.resize(numbers.len().max(symbol as usize + 1), 1);
                numbers[symbol as usize] = numbers[left as usize] + numbers[right as usize];
            }
        }
    }

    /// Returns the form that results when two forms are merged to a symbol.
    #[inline]
    pub fn merge(&mut self, left: u32, right: u32, symbol: u32) -> u32 {
        if !MANY {
            return symbol;
        }
        let length = self.lengths[left as usize] + self.lengths[right as usize];
        let Forms { lengths, cells, symbols, form_ids } = self;
        *form_ids.entry((symbol, length)).or_insert_with(|| {
            lengths.push(length);
            cells.push(length);
            symbols.push(symbol);
            lengths.len() as u32 - 1
        })
    }
}
