//! Runs an [`Automaton`] over a text, piece by piece.
//!
//! For each character one cell is read, the place is written behind the candidates that wait, and the count of ends goes up by
//! as many as the cell commits. There is no branch on what was found, so nothing is mispredicted, and no character is
//! read twice: linear, whatever the text.

use super::automaton::{Automaton, GAP, MAX_LEVELS};
use super::classes::Classes;
use super::cursor::Cursor;

/// Characters between two looks at the room that is left.
const CHUNK: usize = 64;
/// Ends that a chunk can make, with those that waited before, and the candidates behind them.
const ROOM: usize = CHUNK + 2 * MAX_LEVELS;

impl Automaton {
    /// Writes the next matches to `pieces` and says how many; 0 when there are no more.
    pub(super) fn fill(&self, classes: &Classes, text: &[u8], cursor: &mut Cursor, pieces: &mut [(u32, u32)]) -> usize {
        assert!(pieces.len() >= ROOM, "room for {ROOM} pieces is needed");
        let mut count = 0;
        let mut ends = [0; ROOM];
        while count + ROOM <= pieces.len() && cursor.at <= text.len() {
            ends[..MAX_LEVELS].copy_from_slice(&cursor.waiting);
            let found = self.chunk(classes, text, cursor, &mut ends);
            cursor.waiting.copy_from_slice(&ends[found..found + MAX_LEVELS]);
            for &end in &ends[..found] {
                let (start, end, is_gap) = (cursor.from, end & !GAP, end & GAP != 0);
                pieces[count] = (start, end);
                count += !is_gap as usize;
                cursor.from = end;
            }
        }
        count
    }

    /// Reads a chunk of the text, or its end; the number of ends found. Candidates stand behind them.
    #[inline]
    fn chunk(&self, classes: &Classes, text: &[u8], cursor: &mut Cursor, ends: &mut [u32; ROOM]) -> usize {
        let (mut at, mut row, mut count) = (cursor.at, cursor.row, 0);
        let mut left = CHUNK;
        while left > 0 && at <= text.len() {
            let (class, len) = classes.at(text, at);
            let cell = self.cells[row + class as usize];
            ends[count + cell.store()] = at as u32 | cell.gap();
            count += cell.commit();
            row = cell.row();
            // The end of the text is behind the last character.
            at += if at == text.len() { 1 } else { len };
            left -= 1;
        }
        (cursor.at, cursor.row) = (at, row);
        count
    }
}
