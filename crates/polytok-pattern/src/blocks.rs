//! Applies a [`Rule`] to up to 256 bytes of text together.
//!
//! First each character is converted to its group (`read`): ASCII characters by table lookups in vectors, other
//! characters one by one. The groups of adjacent characters are adjacent. Then the test of an octet of cubes takes five
//! table lookups, one for each character of the window, and four ANDs. One instruction does 64 table lookups with
//! AVX-512 (`avx512`), and 32 with AVX2 (`avx2`). Without either, the rule is not used, because the automaton alone is
//! faster.
//!
//! The decisions of a block are bits, one for each byte of the text. A *position* is the index of a byte in the block.

use polytok_simd::SimdLevel;

use super::classes::Classes;
use super::rule::{BEFORE, Rule};
use super::utf8::previous_char;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod read;
#[cfg(test)]
mod tests;

/// The number of 64-bit words of a block.
const BLOCK_WORDS: usize = 4;
/// The number of positions of a word.
const WORD_LEN: usize = u64::BITS as usize;
/// The number of pieces that `Instructions::write_pieces` writes together.
const PIECES_TOGETHER: usize = 16;

/// The vector instructions by which a rule is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instructions {
    /// AVX2 and BMI2.
    Avx2,
    /// AVX-512 with operations on bytes (BW, VBMI and VBMI2), and BMI2.
    Avx512,
}

impl Instructions {
    /// Returns the instructions of the process's SIMD level; None if a rule cannot use this level.
    #[inline]
    pub(super) fn current() -> Option<Instructions> {
        Instructions::of_level(SimdLevel::current())
    }

    /// Returns all instructions that the processor has and that a rule can use, the fastest last.
    #[cfg(test)]
    pub(super) fn of_processor() -> impl Iterator<Item = Instructions> {
        SimdLevel::supported().filter_map(Instructions::of_level)
    }

    /// Returns the instructions of a SIMD level, which the processor must support.
    #[inline]
    fn of_level(level: SimdLevel) -> Option<Instructions> {
        match level {
            SimdLevel::Portable => None,
            SimdLevel::Avx2 => Some(Instructions::Avx2),
            SimdLevel::Avx512 => Some(Instructions::Avx512),
        }
    }

    /// Writes the pieces that end at the set bits of `ends`, and returns their number. The lowest bit stands for offset
    /// `base`, and the first piece starts at `from`. `pieces` must have room for the number of pieces, rounded up to
    /// `PIECES_TOGETHER`.
    #[inline]
    pub(super) fn write_pieces(self, base: u32, ends: u64, from: u32, pieces: &mut [(u32, u32)]) -> usize {
        match self {
            // SAFETY: the processor has the instructions: `current` and `of_processor` return no others.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { avx512::write_pieces(base, ends, from, pieces) },
            _ => write_pieces(base, ends, from, pieces),
        }
    }
}

/// Reports whether the pieces of a word can be written to `room` slots.
#[inline]
pub(super) fn is_room_for(ends: u64, room: usize) -> bool {
    room >= WORD_LEN || room >= (ends.count_ones() as usize).next_multiple_of(PIECES_TOGETHER)
}

/// Implements `Instructions::write_pieces` one by one.
#[inline]
fn write_pieces(base: u32, mut ends: u64, mut from: u32, pieces: &mut [(u32, u32)]) -> usize {
    let mut count = 0;
    while ends != 0 {
        let end = base + ends.trailing_zeros();
        pieces[count] = (from, end);
        from = end;
        count += 1;
        ends &= ends - 1;
    }
    count
}

/// The decisions for 64 positions, as two bits for each position. The bits of a position inside a character are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) ends: u64,
    pub(super) unsure: u64,
}

/// The decisions of a rule for adjacent positions.
#[derive(Default)]
pub(super) struct Block {
    words: [Word; BLOCK_WORDS],
    /// The offset of the first position.
    start: usize,
    /// The first position with a decision; the characters before it only belong to its window.
    first: usize,
    /// The position after the last decision; at most `first` if the block has no decisions.
    len: usize,
}

impl Block {
    /// Applies the rule from offset `from` on; `from` must be the offset of a character. Reads at most one block; near
    /// the start or the end of the text, the block has no decisions.
    #[inline]
    pub(super) fn read(
        &mut self,
        instructions: Instructions,
        rule: &Rule,
        classes: &Classes,
        text: &[u8],
        from: usize,
    ) {
        self.len = 0;
        let Some(start) = window_start(text, from) else { return };
        (self.start, self.first) = (start, from - start);
        #[cfg(target_arch = "x86_64")]
        match instructions {
            // SAFETY: the processor has the instructions: `current` and `of_processor` return no others.
            Instructions::Avx2 => unsafe { avx2::read(self, rule, classes, text) },
            // SAFETY: as above.
            Instructions::Avx512 => unsafe { avx512::read(self, rule, classes, text) },
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (instructions, rule, classes);
    }

    /// Iterates over the words from position `start` on; yields the position of the lowest bit with each word.
    #[inline]
    pub(super) fn words(&self, start: usize) -> impl Iterator<Item = (usize, Word)> + use<> {
        let (words, len) = (self.words, self.len);
        (start / WORD_LEN..len.div_ceil(WORD_LEN)).map(move |index| {
            let first = index * WORD_LEN;
            let valid = !0 >> (WORD_LEN - (len - first).min(WORD_LEN)) & !0 << start.saturating_sub(first);
            let Word { ends, unsure } = words[index];
            (first, Word { ends: ends & valid, unsure: unsure & valid })
        })
    }

    /// Returns the position of an offset; None if the block has no decision about the offset.
    #[inline]
    pub(super) fn position(&self, offset: usize) -> Option<usize> {
        let position = offset.wrapping_sub(self.start);
        (self.first..self.len).contains(&position).then_some(position)
    }

    /// Returns the offset of a position, which is at most the position after the last decision.
    #[inline]
    pub(super) fn offset(&self, position: usize) -> usize {
        self.start + position.min(self.len)
    }

    /// Returns the offset after the last decision.
    #[inline]
    pub(super) fn end(&self) -> usize {
        self.start + self.len
    }
}

/// Returns the offset at which the window of offset `from` begins; None if the text before `from` is too short.
#[inline]
fn window_start(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    for _ in 0..BEFORE {
        at = (at > 0).then(|| previous_char(text, at))?;
    }
    Some(at)
}
