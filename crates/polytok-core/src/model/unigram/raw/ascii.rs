//! Splits ASCII text into runs before normalization, a block of 64 bytes at a time.
//!
//! The bits of a block say where runs can end (`AsciiJoins`). A space starts the run that follows it, and a space
//! before another space is not a run. A block ends before a character that the normalizer does not copy. The two
//! characters before a character that is not ASCII stay for the scan by character, because a rule can replace the last
//! ASCII character together with the character after it.
//!
//! Known characters are words even if they are alone, because a branch on the number of characters would be
//! mispredicted.

use super::super::letters::{Letter, LetterRun, Letters, RunKind};
use super::{RawCursor, STOP_FLAGS};
use crate::boundary::ascii_joins::{BLOCK_LEN, ascii_len};

/// The number of bytes of a text that must be ASCII, so that reading a block pays.
const MIN_ASCII_BYTES: usize = 8;
/// The number of ASCII bytes before another character, or before the end of the block, whose runs are not certain: a
/// rule can replace the last byte together with the next character, and the byte before it needs its right neighbour.
const HELD_BACK: usize = 2;

impl Letters {
    /// Writes the runs of a block of ASCII text at the cursor to `runs`. Returns the number of runs, and the start of
    /// the run after them. Returns None if no run is certain, or if the text is not ASCII.
    #[inline]
    pub(super) fn fill_ascii_runs(
        &self,
        text: &[u8],
        cursor: RawCursor,
        runs: &mut [LetterRun; BLOCK_LEN],
    ) -> Option<(usize, usize)> {
        let block = &text[cursor.at..];
        let is_ascii = block.first_chunk::<MIN_ASCII_BYTES>().is_some_and(|bytes| bytes.is_ascii());
        if cursor.has_space || !is_ascii || self.ascii[block[0] as usize].has_any(STOP_FLAGS) {
            return None;
        }
        let (count, end) = match block.first_chunk() {
            Some(window) => self.block_runs(window, BLOCK_LEN + 1, cursor.at as u32, runs),
            None => {
                let mut window = [0; BLOCK_LEN + 1];
                window[..block.len()].copy_from_slice(block);
                self.block_runs(&window, block.len(), cursor.at as u32, runs)
            }
        };
        (end > 0).then_some((count, cursor.at + end))
    }

    /// Writes the runs of the first `len` bytes of a window at byte `at` of the text. Returns the number of runs, and
    /// the index of the first byte after them.
    ///
    /// A bit of `ends` follows the last byte of a run. A space is the start of the next run, which `has_space` reports,
    /// and a space before another space is written and then overwritten:
    ///
    /// ```text
    /// bytes   T h e _ _ c a t ,
    /// ends    0 0 1 1 0 0 0 1 1
    /// runs    "The"   "_" (overwritten)   "cat" with a space   ","
    /// ```
    #[inline]
    fn block_runs(
        &self,
        window: &[u8; BLOCK_LEN + 1],
        len: usize,
        at: u32,
        runs: &mut [LetterRun; BLOCK_LEN],
    ) -> (usize, usize) {
        let [block @ .., last] = window;
        let ascii_len = match ascii_len(block) {
            BLOCK_LEN => BLOCK_LEN + last.is_ascii() as usize,
            len => len,
        };
        let certain_len = ascii_len.min(len).saturating_sub(HELD_BACK);
        let mut ends = self.raw_word_pairs.ends(window, certain_len);
        let (mut start, mut count) = (0, 0);
        let mut has_space = self.ascii[window[0] as usize & 127].has_any(Letter::SPACE);
        while ends != 0 {
            let end = ends.trailing_zeros() as usize + 1;
            let next = self.ascii[window[end] as usize & 127];
            if next.has_any(STOP_FLAGS) {
                break;
            }
            let (is_single, is_before_space) = (end == start + 1, next.has_any(Letter::SPACE));
            // A space alone has the kind of U+2581.
            let kind = if is_single { self.single_kinds[window[start] as usize & 127] } else { RunKind::Word };
            runs[count] =
                LetterRun { start: at + start as u32 + has_space as u32, end: at + end as u32, kind, has_space };
            let is_repeated_space = is_single & has_space & is_before_space;
            count += !is_repeated_space as usize;
            (start, has_space) = (end, is_before_space);
            ends &= ends - 1;
        }
        (count, start)
    }
}
