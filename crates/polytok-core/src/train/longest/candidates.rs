//! The strings that can become entries: those that occur often enough in the words.
//!
//! A string of n characters cannot occur more often than its first n-1 and its last n-1 characters, so strings are
//! counted level by level: a string is counted only if both shorter ones are frequent. A string that always occurs
//! within one and the same string that is a character longer is dropped: the longer one does the same with fewer
//! tokens. The first bytes of long characters are candidates too: with them a rare character takes two tokens instead
//! of three or four.
//!
//! Cost: two passes over the distinct words for each length, and a table of the pairs of one level. The threads divide
//! the keys of the table among them, so its size does not grow with their number. Bytes that are not UTF-8 are
//! characters of their own.

use hashbrown::HashTable;

use super::shares::{self, WordShare};
use crate::batch::in_threads;
use crate::error::Result;
use crate::hash::hash_number;
use crate::train::progress::Progress;
use crate::train::words::WordCounts;
use crate::utf8::decode_strict;

/// Marks a place where no frequent string begins.
const NONE: u32 = u32::MAX;
const STAGE: &str = "finding frequent strings";

/// The conditions for a candidate.
pub(super) struct CandidateLimits {
    pub min_count: u64,
    pub chars: usize,
    pub bytes: usize,
    /// Whether the first bytes of characters are candidates too.
    pub parts_of_chars: bool,
    pub threads: usize,
}

/// A string and its count.
#[derive(Clone, Copy)]
pub(super) struct EntryCandidate<'w> {
    pub text: &'w [u8],
    pub count: u64,
    chars: usize,
}

impl EntryCandidate<'_> {
    /// An estimate of the tokens that it saves.
    pub fn worth(&self) -> u64 {
        let parts = if self.chars > 1 { self.chars } else { self.text.len() };
        self.count.saturating_mul(parts as u64 - 1)
    }
}

/// All candidates, in any order.
pub(super) fn candidates<'w>(
    words: &'w WordCounts,
    limits: &CandidateLimits,
    progress: &mut dyn Progress,
) -> Result<Vec<EntryCandidate<'w>>> {
    let mut ids = vec![NONE; words.text().len()];
    let mut level = next_level(words, &mut ids, limits, &|_, character| Some(number(character)));
    let mut found = if limits.parts_of_chars { parts_of_chars(words, limits) } else { Vec::new() };
    for chars in 1..=limits.chars {
        progress.report(STAGE, chars as u64 - 1, limits.chars as u64)?;
        let mut longer = vec![0; level.len()];
        let next = match chars < limits.chars && !level.is_empty() {
            true => next_level(words, &mut ids, limits, &|ids, character| pair(ids, character.len())),
            false => Vec::new(),
        };
        for string in &next {
            for part in [string.key >> 32, string.key & u64::from(u32::MAX)] {
                longer[part as usize] = longer[part as usize].max(string.count);
            }
        }
        let closed = level.iter().zip(&longer).filter(|(string, longer)| string.count > **longer);
        let texts = closed.map(|(string, _)| string.candidate(words, chars));
        found.extend(texts.filter(|string| (2..=limits.bytes).contains(&string.text.len())));
        level = next;
    }
    progress.report(STAGE, limits.chars as u64, limits.chars as u64)?;
    Ok(found)
}

/// A frequent string: its key in the table of its length, its count and one of its places.
#[derive(Clone, Copy)]
struct FrequentString {
    key: u64,
    count: u64,
    at: usize,
    id: u32,
}

impl FrequentString {
    fn candidate<'w>(&self, words: &'w WordCounts, chars: usize) -> EntryCandidate<'w> {
        let text = &words.text()[self.at..];
        let len = (0..chars).fold(0, |len, _| len + width(&text[len..]));
        EntryCandidate { text: &text[..len], count: self.count, chars }
    }
}

/// The number of bytes of the first character of a text.
#[inline]
fn width(text: &[u8]) -> usize {
    decode_strict(text).map_or(1, |(_, bytes)| bytes)
}

/// A character, or a part of one, as a number.
#[inline]
fn number(character: &[u8]) -> u64 {
    character.iter().fold(1, |number, &byte| number << 8 | u64::from(byte))
}

/// The key of two strings that overlap in all but one character each; None if either is not frequent.
#[inline]
fn pair(ids: &[u32], first: usize) -> Option<u64> {
    let (left, right) = (ids[0], *ids.get(first)?);
    (left != NONE && right != NONE).then_some(u64::from(left) << 32 | u64::from(right))
}

/// Returns the key of the string that begins at the first id. Its first character is given; the ids end with the word.
type StringKey = dyn Fn(&[u32], &[u8]) -> Option<u64> + Sync;

/// Counts strings by their keys, and overwrites the ids with the numbers of the frequent strings.
fn next_level(words: &WordCounts, ids: &mut [u32], limits: &CandidateLimits, key: &StringKey) -> Vec<FrequentString> {
    let tables = count(words, ids, limits, key);
    let find = |key: u64| {
        let hash = hash_number(key, 0);
        let found = tables[shard(hash, tables.len())].find(hash, |found| found.key == key);
        found.map_or(NONE, |found| found.id)
    };
    in_threads(
        limits.threads,
        shares::of(words, ids, limits.threads).into_iter(),
        |WordShare { words: range, values }| {
            let base = words.range(range.start).start;
            for index in range {
                let word = words.range(index);
                let ids = &mut values[word.start - base..word.end - base];
                each_character(words.word(index), |at, character| {
                    ids[at] = key(&ids[at..], character).map_or(NONE, find);
                });
            }
        },
    );
    let mut level: Vec<FrequentString> = tables.iter().flatten().copied().collect();
    level.sort_unstable_by_key(|found| found.id);
    level
}

/// The tables of frequent strings. The hash of the key selects the table.
fn count(words: &WordCounts, ids: &[u32], limits: &CandidateLimits, key: &StringKey) -> Vec<HashTable<FrequentString>> {
    let mut tables: Vec<HashTable<FrequentString>> = (0..limits.threads).map(|_| HashTable::new()).collect();
    in_threads(limits.threads, tables.iter_mut().enumerate(), |(share, table)| {
        for index in 0..words.len() {
            let (range, count) = (words.range(index), words.count(index));
            let ids = &ids[range.clone()];
            each_character(words.word(index), |at, character| {
                let Some(key) = key(&ids[at..], character) else { return };
                let hash = hash_number(key, 0);
                if shard(hash, limits.threads) == share {
                    add(table, hash, FrequentString { key, count, at: range.start + at, id: NONE });
                }
            });
        }
        table.retain(|found| found.count >= limits.min_count);
    });
    tables.iter_mut().flat_map(|table| table.iter_mut()).zip(0..NONE).for_each(|(found, id)| found.id = id);
    tables
}

fn add(table: &mut HashTable<FrequentString>, hash: u64, new: FrequentString) {
    let same = |found: &FrequentString| found.key == new.key;
    let entry = table.entry(hash, same, |found| hash_number(found.key, 0));
    entry.and_modify(|found| found.count += new.count).or_insert(new);
}

/// The number of the table for a hash; the tables themselves use the other bits.
#[inline]
fn shard(hash: u64, tables: usize) -> usize {
    ((hash >> 8 & 0xFFFF) as usize * tables) >> 16
}

/// Calls `visit(place, character)` for each character of a word.
#[inline]
fn each_character(word: &[u8], mut visit: impl FnMut(usize, &[u8])) {
    let mut at = 0;
    while at < word.len() {
        let len = width(&word[at..]);
        visit(at, &word[at..at + len]);
        at += len;
    }
}

/// The first two or three bytes of longer characters, if they are frequent.
fn parts_of_chars<'w>(words: &'w WordCounts, limits: &CandidateLimits) -> Vec<EntryCandidate<'w>> {
    let mut table = HashTable::new();
    for index in 0..words.len() {
        let (start, count) = (words.range(index).start, words.count(index));
        each_character(words.word(index), |at, character| {
            for part in 2..character.len() {
                let key = number(&character[..part]);
                add(&mut table, hash_number(key, 0), FrequentString { key, count, at: start + at, id: part as u32 });
            }
        });
    }
    let frequent = table.iter().filter(|found| found.count >= limits.min_count);
    let text = |found: &FrequentString| &words.text()[found.at..found.at + found.id as usize];
    frequent.map(|found| EntryCandidate { text: text(found), count: found.count, chars: 1 }).collect()
}
