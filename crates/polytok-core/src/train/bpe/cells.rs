//! All words in one array, as symbols that merge in place.
//!
//! Every initial symbol has a cell, and there is a wall before, between and after the words. A merged symbol takes the
//! cells of its parts: the first holds its id, the last holds it with [`END`]. So both neighbours of a symbol are found
//! from its place and the sizes of its neighbours, without links. The cells between never start a symbol again. So a
//! place stands for at most one symbol, and a merge touches adjacent cells, however long the word is.

use crate::error::{Error, Result};
use crate::prefetch::prefetch;

/// Marks the last of several cells of a symbol.
const END: u32 = 1 << 31;

/// Before, between and after words.
const WALL: u32 = u32::MAX;

/// The former start of a symbol that became the right half of another.
const GONE: u32 = u32::MAX - 1;

/// Ids are below this.
pub const MOST_SYMBOLS: u32 = END - 2;

/// A neighbour of a pair: its id and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    pub id: u32,
    pub at: u32,
}

/// The words.
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
    /// An empty array with capacity for `words` words that have `symbols` symbols in total.
    pub fn with_capacity(words: usize, symbols: usize) -> Cells {
        let mut cells = Vec::with_capacity(words + symbols + 1);
        cells.push(WALL);
        Cells { cells }
    }

    /// Adds a word.
    pub fn push(&mut self, word: impl Iterator<Item = u32>) -> Result<()> {
        self.cells.extend(word);
        self.cells.push(WALL);
        if self.cells.len() > END as usize {
            return Err(Error::Argument(
                "the distinct words have more than 2^31 symbols in total; use a pattern with shorter words, or give less \
                 text"
                    .into(),
            ));
        }
        Ok(())
    }

    /// Bytes of memory taken.
    pub fn memory(&self) -> usize {
        self.cells.len() * size_of::<u32>()
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// The start of the first word.
    pub const FIRST: usize = 1;

    /// Calls `pair(left, right, at, word)` for all pairs in order, before any merge; `word` is the number of the word.
    pub fn pairs(&self, mut pair: impl FnMut(u32, u32, u32, usize)) {
        let mut word = 0;
        for (at, cells) in self.cells.windows(2).enumerate().skip(1) {
            match (cells[0], cells[1]) {
                (WALL, _) => word += 1,
                (_, WALL) => (),
                (left, right) => pair(left, right, at as u32, word),
            }
        }
    }

    /// The word number of each cell; that of a wall has no meaning.
    pub fn words(&self) -> Vec<u32> {
        let mut word = u32::MAX;
        let number = |&cell: &u32| {
            word = word.wrapping_add(u32::from(cell == WALL));
            word
        };
        self.cells.iter().map(number).collect()
    }

    /// Prefetches the memory of a place.
    #[inline]
    pub fn prefetch(&self, at: u32) {
        prefetch(&self.cells, at as usize);
    }

    /// The symbol that starts at a place. If none does, the value is not the id of any symbol.
    #[inline]
    pub fn at(&self, at: u32) -> u32 {
        self.cells[at as usize]
    }

    /// The symbol before a place; None at the start of a word.
    #[inline]
    pub fn before(&self, at: u32, cells: &[u32]) -> Option<Neighbour> {
        match self.cells[at as usize - 1] {
            WALL => None,
            cell if cell & END == 0 => Some(Neighbour { id: cell, at: at - 1 }),
            cell => Some(Neighbour { id: cell & !END, at: at - cells[(cell & !END) as usize] }),
        }
    }

    /// The symbol after a place where one ends; None at the end of a word.
    #[inline]
    pub fn after(&self, at: u32) -> Option<Neighbour> {
        let id = self.cells[at as usize];
        (id != WALL).then_some(Neighbour { id, at })
    }

    /// Appends the symbols of the word that starts at a place to `symbols`. Returns the start of the next word.
    pub fn word(&self, start: usize, cells: &[u32], symbols: &mut Vec<u32>) -> usize {
        let mut at = start;
        while self.cells[at] != WALL {
            symbols.push(self.cells[at]);
            at += cells[self.cells[at] as usize] as usize;
        }
        at + 1
    }

    /// The start of the word at a place.
    pub fn word_start(&self, at: u32) -> u32 {
        let before = self.cells[..at as usize].iter().rposition(|&cell| cell == WALL);
        before.map_or(0, |wall| wall as u32 + 1)
    }

    /// Merges the two symbols that start at `left` and `right` and end before `end`.
    #[inline]
    pub fn merge(&mut self, left: u32, right: u32, end: u32, id: u32) {
        self.cells[right as usize] = GONE;
        self.cells[left as usize] = id;
        self.cells[end as usize - 1] = id | END;
    }
}
