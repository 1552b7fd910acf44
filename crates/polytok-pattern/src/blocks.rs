//! Applies a [`Rule`] to up to 256 characters together.
//!
//! First each character is converted to its group. For ASCII text, the groups are in eight tables of sixteen; the upper
//! half of a byte chooses the table. Other characters are looked up one by one, and the offset of each character is
//! kept. Then the test of an octet of cubes takes five table lookups, one for each character of the window, and four
//! ANDs. With AVX2, one instruction does 32 table lookups. Without AVX2 the rule is not used, because the automaton
//! alone is faster.
//!
//! A *position* is the index of a character in the block, and represents the offset before that character.

use super::classes::Classes;
use super::rule::{BEFORE, Rule, WINDOW};
use super::utf8::previous_char;

/// The number of 64-bit words of a block.
const BLOCK_WORDS: usize = 4;
/// The number of positions of a block.
const BLOCK_POSITIONS: usize = BLOCK_WORDS * 64;
/// The number of bytes of a vector.
const LANES: usize = 32;
/// The number of characters that the windows of a block cover.
const CHARS_NEEDED: usize = BLOCK_POSITIONS + WINDOW - 1;

/// The decisions for 64 positions, as two bits for each position.
#[derive(Clone, Copy, Default)]
pub(super) struct Word {
    pub(super) ends: u64,
    pub(super) unsure: u64,
}

/// The decisions of a rule for adjacent positions.
pub(super) struct Block {
    words: [Word; BLOCK_WORDS],
    len: usize,
    /// The group of each character, from the first character of the first window on.
    groups: [u8; CHARS_NEEDED + 2 * LANES],
    /// The offset of each character; if all characters are ASCII, only the offset of the first character.
    offsets: [u32; CHARS_NEEDED + 2 * LANES],
    is_ascii: bool,
}

/// Reports whether the processor can run a rule.
#[inline]
pub(super) fn is_supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

impl Block {
    pub(super) fn new() -> Block {
        Block {
            words: [Word::default(); BLOCK_WORDS],
            len: 0,
            groups: [0; CHARS_NEEDED + 2 * LANES],
            offsets: [0; CHARS_NEEDED + 2 * LANES],
            is_ascii: false,
        }
    }

    /// Applies the rule from offset `from` on; `from` must be the offset of a character. Reads at most one block; near
    /// the start or the end of the text, reads nothing.
    #[inline]
    pub(super) fn read(&mut self, rule: &Rule, classes: &Classes, text: &[u8], from: usize) {
        self.len = 0;
        let Some(start) = window_start(text, from) else { return };
        #[cfg(target_arch = "x86_64")]
        if is_supported() {
            // SAFETY: the processor has AVX2.
            unsafe { avx2::read(self, rule, classes, text, start) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (rule, classes, start);
    }

    /// Returns the number of positions that were read.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Iterates over the words from position `start` on; yields the position of the lowest bit with each word.
    #[inline]
    pub(super) fn words(&self, start: usize) -> impl Iterator<Item = (usize, Word)> + use<> {
        let (words, len) = (self.words, self.len);
        (start / 64..len.div_ceil(64)).map(move |index| {
            let first = index * 64;
            let valid = !0 >> (64 - (len - first).min(64)) & !0 << start.saturating_sub(first);
            let Word { ends, unsure } = words[index];
            (first, Word { ends: ends & valid, unsure: unsure & valid })
        })
    }

    /// Returns the position of an offset, which must be the offset of a character; None if the offset is outside the
    /// block.
    #[inline]
    pub(super) fn position(&self, offset: usize) -> Option<usize> {
        if self.len == 0 || offset < self.offset(0) || offset >= self.offset(self.len) {
            return None;
        }
        if self.is_ascii {
            return Some(offset - self.offsets[0] as usize);
        }
        Some(self.offsets[BEFORE..BEFORE + self.len].partition_point(|&at| (at as usize) < offset))
    }

    /// Returns the offset of a position; the end of the block if `position` is the length of the block.
    #[inline]
    pub(super) fn offset(&self, position: usize) -> usize {
        if self.is_ascii { self.offsets[0] as usize + position } else { self.offsets[position + BEFORE] as usize }
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

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::super::rule::{GROUPS, Octet};
    use super::*;
    use std::arch::x86_64::*;

    /// Copies a text to an array of zeros, and returns the part of the array that is read.
    #[inline]
    fn copy_padded<'p>(text: &[u8], padded: &'p mut [u8; BLOCK_POSITIONS + LANES]) -> &'p [u8] {
        padded[..text.len()].copy_from_slice(text);
        padded
    }

    /// Fills the block. `start` is the offset of the first window.
    #[target_feature(enable = "avx2")]
    pub(super) fn read(block: &mut Block, rule: &Rule, classes: &Classes, text: &[u8], start: usize) {
        let mut padded = [0; BLOCK_POSITIONS + LANES];
        block.len = (text.len() - start).saturating_sub(WINDOW - 1).min(BLOCK_POSITIONS);
        let bytes_read = if block.len == 0 { 0 } else { block.len.div_ceil(64) * 64 + LANES };
        // The loop reads whole vectors, so the end of a text is padded with zeros.
        let bytes =
            if text.len() - start < bytes_read { copy_padded(&text[start..], &mut padded) } else { &text[start..] };
        block.is_ascii = is_ascii(&bytes[..bytes_read]);
        if block.is_ascii {
            block.offsets[0] = (start + BEFORE) as u32;
            for (bytes, groups) in bytes[..bytes_read].chunks_exact(LANES).zip(block.groups.chunks_exact_mut(LANES)) {
                store(groups, ascii_groups(rule, load(bytes)));
            }
        } else {
            block.len = characters(block, rule, classes, text, start).saturating_sub(WINDOW - 1).min(BLOCK_POSITIONS);
        }
        for at in 0..block.len.div_ceil(64) {
            let word = |octets: &[Octet]| {
                let low = in_cubes(octets, &block.groups[at * 64..]) as u64;
                low | (in_cubes(octets, &block.groups[at * 64 + LANES..]) as u64) << 32
            };
            block.words[at] = Word { ends: word(&rule.ends), unsure: word(&rule.unsure) };
        }
    }

    #[target_feature(enable = "avx2")]
    fn is_ascii(bytes: &[u8]) -> bool {
        let all =
            bytes.chunks_exact(LANES).fold(_mm256_setzero_si256(), |all, bytes| _mm256_or_si256(all, load(bytes)));
        _mm256_movemask_epi8(all) == 0
    }

    /// Fills the groups and the offsets of the characters from `start` on, and returns their number.
    #[target_feature(enable = "avx2")]
    fn characters(block: &mut Block, rule: &Rule, classes: &Classes, text: &[u8], start: usize) -> usize {
        let (mut at, mut count) = (start, 0);
        let mut ascii = [0; 2 * LANES];
        while count < CHARS_NEEDED
            && let Some(bytes) = text[at..].first_chunk::<{ LANES + 3 }>()
        {
            let lanes = load(bytes);
            let wide = _mm256_movemask_epi8(lanes) as u32;
            store(&mut ascii, ascii_groups(rule, lanes));
            // Every byte that is not of the form 10xxxxxx begins a character.
            let mut start_bits = _mm256_movemask_epi8(_mm256_cmpgt_epi8(lanes, _mm256_set1_epi8(-65))) as u32;
            while start_bits != 0 {
                let offset = start_bits.trailing_zeros() as usize;
                let run = (wide >> offset).trailing_zeros().min(LANES as u32 - start_bits.trailing_zeros()) as usize;
                if run > 0 {
                    // The vector is longer than the run; the next characters overwrite the excess groups.
                    store(&mut block.groups[count..], load(&ascii[offset..]));
                    let begin = (at + offset) as u32;
                    (begin..).zip(&mut block.offsets[count..][..LANES]).for_each(|(begin, at)| *at = begin);
                    count += run;
                    start_bits &= u32::MAX.checked_shl((offset + run) as u32).unwrap_or(0);
                    continue;
                }
                let Some(&four) = bytes[offset..].first_chunk() else { break };
                block.groups[count] = rule.groups.first(classes, four);
                block.offsets[count] = (at + offset) as u32;
                count += 1;
                start_bits &= start_bits - 1;
            }
            at += LANES;
        }
        count
    }

    /// Returns a bit for each of 32 positions; the bit is set if the window of the position is in a cube. `groups`
    /// begins with the first window.
    #[target_feature(enable = "avx2")]
    fn in_cubes(octets: &[Octet], groups: &[u8]) -> u32 {
        let groups: &[u8; LANES + WINDOW - 1] = groups.first_chunk().expect("a block has room for its last windows");
        let mut all = _mm256_setzero_si256();
        for octet in octets {
            let mut cubes = _mm256_set1_epi8(-1);
            for (at, table) in octet.iter().enumerate() {
                cubes =
                    _mm256_and_si256(cubes, _mm256_shuffle_epi8(repeat_table(table), load(&groups[at..at + LANES])));
            }
            all = _mm256_or_si256(all, cubes);
        }
        !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, _mm256_setzero_si256())) as u32)
    }

    /// Returns the groups of 32 ASCII bytes.
    #[target_feature(enable = "avx2")]
    fn ascii_groups(rule: &Rule, bytes: __m256i) -> __m256i {
        let mut groups = _mm256_setzero_si256();
        for (half, table) in rule.groups.ascii.as_chunks().0.iter().enumerate() {
            // The sum is below 128 only if the upper half of the byte is `half`. In that case, the lower half of the
            // sum equals the lower half of the byte.
            let other = _mm256_xor_si256(bytes, _mm256_set1_epi8((half << 4) as i8));
            let index = _mm256_adds_epu8(other, _mm256_set1_epi8(0x70));
            groups = _mm256_or_si256(groups, _mm256_shuffle_epi8(repeat_table(table), index));
        }
        groups
    }

    #[target_feature(enable = "avx2")]
    fn repeat_table(table: &[u8; GROUPS]) -> __m256i {
        // SAFETY: the table has the 16 bytes that are read.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
    }

    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8]) -> __m256i {
        assert!(bytes.len() >= LANES);
        // SAFETY: the slice has the 32 bytes that are read.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx2")]
    fn store(bytes: &mut [u8], value: __m256i) {
        assert!(bytes.len() >= LANES);
        // SAFETY: the slice has the 32 bytes that are written.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), value) };
    }
}
