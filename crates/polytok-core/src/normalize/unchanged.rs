//! The set of the characters that a step leaves unchanged. The bits of a block of 256 characters are computed when a
//! character of this block first occurs in a text.
//!
//! Most steps leave most text unchanged, so a step uses this set to keep whole runs. Whether a character is in the set
//! must not depend on its neighbours. Cost: a bit test for each character, and 256 calls of `test` for each block.

use std::sync::OnceLock;

use super::output::Output;

/// The number of characters in a block.
const BLOCK: usize = 256;
/// The bits of a block whose characters all stay unchanged.
const ALL_UNCHANGED_BITS: [u64; BLOCK / 64] = [u64::MAX; BLOCK / 64];
/// The number of blocks in Unicode.
const BLOCK_COUNT: usize = 0x11_0000 / BLOCK;

/// Returns the two longest runs of true values, as the first byte of a run and the number of bytes after it. If there
/// is only one run, it is returned twice; if there is no run, the result contains no ASCII character.
fn longest_runs(ascii: &[bool; 128]) -> [(u8, u8); 2] {
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for byte in (0..128u8).filter(|&byte| ascii[byte as usize]) {
        match runs.last_mut() {
            Some((first, more)) if *first + *more + 1 == byte => *more += 1,
            _ => runs.push((byte, 0)),
        }
    }
    runs.sort_by_key(|&(_, more)| std::cmp::Reverse(more));
    let first = runs.first().copied().unwrap_or((0xFF, 0));
    [first, runs.get(1).copied().unwrap_or(first)]
}

/// The set of the characters that one step leaves unchanged.
pub(super) struct Unchanged {
    ascii: [bool; 128],
    /// The two longest runs of unchanged ASCII characters: the first byte of a run and the number of bytes after it.
    runs: [(u8, u8); 2],
    blocks: Box<[OnceLock<[u64; BLOCK / 64]>]>,
    test: Box<dyn Fn(char) -> bool + Send + Sync>,
}

impl Unchanged {
    /// Builds the set of the characters for which `test` returns true: they stay unchanged, whatever their neighbours
    /// are.
    pub(super) fn new(test: impl Fn(char) -> bool + Send + Sync + 'static) -> Unchanged {
        let ascii = std::array::from_fn(|byte| test(byte as u8 as char));
        let runs = longest_runs(&ascii);
        Unchanged { ascii, runs, blocks: (0..BLOCK_COUNT).map(|_| OnceLock::new()).collect(), test: Box::new(test) }
    }

    /// Reports whether a character beyond ASCII stays unchanged.
    pub(super) fn has(&self, c: char) -> bool {
        let (block, bit) = (c as usize / BLOCK, c as usize % BLOCK);
        self.bits(block)[bit / 64] >> (bit % 64) & 1 != 0
    }

    /// Returns the bits of a block, one for each character, computed at the first call for the block.
    #[inline]
    fn bits(&self, block: usize) -> &[u64; BLOCK / 64] {
        self.blocks[block].get_or_init(|| self.compute_bits(block))
    }

    fn compute_bits(&self, block: usize) -> [u64; BLOCK / 64] {
        let mut bits = [0; BLOCK / 64];
        for bit in 0..BLOCK {
            let is_unchanged = char::from_u32((block * BLOCK + bit) as u32).is_some_and(&self.test);
            bits[bit / 64] |= (is_unchanged as u64) << (bit % 64);
        }
        bits
    }

    /// Returns the end of the run of unchanged characters at `from`. In the usual case all characters of a block stay
    /// unchanged; then two bytes of a character suffice to find its block.
    pub(super) fn run_end(&self, text: &str, from: usize) -> usize {
        let (bytes, mut at) = (text.as_bytes(), from);
        let is_all_unchanged = |block: usize| *self.bits(block) == ALL_UNCHANGED_BITS;
        while at < bytes.len() {
            at += match bytes[at..] {
                [0..0x80, ..] => match self.ascii_run_len(&bytes[at..]) {
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
        let mut at = 0;
        // The test has no branch, so that the compiler can test many bytes at a time.
        while text[at..]
            .first_chunk::<32>()
            .is_some_and(|bytes| bytes.iter().fold(true, |all, &byte| all & is_inside(byte)))
        {
            at += 32;
        }
        at + text[at..].iter().take_while(|byte| byte.is_ascii() && self.ascii[**byte as usize]).count()
    }

    /// Returns the end of the run of characters at `from` that can change.
    fn changed_run_end(&self, text: &str, from: usize) -> usize {
        let is_unchanged = |c: char| if c.is_ascii() { self.ascii[c as usize] } else { self.has(c) };
        text[from..].find(is_unchanged).map_or(text.len(), |len| from + len)
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
            let run_end = self.run_end(text, at);
            let last = text[at..run_end].chars().next_back();
            let before = last.filter(|_| with_char_before && run_end < text.len());
            let start = run_end - before.map_or(0, char::len_utf8);
            if at < start {
                out.keep(text.as_bytes(), at, start);
            }
            at = self.changed_run_end(text, run_end);
            if start < at {
                rewrite(start, at, out);
            }
        }
    }
}
