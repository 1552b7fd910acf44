//! Reads a block; `avx2` and `avx512` have the two steps that use vectors.

use super::super::classes::Classes;
use super::super::rule::{BEFORE, Octet, Rule, WINDOW};
use super::{BLOCK_WORDS, Block, WORD_LEN, Word};
use std::arch::x86_64::{_pdep_u64, _pext_u64};

/// The number of bytes that are read for a word: its positions, and the rest of a character at the last position.
const BYTES_READ: usize = WORD_LEN + 3;
/// The groups of the windows of a word.
pub(super) type WindowGroups = [u8; WORD_LEN + WINDOW - 1];

/// The kinds of 64 bytes, as a bit for each byte.
pub(super) struct ByteKinds {
    /// The first bytes of characters.
    pub(super) starts: u64,
    pub(super) non_ascii: u64,
}

/// Fills the block from its first position on. `pack` writes the groups of ASCII characters, so that the groups of the
/// characters in a word are adjacent; groups of other characters can have any value. `in_cubes` returns a bit for each
/// window; the bit is set if the window is in a cube.
///
/// # Safety
///
/// The processor must have BMI2.
// The attribute is needed: the function must be compiled for the processor features of its callers.
#[inline(always)]
pub(super) unsafe fn read(
    block: &mut Block,
    rule: &Rule,
    classes: &Classes,
    text: &[u8],
    pack: impl Fn(&[u8; WORD_LEN], &mut [u8; WORD_LEN]) -> ByteKinds,
    in_cubes: impl Fn(&[Octet], &WindowGroups) -> u64,
) {
    // The windows of the first characters begin before the block, and their decisions are never read.
    let mut groups = [0; WINDOW - 1 + BLOCK_WORDS * WORD_LEN];
    let mut starts = [0; BLOCK_WORDS];
    let mut char_counts = [0; BLOCK_WORDS];
    let mut char_count = 0;
    for index in 0..BLOCK_WORDS {
        let Some(text @ [_, ..]) = text.get(block.start + index * WORD_LEN..) else { break };
        let mut padded = [0; BYTES_READ];
        let bytes = text.first_chunk().unwrap_or_else(|| pad(text, &mut padded));
        let groups = groups[BEFORE + char_count..].first_chunk_mut().expect("the groups of a word fit");
        let kinds = pack(bytes.first_chunk().expect("a word"), groups);
        starts[index] = kinds.starts & !0 >> (WORD_LEN - text.len().min(WORD_LEN));
        // SAFETY: the processor has BMI2.
        unsafe { write_non_ascii(rule, classes, bytes, kinds.non_ascii & starts[index], starts[index], groups) };
        char_counts[index] = char_count;
        char_count += starts[index].count_ones() as usize;
        if starts[index] != 0 {
            // The window of the last character needs one more character.
            block.len = index * WORD_LEN + starts[index].ilog2() as usize;
        }
    }
    for index in 0..block.len.div_ceil(WORD_LEN).min(BLOCK_WORDS) {
        let windows = groups[char_counts[index]..].first_chunk().expect("the windows of a word fit");
        let (ends, unsure) = (in_cubes(&rule.ends, windows), in_cubes(&rule.unsure, windows));
        // SAFETY: the processor has BMI2.
        block.words[index] =
            unsafe { Word { ends: _pdep_u64(ends, starts[index]), unsure: _pdep_u64(unsure, starts[index]) } };
    }
}

/// Copies the end of a text to an array of zeros.
#[cold]
fn pad<'p>(text: &[u8], padded: &'p mut [u8; BYTES_READ]) -> &'p [u8; BYTES_READ] {
    padded[..text.len()].copy_from_slice(text);
    padded
}

/// Writes the groups of the characters that start at `leads` to their places among the groups of all characters, which
/// start at `starts`.
///
/// # Safety
///
/// The processor must have BMI2.
#[inline(always)]
unsafe fn write_non_ascii(
    rule: &Rule,
    classes: &Classes,
    bytes: &[u8; BYTES_READ],
    mut leads: u64,
    starts: u64,
    groups: &mut [u8; WORD_LEN],
) {
    // SAFETY: the processor has BMI2.
    let mut places = unsafe { _pext_u64(leads, starts) };
    while leads != 0 {
        let four = bytes[leads.trailing_zeros() as usize..].first_chunk().expect("a character fits");
        groups[places.trailing_zeros() as usize] = rule.groups.first_non_ascii(classes, *four);
        leads &= leads - 1;
        places &= places - 1;
    }
}
