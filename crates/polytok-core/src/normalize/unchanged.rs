//! The set of the characters that a step leaves unchanged. The bits of a block of 256 characters are computed when a
//! character of this block first occurs in a text.
//!
//! Most steps leave most text unchanged, so a step uses this set to keep whole runs. Whether a character is in the set
//! must not depend on its neighbours. With AVX-512, the characters of 64 bytes are looked up together, except those
//! whose group (`group_set`) has other characters too, or is in a block that did not occur yet. Cost: a bit test for
//! each character, and 256 calls of `test` for each block.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use polytok_memory::{Collect, Grow};
use polytok_simd::SimdLevel;

use super::output::Output;
use crate::group_set::{GROUP_COUNT, GROUP_LEN};
use crate::lazy::Lazy;

/// The number of characters in a block.
const BLOCK: usize = 256;
/// The bits of a block whose characters all stay unchanged.
const ALL_UNCHANGED_BITS: [u64; BLOCK / 64] = [u64::MAX; BLOCK / 64];
/// The number of blocks in Unicode.
const BLOCK_COUNT: usize = 0x11_0000 / BLOCK;

/// A run of at least this many bytes is looked up with AVX-512.
const MIN_LONG_RUN: usize = 64;

/// Returns the two longest runs of true values, as the first byte of a run and the number of bytes after it. If there
/// is only one run, it is returned twice; if there is no run, the result contains no ASCII character.
fn longest_runs(ascii: &[bool; 128]) -> [(u8, u8); 2] {
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for byte in (0..128u8).filter(|&byte| ascii[byte as usize]) {
        match runs.last_mut() {
            Some((first, more)) if *first + *more + 1 == byte => *more += 1,
            _ => runs.checked_push((byte, 0)),
        }
    }
    runs.sort_by_key(|&(_, more)| std::cmp::Reverse(more));
    let first = runs.first().copied().unwrap_or((0xFF, 0));
    [first, runs.get(1).copied().unwrap_or(first)]
}

/// A run of unchanged characters, and the text up to the next run.
struct Run {
    /// The end of the text that is kept.
    kept_end: usize,
    /// The end of the text that can change; equal to `kept_end` if there is no such text.
    end: usize,
}

/// The set of the characters that one step leaves unchanged.
pub(super) struct Unchanged {
    ascii: [bool; 128],
    /// The two longest runs of unchanged ASCII characters: the first byte of a run and the number of bytes after it.
    runs: [(u8, u8); 2],
    blocks: Box<[Lazy<[u64; BLOCK / 64]>]>,
    /// A bit for each group whose characters are known to stay unchanged.
    unchanged_groups: [AtomicU64; GROUP_COUNT / 64],
    /// The number of blocks whose bits were computed.
    computed_blocks: AtomicUsize,
    test: Box<dyn Fn(char) -> bool + Send + Sync>,
}

impl Unchanged {
    /// Builds the set of the characters for which `test` returns true: they stay unchanged, whatever their neighbours
    /// are.
    pub(super) fn new(test: impl Fn(char) -> bool + Send + Sync + 'static) -> Unchanged {
        let ascii = std::array::from_fn(|byte| test(byte as u8 as char));
        let runs = longest_runs(&ascii);
        let blocks = (0..BLOCK_COUNT).map(|_| Lazy::default()).checked_collect().into();
        let unchanged_groups = std::array::from_fn(|_| AtomicU64::new(0));
        Unchanged { ascii, runs, blocks, unchanged_groups, computed_blocks: 0.into(), test: Box::new(test) }
    }

    /// Reports whether a character beyond ASCII stays unchanged.
    pub(super) fn has(&self, c: char) -> bool {
        let (block, bit) = (c as usize / BLOCK, c as usize % BLOCK);
        self.bits(block)[bit / 64] >> (bit % 64) & 1 != 0
    }

    /// Reports whether a character stays unchanged.
    fn stays(&self, c: char) -> bool {
        if c.is_ascii() { self.ascii[c as usize] } else { self.has(c) }
    }

    /// Returns the bits of a block, one for each character, computed at the first call for the block.
    #[inline]
    fn bits(&self, block: usize) -> &[u64; BLOCK / 64] {
        self.blocks[block].get(|| self.compute_bits(block))
    }

    fn compute_bits(&self, block: usize) -> [u64; BLOCK / 64] {
        let mut bits = [0; BLOCK / 64];
        for bit in 0..BLOCK {
            let is_unchanged = char::from_u32((block * BLOCK + bit) as u32).is_some_and(&self.test);
            bits[bit / 64] |= (is_unchanged as u64) << (bit % 64);
        }
        for (at, _) in bits.iter().enumerate().filter(|(_, bits)| **bits == u64::MAX) {
            let group = block * (BLOCK / GROUP_LEN) + at;
            if let Some(groups) = self.unchanged_groups.get(group / 64) {
                groups.fetch_or(1 << (group % 64), Ordering::Relaxed);
            }
        }
        self.computed_blocks.fetch_add(1, Ordering::Relaxed);
        bits
    }

    /// Returns the end of the run of unchanged characters at `from`.
    pub(super) fn run_end(&self, text: &str, from: usize) -> usize {
        self.run_end_at(SimdLevel::current(), text, from)
    }

    /// Implements `run_end` with the instructions of a SIMD level, which the processor must support.
    #[inline]
    fn run_end_at(&self, level: SimdLevel, text: &str, from: usize) -> usize {
        #[cfg(target_arch = "x86_64")]
        if level == SimdLevel::Avx512 && text.len() - from > MIN_LONG_RUN {
            let start_end = self.run_end_by_char(text, from, from + MIN_LONG_RUN);
            if start_end < from + MIN_LONG_RUN {
                return start_end;
            }
            // SAFETY: the processor has the instructions of the level.
            let (at, is_end) = unsafe { avx512::long_run_end(self, text, start_end) };
            return if is_end { at } else { self.run_end_by_char(text, at, text.len()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = level;
        self.run_end_by_char(text, from, text.len())
    }

    /// Returns the end of the run of unchanged characters at `from`, or the end of a character of the run at `limit` or
    /// later. In the usual case all characters of a block stay unchanged; then two bytes of a character suffice to find
    /// its block.
    fn run_end_by_char(&self, text: &str, from: usize, limit: usize) -> usize {
        let (bytes, mut at) = (text.as_bytes(), from);
        let is_all_unchanged = |block: usize| *self.bits(block) == ALL_UNCHANGED_BITS;
        while at < limit {
            at += match bytes[at..] {
                [0..0x80, ..] => match self.ascii_run_len(&bytes[at..limit]) {
                    0 => return at,
                    len => len,
                },
                [lead @ 0..0xE0, ..] if is_all_unchanged((lead as usize & 0x1F) >> 2) => 2,
                [lead @ 0xE0..0xF0, next, ..]
                    if is_all_unchanged((lead as usize & 0xF) << 4 | (next as usize & 0x3F) >> 2) =>
                {
                    3
                }
                _ => match text[at..].chars().next().filter(|&c| self.has(c)) {
                    Some(c) => c.len_utf8(),
                    None => return at,
                },
            };
        }
        at
    }

    /// Returns the length of the run of unchanged ASCII characters at the start.
    fn ascii_run_len(&self, text: &[u8]) -> usize {
        let [(first, after_first), (second, after_second)] = self.runs;
        let is_inside =
            |byte: u8| (byte.wrapping_sub(first) <= after_first) | (byte.wrapping_sub(second) <= after_second);
        let is_unchanged = |byte: u8| byte.is_ascii() && self.ascii[byte as usize];
        let mut at = 0;
        // The first test has no branch, so that the compiler can test many bytes at a time.
        while text[at..].first_chunk::<32>().is_some_and(|bytes| {
            bytes.iter().fold(true, |all, &byte| all & is_inside(byte)) || bytes.iter().all(|&byte| is_unchanged(byte))
        }) {
            at += 32;
        }
        at + text[at..].iter().take_while(|byte| is_unchanged(**byte)).count()
    }

    /// Returns the end of the run of characters at `from` that can change.
    fn changed_run_end(&self, text: &str, from: usize) -> usize {
        text[from..].find(|c| self.stays(c)).map_or(text.len(), |len| from + len)
    }

    /// Reports whether `keeps` is true for the text between each two unchanged runs. `with_char_before` is as for
    /// `rewrite`.
    pub(super) fn keeps(&self, text: &str, with_char_before: bool, keeps: impl Fn(&str) -> bool) -> bool {
        let mut at = 0;
        while at < text.len() {
            let run = self.next_run(text, at, with_char_before);
            if !keeps(&text[run.kept_end..run.end]) {
                return false;
            }
            at = run.end;
        }
        true
    }

    /// Returns the run of unchanged characters at `from`, and the changed text after it.
    fn next_run(&self, text: &str, from: usize, with_char_before: bool) -> Run {
        let run_end = self.run_end(text, from);
        let last = text[from..run_end].chars().next_back();
        let before = last.filter(|_| with_char_before && run_end < text.len());
        Run { kept_end: run_end - before.map_or(0, char::len_utf8), end: self.changed_run_end(text, run_end) }
    }

    /// Keeps the unchanged runs of `text` and calls `rewrite(from, to, out)` for the text between two runs. With
    /// `with_char_before` the range `from..to` starts with the last character of the run before it, because later
    /// characters can change that character.
    pub(super) fn rewrite<O: Output>(
        &self,
        text: &str,
        out: &mut O,
        with_char_before: bool,
        mut rewrite: impl FnMut(usize, usize, &mut O),
    ) {
        let mut at = 0;
        while at < text.len() {
            let Run { kept_end, end } = self.next_run(text, at, with_char_before);
            if at < kept_end {
                out.keep(text.as_bytes(), at, kept_end);
            }
            if kept_end < end {
                rewrite(kept_end, end, out);
            }
            at = end;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::*;
    use crate::group_set::avx512::BlockChars;
    use crate::group_set::{BLOCK_BYTES, GroupSet};
    use crate::utf8::is_continuation;

    /// Looks up whole blocks from byte `from` on. Returns the end of the run of unchanged characters and true, or the
    /// end of the last character that starts in a block and false.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(super) fn long_run_end(unchanged: &Unchanged, text: &str, from: usize) -> (usize, bool) {
        let (bytes, mut at) = (text.as_bytes(), from);
        let mut computed_blocks = unchanged.computed_blocks.load(Ordering::Relaxed);
        let mut known = known_set(unchanged);
        while let Some(block) = bytes[at..].first_chunk() {
            let chars = BlockChars::read(block);
            let mut unknown = chars.starts & !chars.in_set(&known);
            while unknown != 0 {
                let char_at = at + unknown.trailing_zeros() as usize;
                if !text[char_at..].chars().next().is_some_and(|c| unchanged.stays(c)) {
                    return (char_at, true);
                }
                unknown &= unknown - 1;
            }
            let new_count = unchanged.computed_blocks.load(Ordering::Relaxed);
            if std::mem::replace(&mut computed_blocks, new_count) != new_count {
                known = known_set(unchanged);
            }
            at += BLOCK_BYTES;
        }
        while bytes.get(at).is_some_and(|&byte| is_continuation(byte)) {
            at += 1;
        }
        (at, false)
    }

    /// Returns the characters that are known to stay unchanged.
    fn known_set(unchanged: &Unchanged) -> GroupSet {
        let mut groups = [0; GROUP_COUNT / 8];
        for (bytes, word) in groups.as_chunks_mut().0.iter_mut().zip(&unchanged.unchanged_groups) {
            *bytes = word.load(Ordering::Relaxed).to_le_bytes();
        }
        GroupSet { ascii: unchanged.ascii.map(u8::from), groups }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_end_at_the_first_changed_character(
            text in "([a-z \n]{1,40}|[世é界ж—。]{1,30}|[\u{2000}-\u{2100}]{1,3}|[a-z]{50,70}|𝔸){0,30}",
            changed in proptest::collection::vec("[Q\u{0}É中\u{200B}𝔹]", 0..3),
            at in any::<prop::sample::Index>(),
        ) {
            let mut text = text;
            for changed in changed {
                let at = at.index(text.len() + 1);
                text.insert_str((at..).find(|&at| text.is_char_boundary(at)).unwrap(), &changed);
            }
            let test = |c: char| !matches!(c, 'Q' | '\0' | 'É' | '中' | '\u{200B}' | '𝔹');
            let unchanged = Unchanged::new(test);
            for from in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
                let expected = text[from..].find(|c| !test(c)).map_or(text.len(), |len| from + len);
                for level in SimdLevel::supported() {
                    prop_assert_eq!(unchanged.run_end_at(level, &text, from), expected);
                }
            }
        }
    }
}
