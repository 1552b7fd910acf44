//! Stores the length of each symbol, in initial symbols, and its number of cells. The number of cells determines where
//! an occurrence of the symbol ends.
//!
//! Without affixes a symbol has one length. If words are copied to a new array after some merges, each symbol takes one
//! cell there, so its length and its number of cells differ. With affixes, one text can consist of different columns of
//! initial symbols: if the prefix is `##`, the text `##` can be one symbol or two characters. The option
//! `max_token_length` of `tokenizers` applies to the length of each occurrence. Therefore, with affixes, a cell holds
//! the id of a *form*: a symbol together with a length.

use std::collections::HashMap;

use polytok_memory::{self as memory, Collect, Grow, GrowMap};

use super::cells::Cells;

/// The forms (symbol and length) of all symbols. If `HAS_FORMS` is false, each symbol has one form, and the form's id
/// is the symbol's id.
pub struct SymbolForms<const HAS_FORMS: bool> {
    lengths: Vec<u32>,
    cells: Vec<u32>,
    /// The symbol of each form; empty unless `HAS_FORMS`.
    symbols: Vec<u32>,
    /// The id of the form with a symbol and a length. If `HAS_FORMS`, the length is also the number of cells.
    form_ids: HashMap<(u32, u32), u32>,
}

impl<const HAS_FORMS: bool> SymbolForms<HAS_FORMS> {
    /// Creates the forms of symbols that have these lengths and take one cell each. If `HAS_FORMS`, all lengths must be
    /// 1.
    pub fn new(lengths: Vec<u32>) -> SymbolForms<HAS_FORMS> {
        let columns = 0..if HAS_FORMS { lengths.len() as u32 } else { 0 };
        let form_ids = columns.clone().map(|symbol| ((symbol, 1), symbol));
        let (symbols, form_ids) = (columns.clone().checked_collect(), memory::map(form_ids));
        SymbolForms { cells: memory::filled(1, lengths.len()), lengths, symbols, form_ids }
    }

    /// Returns the length of each form, in initial symbols.
    #[inline]
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Returns the number of cells of each form.
    #[inline]
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// Returns the symbol of a form.
    #[inline]
    pub fn symbol(&self, form: u32) -> u32 {
        if HAS_FORMS { self.symbols[form as usize] } else { form }
    }

    /// Returns the start and the end of the right half if the pair `left`, `right` is at the position `at`.
    #[inline]
    pub fn pair_at(&self, cells: &Cells, left: u32, right: u32, at: u32) -> Option<(u32, u32)> {
        let right_start = at + self.cells_if_symbol(cells.at(at), left)?;
        Some((right_start, right_start + self.cells_if_symbol(cells.at(right_start), right)?))
    }

    /// Returns the number of cells of `form`, or `None` if it is a form of another symbol.
    #[inline]
    fn cells_if_symbol(&self, form: u32, symbol: u32) -> Option<u32> {
        let is_same_symbol = if HAS_FORMS { self.symbols.get(form as usize) == Some(&symbol) } else { form == symbol };
        is_same_symbol.then(|| self.cells[form as usize])
    }

    /// Stores the length of the symbol of a merge before the merge is applied. With `HAS_FORMS`, [`SymbolForms::merge`]
    /// does this.
    pub fn prepare_merge(&mut self, left: u32, right: u32, symbol: u32) {
        if !HAS_FORMS {
            for columns in [&mut self.lengths, &mut self.cells] {
                columns.checked_resize(columns.len().max(symbol as usize + 1), 1);
                columns[symbol as usize] = columns[left as usize] + columns[right as usize];
            }
        }
    }

    /// Returns the form of `symbol` that results from a merge of two forms.
    #[inline]
    pub fn merge(&mut self, left: u32, right: u32, symbol: u32) -> u32 {
        if !HAS_FORMS {
            return symbol;
        }
        let length = self.lengths[left as usize] + self.lengths[right as usize];
        let SymbolForms { lengths, cells, symbols, form_ids } = self;
        form_ids.reserve_entry();
        *form_ids.entry((symbol, length)).or_insert_with(|| {
            lengths.checked_push(length);
            cells.checked_push(length);
            symbols.checked_push(symbol);
            lengths.len() as u32 - 1
        })
    }
}
