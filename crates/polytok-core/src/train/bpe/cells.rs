//! All words one behind the other, as symbols that merge in place.
//!
//! Every initial symbol has a cell, and there is a wall before, between and behind the words. A symbol that merging made takes the
//! cells of its parts: the first holds its id, the last holds it with [`END`], so that both neighbours of a symbol are found
//! from its place and the numbers of their cells, without links; what lies between is never the start of a symbol again.
//! So a place stands for one symbol at most, and a merge touches cells beside each other, however long the word is.

use crate::error::{Error, Result};
use crate::prefetch::prefetch;

/// Marks the last of several cells of a symbol.
const END: u32 = 1 << 31;

/// Before, between and behind words.
const WALL: u32 = u32::MAX;

/// What was the start of a symbol before it became the right half of another.
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
    /// Room for so many words of so many symbols in all.
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
                "the distinct words have more than 2^31 symbols in all: cut longer texts into words, or give less text"
                    .into(),
            ));
        }
        Ok(())
    }

    /// Bytes taken.
    pub fn memory(&self) -> usize {
        self.cells.len() * size_of::<u32>()
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Where the first word starts.
    pub const FIRST: usize = 1;

    /// Calls `pair(left, right, at, word)` for all pairs, in order, before anything is merged; `word` counts the words.
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

    /// For each cell the number of its word; that of a wall does not matter.
    pub fn words(&self) -> Vec<u32> {
        let mut word = u32::MAX;
        let number = |&cell: &u32| {
            word = word.wrapping_add(u32::from(cell == WALL));
            word
        };
        self.cells.iter().map(number).collect()
    }

    /// Asks for the memory of a place.
    #[inline]
    pub fn prefetch(&self, at: u32) {
        prefetch(&self.cells, at as usize);
    }

    /// The symbol that starts at a place; none has the id that comes back where none does.
    #[inline]
    pub fn at(&self, at: u32) -> u32 {
        self.cells[at as usize]
    }

    /// The symbol before the one at a place, where the word does not start there.
    #[inline]
    pub fn before(&self, at: u32, cells: &[u32]) -> Option<Neighbour> {
        match self.cells[at as usize - 1] {
            WALL => None,
            cell if cell & END == 0 => Some(Neighbour { id: cell, at: at - 1 }),
            cell => Some(Neighbour { id: cell & !END, at: at - cells[(cell & !END) as usize] }),
        }
    }

    /// The symbol that starts at a place that one ends before, where the word does not end there.
    #[inline]
    pub fn behind(&self, at: u32) -> Option<Neighbour> {
        let id = self.cells[at as usize];
        (id != WALL).then_some(Neighbour { id, at })
    }

    /// Puts the symbols of the word that starts at a place to `symbols`; where the next word starts.
    pub fn word(&self, start: usize, cells: &[u32], symbols: &mut Vec<u32>) -> usize {
        let mut at = start;
        while self.cells[at] != WALL {
            symbols.push(self.cells[at]);
            at += cells[self.cells[at] as usize] as usize;
        }
        at + 1
    }

    /// Where the word of a place starts.
    pub fn word_start(&self, at: u32) -> u32 {
        let before = self.cells[..at as usize].iter().rposition(|&cell| cell == WALL);
        before.map_or(0, |wall| wall as u32 + 1)
    }

    /// Makes one symbol of the two that start at `left` and `right` and end before `end`.
    #[inline]
    pub fn merge(&mut self, left: u32, right: u32, end: u32, id: u32) {
        self.cells[right as usize] = GONE;
        self.cells[left as usize] = id;
        self.cells[end as usize - 1] = id | END;
    }
}
