//! The characters that a step leaves alone, found out block by block as they are met.
//!
//! Most text is not changed by most steps, so a step asks here first and keeps whole runs. The answer for a character
//! must not depend on its neighbours. Cost: a bit test for each character; 256 calls of the test for each block that is
//! met.

use std::sync::OnceLock;

use super::output::Output;

const BLOCK: usize = 256;
const ALL: [u64; BLOCK / 64] = [u64::MAX; BLOCK / 64];
const BLOCKS: usize = 0x11_0000 / BLOCK;

/// The two longest runs of true; where there are fewer, one of them again, or what no ASCII character is in.
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

/// What is known about one step.
pub(super) struct Unchanged {
    ascii: [bool; 128],
    /// The two longest runs of unchanged ASCII characters: the first of each, and how many follow it.
    runs: [(u8, u8); 2],
    blocks: Box<[OnceLock<[u64; BLOCK / 64]>]>,
    test: Box<dyn Fn(char) -> bool + Send + Sync>,
}

impl Unchanged {
    /// `test` says whether a character stays as it is, whatever stands beside it.
    pub(super) fn new(test: impl Fn(char) -> bool + Send + Sync + 'static) -> Unchanged {
        let ascii = std::array::from_fn(|byte| test(byte as u8 as char));
        let runs = longest_runs(&ascii);
        Unchanged { ascii, runs, blocks: (0..BLOCKS).map(|_| OnceLock::new()).collect(), test: Box::new(test) }
    }

    /// Whether a character beyond ASCII stays as it is.
    pub(super) fn has(&self, c: char) -> bool {
        let (block, bit) = (c as usize / BLOCK, c as usize % BLOCK);
        self.bits(block)[bit / 64] >> (bit % 64) & 1 != 0
    }

    /// A bit for each character of a block.
    #[inline]
    fn bits(&self, block: usize) -> &[u64; BLOCK / 64] {
        self.blocks[block].get_or_init(|| self.block(block))
    }

    fn block(&self, block: usize) -> [u64; BLOCK / 64] {
        let mut bits = [0; BLOCK / 64];
        for bit in 0..BLOCK {
            let stays = char::from_u32((block * BLOCK + bit) as u32).is_some_and(&self.test);
            bits[bit / 64] |= (stays as u64) << (bit % 64);
        }
        bits
    }

    /// Where the run of unchanged characters at `from` ends. Mostly all characters of a block are such, which two bytes
    /// tell.
    pub(super) fn run(&self, text: &str, from: usize) -> usize {
        let (bytes, mut at) = (text.as_bytes(), from);
        let is_whole = |block: usize| *self.bits(block) == ALL;
        while at < bytes.len() {
            at += match bytes[at..] {
                [0..0x80, ..] => match self.ascii_run(&bytes[at..]) {
                    0 => return at,
                    len => len,
                },
                [lead @ 0..0xE0, ..] if is_whole((lead as usize & 0x1F) >> 2) => 2,
                [lead @ 0xE0..0xF0, next, ..] if is_whole((lead as usize & 0xF) << 4 | (next as usize & 0x3F) >> 2) => {
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

    /// The length of the unchanged ASCII characters at the start.
    fn ascii_run(&self, text: &[u8]) -> usize {
        let [(one, more), (other, others)] = self.runs;
        let is_inside = |byte: u8| (byte.wrapping_sub(one) <= more) | (byte.wrapping_sub(other) <= others);
        let mut at = 0;
        // Without a branch for each byte, so that many are looked at at once.
        while text[at..]
            .first_chunk::<32>()
            .is_some_and(|some| some.iter().fold(true, |all, &byte| all & is_inside(byte)))
        {
            at += 32;
        }
        at + text[at..].iter().take_while(|byte| byte.is_ascii() && self.ascii[**byte as usize]).count()
    }

    /// The end of the run of other characters at `from`.
    fn other(&self, text: &str, from: usize) -> usize {
        let stays = |c: char| if c.is_ascii() { self.ascii[c as usize] } else { self.has(c) };
        text[from..].find(stays).map_or(text.len(), |len| from + len)
    }

    /// Keeps the unchanged runs of `text` and gives each stretch `from..to` between them to `rewrite`. With
    /// `and_before` a stretch takes the unchanged character before it along, which it may change after all.
    pub(super) fn rewrite<O: Output>(
        &self,
        text: &str,
        out: &mut O,
        and_before: bool,
        mut rewrite: impl FnMut(usize, usize, &mut O),
    ) {
        let mut at = 0;
        while at < text.len() {
            let run = self.run(text, at);
            let before = text[at..run].chars().next_back().filter(|_| and_before && run < text.len());
            let start = run - before.map_or(0, char::len_utf8);
            if at < start {
                out.keep(text.as_bytes(), at, start);
            }
            at = self.other(text, run);
            if start < at {
                rewrite(start, at, out);
            }
        }
    }
}
