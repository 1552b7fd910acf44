//! How long symbols are, counted in initial ones, and where pairs end.
//!
//! Without affixes a symbol has one length. With them one text may be made of more or fewer initial symbols (`##` is one symbol of a word that
//! starts with it, and two elsewhere where the prefix is `##` and the text has such characters). tokenizers' `max_token_length`
//! goes by the length of each occurrence, so cells then hold forms: a symbol with a length.

use std::collections::HashMap;

use super::cells::Cells;

/// The forms of all symbols; of each just one if `MANY` is false, and its number is the symbol's.
pub struct Forms<const MANY: bool> {
    lengths: Vec<u32>,
    /// The symbol of a form; empty unless `MANY`.
    symbols: Vec<u32>,
    known: HashMap<(u32, u32), u32>,
}

impl<const MANY: bool> Forms<MANY> {
    /// So many symbols of length 1.
    pub fn of_single(symbols: usize) -> Forms<MANY> {
        let numbers = 0..if MANY { symbols as u32 } else { 0 };
        let known = numbers.clone().map(|symbol| ((symbol, 1), symbol)).collect();
        Forms { lengths: vec![1; symbols], symbols: numbers.collect(), known }
    }

    /// The lengths by form.
    #[inline]
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// The symbol of a form.
    #[inline]
    pub fn symbol(&self, form: u32) -> u32 {
        if MANY { self.symbols[form as usize] } else { form }
    }

    /// Where the right half of a pair starts and where it ends, if the pair starts at a place.
    #[inline]
    pub fn pair_at(&self, cells: &Cells, left: u32, right: u32, at: u32) -> Option<(u32, u32)> {
        let second = at + self.length_if(cells.at(at), left)?;
        Some((second, second + self.length_if(cells.at(second), right)?))
    }

    /// The length of a form, if it is one of this symbol.
    #[inline]
    fn length_if(&self, form: u32, symbol: u32) -> Option<u32> {
        let is_it = if MANY { self.symbols.get(form as usize) == Some(&symbol) } else { form == symbol };
        is_it.then(|| self.lengths[form as usize])
    }

    /// A pair is going to become a symbol.
    pub fn start(&mut self, left: u32, right: u32, symbol: u32) {
        if !MANY {
            self.lengths.resize(self.lengths.len().max(symbol as usize + 1), 1);
            self.lengths[symbol as usize] = self.lengths[left as usize] + self.lengths[right as usize];
        }
    }

    /// What two forms become where they are merged to that symbol.
    #[inline]
    pub fn joined(&mut self, left: u32, right: u32, symbol: u32) -> u32 {
        if !MANY {
            return symbol;
        }
        let length = self.lengths[left as usize] + self.lengths[right as usize];
        let Forms { lengths, symbols, known } = self;
        *known.entry((symbol, length)).or_insert_with(|| {
            lengths.push(length);
            symbols.push(symbol);
            lengths.len() as u32 - 1
        })
    }
}
