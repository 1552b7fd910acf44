//! The characters that a step leaves alone, found out block by block as they are met.
//!
//! Most text is not changed by most steps, so a step asks here first and keeps whole runs. The answer for a character must
//! not depend on its neighbours. Cost: a bit test for each character; 256 calls of the test for each block that is met.

use std::sync::OnceLock;

use super::output::Output;

const BLOCK: usize = 256;
const BLOCKS: usize = 0x11_0000 / BLOCK;

/// What is known about one step.
pub(super) struct Unchanged {
    ascii: [bool; 128],
    all_ascii: bool,
    blocks: Box<[OnceLock<[u64; BLOCK / 64]>]>,
    test: Box<dyn Fn(char) -> bool + Send + Sync>,
}

impl Unchanged {
    /// `test` says whether a character stays as it is, whatever stands beside it.
    pub(super) fn new(test: impl Fn(char) -> bool + Send + Sync + 'static) -> Unchanged {
        let ascii = std::array::from_fn(|byte| test(byte as u8 as char));
        let all_ascii = ascii == [true; 128];
        Unchanged { ascii, all_ascii, blocks: (0..BLOCKS).map(|_| OnceLock::new()).collect(), test: Box::new(test) }
    }

    fn has(&self, c: char) -> bool {
        let (block, bit) = (c as usize / BLOCK, c as usize % BLOCK);
        self.blocks[block].get_or_init(|| self.block(block))[bit / 64] >> (bit % 64) & 1 != 0
    }

    fn block(&self, block: usize) -> [u64; BLOCK / 64] {
        let mut bits = [0; BLOCK / 64];
        for bit in 0..BLOCK {
            let stays = char::from_u32((block * BLOCK + bit) as u32).is_some_and(&self.test);
            bits[bit / 64] |= (stays as u64) << (bit % 64);
        }
        bits
    }

    /// Where the run of unchanged characters at `from` ends.
    fn run(&self, text: &str, from: usize) -> usize {
        let mut at = from;
        while let Some(c) = text[at..].chars().next() {
            match c {
                '\0'..='\x7F' => match self.ascii_run(&text.as_bytes()[at..]) {
                    0 => return at,
                    len => at += len,
                },
                _ if self.has(c) => at += c.len_utf8(),
                _ => return at,
            }
        }
        at
    }

    /// The length of the unchanged ASCII characters at the start.
    fn ascii_run(&self, text: &[u8]) -> usize {
        if !self.all_ascii {
            return text.iter().take_while(|byte| byte.is_ascii() && self.ascii[**byte as usize]).count();
        }
        let mut at = 0;
        while text[at..].first_chunk::<32>().is_some_and(|some| some.is_ascii()) {
            at += 32;
        }
        at + text[at..].iter().take_while(|byte| byte.is_ascii()).count()
    }

    /// Where the run of other characters at `from` ends.
    fn other(&self, text: &str, from: usize) -> usize {
        let stays = |c: char| if c.is_ascii() { self.ascii[c as usize] } else { self.has(c) };
        text[from..].find(stays).map_or(text.len(), |len| from + len)
    }

    /// Keeps the unchanged runs of `text` and gives each stretch `from..to` between them to `rewrite`. With `and_before` a
    /// stretch takes the unchanged character before it along, which it may change after all.
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
