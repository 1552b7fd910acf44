//! How long symbols are, counted in initial ones, and how many cells they take, so where pairs end.
//!
//! Without affixes a symbol has one length. The two numbers differ where words were laid out anew after some merges, when each
//! symbol took one cell. With them one text may be made of more or fewer initial symbols (`##` is one symbol of a word that
//! starts with it, and two elsewhere where the prefix is `##` and the text has such characters). tokenizers' `max_token_length`
//! goes by the length of each occurrence, so cells then hold forms: a symbol with a length.

use std::collections::HashMap;

use super::cells::Cells;

/// The forms of all symbols; of each just one if `MANY` is false, and its number is the symbol's.
pub struct Forms<const MANY: bool> {
    lengths: Vec<u32>,
    cells: Vec<u32>,
    /// The symbol of a form; empty unless `MANY`.
    symbols: Vec<u32>,
    /// By symbol and length, which is the number of cells too if `MANY`.
    known: HashMap<(u32, u32), u32>,
}

impl<const MANY: bool> Forms<MANY> {
    /// Symbols of these lengths, each in one cell; all are 1 if `MANY`.
    pub fn new(lengths: Vec<u32>) -> Forms<MANY> {
        let numbers = 0..if MANY { lengths.len() as u32 } else { 0 };
        let known = numbers.clone().map(|symbol| ((symbol, 1), symbol)).collect();
        Forms { cells: vec![1; lengths.len()], lengths, symbols: numbers.collect(), known }
    }

    /// The lengths by form.
    #[inline]
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// The cells by form.
    #[inline]
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// The symbol of a form.
    #[inline]
    pub fn symbol(&self, form: u32) -> u32 {
        if MANY { self.symbols[form as usize] } else { form }
    }

    /// Where the right half of a pair starts and where it ends, if the pair starts at a place.
    #[inline]
    pub fn pair_at(&self, cells: &Cells, left: u32, right: u32, at: u32) -> Option<(u32, u32)> {
        let second = at + self.cells_if(cells.at(at), left)?;
        Some((second, second + self.cells_if(cells.at(second), right)?))
    }

    /// The cells of a form, if it is one of this symbol.
    #[inline]
    fn cells_if(&self, form: u32, symbol: u32) -> Option<u32> {
        let is_it = if MANY { self.symbols.get(form as usize) == Some(&symbol) } else { form == symbol };
        is_it.then(|| self.cells[form as usize])
    }

    /// A pair is going to become a symbol.
    pub fn start(&mut self, left: u32, right: u32, symbol: u32) {
        if !MANY {
            for numbers in [&mut self.lengths, &mut self.cells] {
                numbers.resize(numbers.len().max(symbol as usize + 1), 1);
                numbers[symbol as usize] = numbers[left as usize] + numbers[right as usize];
            }
        }
    }

    /// What two forms become where they are merged to that symbol.
    #[inline]
    pub fn joined(&mut self, left: u32, right: u32, symbol: u32) -> u32 {
        if !MANY {
            return symbol;
        }
        let length = self.lengths[left as usize] + self.lengths[right as usize];
        let Forms { lengths, cells, symbols, known } = self;
        *known.entry((symbol, length)).or_insert_with(|| {
            lengths.push(length);
            cells.push(length);
            symbols.push(symbol);
            lengths.len() as u32 - 1
        })
    }
}
