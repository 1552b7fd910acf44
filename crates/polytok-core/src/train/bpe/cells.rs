//! Stores all words in one array, as symbols that are merged in place.
//!
//! Every initial symbol has a cell, and there is a wall before, between and after the words. A merged symbol takes the
//! cells of both halves: the first cell holds its id, and the last cell holds its id with [`END`]. So the neighbours of
//! a symbol are found from the symbol's position and the neighbours' sizes, without links. No symbol ever starts again
//! at a cell between the first cell and the last cell. So at most one symbol has ever started at a position since the
//! words were loaded, and a merge changes adjacent cells only, for words of any length.

use crate::error::{Error, Result};
use crate::prefetch::prefetch;

/// The bit that marks the last cell of a symbol with several cells.
const END: u32 = 1 << 31;

/// The value of a cell before, between and after words.
const WALL_CELL: u32 = u32::MAX;

/// The value of the first cell of a symbol that became the right half of another symbol.
const MERGED_CELL: u32 = u32::MAX - 1;

/// The highest number of symbols; every id is lower than this number.
pub const MAX_SYMBOLS: u32 = END - 2;

/// A neighbour of a pair: the neighbour's id and start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    pub id: u32,
    pub at: u32,
}

/// All words as cells.
#[derive(Clone, Debug)]
pub struct Cells {
    cells: Vec<u32>,
}

impl Default for Cells {
    fn default() -> Cells {
        Cells::with_capacity(0, 0)
    }
}

impl Cells {
    /// Creates an empty array with capacity for `words` words that have `symbols` symbols in total.
    pub fn with_capacity(words: usize, symbols: usize) -> Cells {
        let mut cells = Vec::with_capacity(words + symbols + 1);
        cells.push(WALL_CELL);
        Cells { cells }
    }

    /// Adds a word.
    pub fn push(&mut self, word: impl Iterator<Item = u32>) -> Result<()> {
        self.cells.extend(word);
        self.cells.push(WALL_CELL);
        if self.cells.len() > END as usize {
            return Err(Error::Argument(
                "the distinct words have more than 2^31 symbols in total; use a pattern with shorter words, or give \
                 less text"
                    .into(),
            ));
        }
        Ok(())
    }

    /// Returns the number of bytes of memory.
    pub fn memory(&self) -> usize {
        self.cells.len() * size_of::<u32>()
    }

    /// Returns the number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// The start of the first word.
    pub const FIRST: usize = 1;

    /// Calls `pair(left, right, at, word)` for all pairs in order, before any merge; `word` is the index of the word
    /// that contains the pair.
    pub fn pairs(&self, mut pair: impl FnMut(u32, u32, u32, usize)) {
        let mut word = 0;
        for (at, cells) in self.cells.windows(2).enumerate().skip(1) {
            match (cells[0], cells[1]) {
                (WALL_CELL, _) => word += 1,
                (_, WALL_CELL) => (),
                (left, right) => pair(left, right, at as u32, word),
            }
        }
    }

    /// Returns for each cell the index of its word. The index of a wall has no meaning.
    pub fn words(&self) -> Vec<u32> {
        let mut word = u32::MAX;
        let number = |&cell: &u32| {
            word = word.wrapping_add(u32::from(cell == WALL_CELL));
            word
        };
        self.cells.iter().map(number).collect()
    }

    /// Prefetches the memory of a cell.
    #[inline]
    pub fn prefetch(&self, at: u32) {
        prefetch(&self.cells, at as usize);
    }

    /// Returns the symbol that starts at a position. If no symbol starts there, the value is not the id of any symbol.
    #[inline]
    pub fn at(&self, at: u32) -> u32 {
        self.cells[at as usize]
    }

    /// Returns the symbol before a position, or `None` at the start of a word.
    #[inline]
    pub fn before(&self, at: u32, cells: &[u32]) -> Option<Neighbour> {
        match self.cells[at as usize - 1] {
            WALL_CELL => None,
            cell if cell & END == 0 => Some(Neighbour { id: cell, at: at - 1 }),
            cell => Some(Neighbour { id: cell & !END, at: at - cells[(cell & !END) as usize] }),
        }
    }

    /// Returns the symbol that starts at a position where another symbol ends, or `None` at the end of a word.
    #[inline]
    pub fn after(&self, at: u32) -> Option<Neighbour> {
        let id = self.cells[at as usize];
        (id != WALL_CELL).then_some(Neighbour { id, at })
    }

    /// Appends the symbols of the word that starts at a position to `symbols`. Returns the start of the next word.
    pub fn word(&self, start: usize, cells: &[u32], symbols: &mut Vec<u32>) -> usize {
        let mut at = start;
        while self.cells[at] != WALL_CELL {
            symbols.push(self.cells[at]);
            at += cells[self.cells[at] as usize] as usize;
        }
        at + 1
    }

    /// Returns the start of the word that contains a position.
    pub fn word_start(&self, at: u32) -> u32 {
        let before = self.cells[..at as usize].iter().rposition(|&cell| cell == WALL_CELL);
        before.map_or(0, |wall| wall as u32 + 1)
    }

    /// Merges the two symbols that start at `left` and `right` and end before `end`.
    #[inline]
    pub fn merge(&mut self, left: u32, right: u32, end: u32, id: u32) {
        self.cells[right as usize] = MERGED_CELL;
        self.cells[left as usize] = id;
        self.cells[end as usize - 1] = id | END;
    }
}
