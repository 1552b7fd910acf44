//! Holds all strings that are entries or can become entries, and the longest string at each position of the words.
//!
//! Invariant: the strings are sorted as in an RWKV file, by length and then by bytes; the first 256 are the single
//! bytes. For each string, `shorter` is the longest of the other strings that is its prefix. All strings that match at
//! a position are found by following `shorter` from the longest match, without another lookup in the dictionary.

use polytok_memory::{self as memory, Collect, Grow};

use super::shares::{self, WordShare};
use crate::batch::in_threads;
use crate::error::Result;
use crate::train::words::WordCounts;
use crate::trie::Trie;

/// The value of `shorter` for a single byte, which has no shorter prefix.
pub(super) const NONE: u32 = u32::MAX;

/// All strings that are entries or can become entries. A string is identified by its index.
pub(super) struct StringPool<'a> {
    pub texts: Vec<&'a [u8]>,
    /// For each string, the index of the longest other string that is its prefix.
    pub shorter: Vec<u32>,
    /// For each string, true if it must stay an entry: the single bytes, and the entries that the caller requires.
    pub is_forced: Vec<bool>,
    /// For each byte of the words, the longest string that begins there and ends within the word.
    pub longest: Vec<u32>,
}

impl<'a> StringPool<'a> {
    pub fn new(
        words: &WordCounts,
        candidates: &[&'a [u8]],
        forced: &[&'a [u8]],
        threads: usize,
    ) -> Result<StringPool<'a>> {
        let bytes = BYTES.chunks(1);
        let mut texts: Vec<(&[u8], bool)> =
            bytes.chain(forced.iter().copied()).map(|text| (text, true)).checked_collect();
        texts.checked_extend(candidates.iter().map(|&text| (text, false)));
        texts.sort_unstable_by_key(|&(text, is_forced)| (text.len(), text, !is_forced));
        texts.dedup_by_key(|&mut (text, _)| text);
        let is_forced = texts.iter().map(|&(_, is_forced)| is_forced).checked_collect();
        let texts: Vec<&[u8]> = texts.into_iter().map(|(text, _)| text).checked_collect();
        let trie = Trie::build(texts.iter().zip(0..).map(|(&text, number)| (text, number)))?;
        let prefix = |text: &[u8]| trie.longest_prefix(text).map_or(NONE, |(_, number)| number);
        let shorter = texts.iter().map(|text| prefix(&text[..text.len() - 1])).checked_collect();
        let mut longest = memory::filled(NONE, words.text().len());
        in_threads(
            threads,
            shares::divide(words, &mut longest, 8 * threads).into_iter(),
            |WordShare { words: range, values }| {
                let base = words.range(range.start).start;
                for index in range {
                    let (word, start) = (words.word(index), words.range(index).start - base);
                    for at in 0..word.len() {
                        values[start + at] = prefix(&word[at..]);
                    }
                }
            },
        );
        Ok(StringPool { texts, shorter, is_forced, longest })
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }
}

/// Every byte value.
static BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        bytes[byte] = byte as u8;
        byte += 1;
    }
    bytes
};
