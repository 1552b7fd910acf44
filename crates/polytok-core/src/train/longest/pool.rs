//! All strings that are or may become entries, and at each place of the words the longest of them.
//!
//! Invariant: the strings stand in the order of an RWKV file, by length and then by bytes, the 256 bytes first; so the longest
//! other string that one begins with, `shorter`, comes before it, and the strings that fit at a place are the
//! longest one there and what follows from it by `shorter`. Nothing is looked up in a dictionary again.

use super::shares::{self, Share};
use crate::batch::in_threads;
use crate::error::Result;
use crate::train::words::WordCounts;
use crate::trie::Trie;

/// What a single byte has no shorter string but.
pub(super) const NONE: u32 = u32::MAX;

/// The strings, by number.
pub(super) struct Pool<'a> {
    pub texts: Vec<&'a [u8]>,
    /// The longest other string that each begins with.
    pub shorter: Vec<u32>,
    /// Whether it stays whatever it costs: the bytes and what the caller wants.
    pub is_forced: Vec<bool>,
    /// At each byte of the words the longest string that begins there and ends in the word.
    pub longest: Vec<u32>,
}

impl<'a> Pool<'a> {
    pub fn new(words: &WordCounts, candidates: &[&'a [u8]], forced: &[&'a [u8]], threads: usize) -> Result<Pool<'a>> {
        let bytes = BYTES.chunks(1);
        let mut texts: Vec<(&[u8], bool)> = bytes.chain(forced.iter().copied()).map(|text| (text, true)).collect();
        texts.extend(candidates.iter().map(|&text| (text, false)));
        texts.sort_unstable_by_key(|&(text, is_forced)| (text.len(), text, !is_forced));
        texts.dedup_by_key(|&mut (text, _)| text);
        let is_forced = texts.iter().map(|&(_, is_forced)| is_forced).collect();
        let texts: Vec<&[u8]> = texts.into_iter().map(|(text, _)| text).collect();
        let trie = Trie::build(texts.iter().zip(0..).map(|(&text, number)| (text, number)))?;
        let prefix = |text: &[u8]| trie.longest_prefix(text).map_or(NONE, |(_, number)| number);
        let shorter = texts.iter().map(|text| prefix(&text[..text.len() - 1])).collect();
        let mut longest = vec![NONE; words.text().len()];
        in_threads(
            threads,
            shares::of(words, &mut longest, 8 * threads).into_iter(),
            |Share { words: range, values }| {
                let base = words.range(range.start).start;
                for index in range {
                    let (word, start) = (words.word(index), words.range(index).start - base);
                    for at in 0..word.len() {
                        values[start + at] = prefix(&word[at..]);
                    }
                }
            },
        );
        Ok(Pool { texts, shorter, is_forced, longest })
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }
}

/// Every byte.
static BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        bytes[byte] = byte as u8;
        byte += 1;
    }
    bytes
};
