//! Stores all words in one array, as symbols that are merged in place.
//!
//! A cell is a number in the array. Every initial symbol has one cell. A special cell, the wall, separates words and
//! surrounds all of them. A merged symbol takes the cells of both halves: the first cell holds its id, and the last
//! cell holds its id with the bit [`END`]. So the neighbours of a symbol are found from its position and the sizes of
//! the neighbours, without links. No symbol starts at the other cells of a merged symbol any more, and a merge changes
//! only adjacent cells, in words of any length.

use polytok_memory::{self as memory, Collect, Grow};

use crate::error::{Error, Result};
use crate::prefetch::prefetch;

/// The bit that marks the last cell of a symbol of several cells.
const END: u32 = 1 << 31;

/// The value of the cells that separate and surround the words.
const WALL_CELL: u32 = u32::MAX;

/// The value that replaces the first cell of a right half after its merge.
const MERGED_CELL: u32 = u32::MAX - 1;

/// The highest number of symbols; every id is lower than this number.
pub const MAX_SYMBOLS: u32 = END - 2;

/// A symbol next to a pair: its id and the position where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    pub id: u32,
    pub at: u32,
}

/// The array of cells that holds all words.
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
        let mut cells = memory::with_capacity(words + symbols + 1);
        cells.checked_push(WALL_CELL);
        Cells { cells }
    }

    /// Adds a word.
    pub fn push(&mut self, word: impl Iterator<Item = u32>) -> Result<()> {
        self.cells.checked_extend(word);
        self.cells.checked_push(WALL_CELL);
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

    /// The position of the first word.
    pub const FIRST_POSITION: usize = 1;

    /// Calls `visit_pair(left, right, at, word)` for all pairs in order, before any merge; `word` is the index of the
    /// word that contains the pair.
    pub fn for_each_pair(&self, mut visit_pair: impl FnMut(u32, u32, u32, usize)) {
        let mut word = 0;
        for (at, cells) in self.cells.windows(2).enumerate().skip(1) {
            match (cells[0], cells[1]) {
                (WALL_CELL, _) => word += 1,
                (_, WALL_CELL) => (),
                (left, right) => visit_pair(left, right, at as u32, word),
            }
        }
    }

    /// Returns the index of the word of each cell. The indexes of walls have no meaning.
    pub fn words(&self) -> Vec<u32> {
        let mut word = u32::MAX;
        let number = |&cell: &u32| {
            word = word.wrapping_add(u32::from(cell == WALL_CELL));
            word
        };
        self.cells.iter().map(number).checked_collect()
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
            symbols.checked_push(self.cells[at]);
            at += cells[self.cells[at] as usize] as usize;
        }
        at + 1
    }

    /// Returns the start of the word that contains a position.
    pub fn word_start(&self, at: u32) -> u32 {
        let before = self.cells[..at as usize].iter().rposition(|&cell| cell == WALL_CELL);
        before.map_or(0, |wall| wall as u32 + 1)
    }

    /// Merges the symbol at `left..right` with the symbol at `right..end`.
    #[inline]
    pub fn merge(&mut self, left: u32, right: u32, end: u32, id: u32) {
        self.cells[right as usize] = MERGED_CELL;
        self.cells[left as usize] = id;
        self.cells[end as usize - 1] = id | END;
    }
}
