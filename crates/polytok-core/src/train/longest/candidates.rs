//! Finds the candidates for entries: the strings that occur often enough in the words.
//!
//! A string of n characters cannot occur more often than its first n-1 characters, or than its last n-1 characters. So
//! strings are counted in the order of their lengths, and a string is counted only if both of these shorter strings are
//! frequent. A string is dropped if all its occurrences are inside occurrences of the same longer string, because the
//! longer string saves more tokens. The first bytes of multi-byte characters are candidates too: they reduce the tokens
//! of a rare character from three or four to two.
//!
//! Cost: two passes over the distinct words for each length, and a table of the strings of one length. The threads
//! share the table: each thread has some of its keys, so its size does not depend on the number of threads. Each byte
//! that is not UTF-8 counts as one character.

use hashbrown::HashTable;
use polytok_memory::{self as memory, Collect, Grow};

use super::shares::{self, WordShare};
use crate::batch::in_threads;
use crate::error::Result;
use crate::hash::hash_number;
use crate::train::progress::Progress;
use crate::train::words::WordCounts;
use crate::utf8::decode_strict;

/// The id that marks a position where no frequent string begins.
const NONE: u32 = u32::MAX;
const STAGE_NAME: &str = "finding frequent strings";

/// The conditions that a candidate must meet.
pub(super) struct CandidateLimits {
    pub min_count: u64,
    pub max_chars: usize,
    pub max_bytes: usize,
    /// True if the first bytes of characters are candidates too.
    pub starts_of_chars: bool,
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
    /// Returns an estimate of the number of tokens that the string saves.
    pub fn tokens_saved(&self) -> u64 {
        let tokens_without = if self.chars > 1 { self.chars } else { self.text.len() };
        self.count.saturating_mul(tokens_without as u64 - 1)
    }
}

/// Returns all candidates, in any order.
pub(super) fn find_candidates<'w>(
    words: &'w WordCounts,
    limits: &CandidateLimits,
    progress: &mut dyn Progress,
) -> Result<Vec<EntryCandidate<'w>>> {
    let mut ids = memory::filled(NONE, words.text().len());
    let mut frequent_strings =
        find_frequent_strings(words, &mut ids, limits, &|_, character| Some(char_number(character)));
    let mut candidates = if limits.starts_of_chars { find_starts_of_chars(words, limits) } else { Vec::new() };
    for chars in 1..=limits.max_chars {
        progress.report(STAGE_NAME, chars as u64 - 1, limits.max_chars as u64)?;
        let mut longer_counts = memory::zeroed::<u64>(frequent_strings.len());
        let next_strings = match chars < limits.max_chars && !frequent_strings.is_empty() {
            true => find_frequent_strings(words, &mut ids, limits, &|ids, character| overlap_key(ids, character.len())),
            false => Vec::new(),
        };
        for string in &next_strings {
            for part in [string.key >> 32, string.key & u64::from(u32::MAX)] {
                longer_counts[part as usize] = longer_counts[part as usize].max(string.count);
            }
        }
        let maximal_strings = frequent_strings
            .iter()
            .zip(&longer_counts)
            .filter(|(string, longer_counts)| string.count > **longer_counts);
        let texts = maximal_strings.map(|(string, _)| string.candidate(words, chars));
        candidates.checked_extend(texts.filter(|string| (2..=limits.max_bytes).contains(&string.text.len())));
        frequent_strings = next_strings;
    }
    progress.report(STAGE_NAME, limits.max_chars as u64, limits.max_chars as u64)?;
    Ok(candidates)
}

/// A frequent string: its key in the table of its length, its count, and the position of one occurrence.
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
        let len = (0..chars).fold(0, |len, _| len + first_char_len(&text[len..]));
        EntryCandidate { text: &text[..len], count: self.count, chars }
    }
}

/// Returns the length in bytes of the first character of a text.
#[inline]
fn first_char_len(text: &[u8]) -> usize {
    decode_strict(text).map_or(1, |(_, bytes)| bytes)
}

/// Converts a character, or the first bytes of a character, to a number.
#[inline]
fn char_number(character: &[u8]) -> u64 {
    character.iter().fold(1, |char_number, &byte| char_number << 8 | u64::from(byte))
}

/// Combines the ids of a string without its last character and of the string without its first character in a key of
/// the string. Returns `None` if one of these shorter strings is not frequent.
#[inline]
fn overlap_key(ids: &[u32], first_len: usize) -> Option<u64> {
    let (left, right) = (ids[0], *ids.get(first_len)?);
    (left != NONE && right != NONE).then_some(u64::from(left) << 32 | u64::from(right))
}

/// A function that returns the key of a string. The first argument has the ids from the start of the string to the end
/// of the word; the second argument is the first character of the string.
type KeyFunction = dyn Fn(&[u32], &[u8]) -> Option<u64> + Sync;

/// Counts strings by their keys, and overwrites `ids` with the indexes of the frequent strings.
fn find_frequent_strings(
    words: &WordCounts,
    ids: &mut [u32],
    limits: &CandidateLimits,
    key: &KeyFunction,
) -> Vec<FrequentString> {
    let tables = count_strings(words, ids, limits, key);
    let find = |key: u64| {
        let hash = hash_number(key, 0);
        let string = tables[table_index(hash, tables.len())].find(hash, |string| string.key == key);
        string.map_or(NONE, |string| string.id)
    };
    in_threads(
        limits.threads,
        shares::divide(words, ids, limits.threads).into_iter(),
        |WordShare { words: range, values }| {
            let base = words.range(range.start).start;
            for index in range {
                let word = words.range(index);
                let ids = &mut values[word.start - base..word.end - base];
                for_each_character(words.word(index), |at, character| {
                    ids[at] = key(&ids[at..], character).map_or(NONE, find);
                });
            }
        },
    );
    let mut frequent_strings: Vec<FrequentString> = tables.iter().flatten().copied().checked_collect();
    frequent_strings.sort_unstable_by_key(|string| string.id);
    frequent_strings
}

/// Counts strings in several tables, and keeps the frequent strings. The hash of a key selects the table.
fn count_strings(
    words: &WordCounts,
    ids: &[u32],
    limits: &CandidateLimits,
    key: &KeyFunction,
) -> Vec<HashTable<FrequentString>> {
    let mut tables: Vec<HashTable<FrequentString>> = (0..limits.threads).map(|_| HashTable::new()).checked_collect();
    in_threads(limits.threads, tables.iter_mut().enumerate(), |(share, table)| {
        for index in 0..words.len() {
            let (range, count) = (words.range(index), words.count(index));
            let ids = &ids[range.clone()];
            for_each_character(words.word(index), |at, character| {
                let Some(key) = key(&ids[at..], character) else { return };
                let hash = hash_number(key, 0);
                if table_index(hash, limits.threads) == share {
                    add_count(table, hash, FrequentString { key, count, at: range.start + at, id: NONE });
                }
            });
        }
        table.retain(|string| string.count >= limits.min_count);
    });
    tables.iter_mut().flat_map(|table| table.iter_mut()).zip(0..NONE).for_each(|(string, id)| string.id = id);
    tables
}

fn add_count(table: &mut HashTable<FrequentString>, hash: u64, new: FrequentString) {
    let has_same_key = |string: &FrequentString| string.key == new.key;
    let rehash = |string: &FrequentString| hash_number(string.key, 0);
    memory::reserve_slot(table, rehash);
    let entry = table.entry(hash, has_same_key, rehash);
    entry.and_modify(|string| string.count += new.count).or_insert(new);
}

/// Returns the index of the table for strings with this hash. Inside a table, other bits of the hash are used.
#[inline]
fn table_index(hash: u64, tables: usize) -> usize {
    ((hash >> 8 & 0xFFFF) as usize * tables) >> 16
}

/// Calls `visit(position, character)` for each character of a word.
#[inline]
fn for_each_character(word: &[u8], mut visit: impl FnMut(usize, &[u8])) {
    let mut at = 0;
    while at < word.len() {
        let len = first_char_len(&word[at..]);
        visit(at, &word[at..at + len]);
        at += len;
    }
}

/// Returns the frequent strings that are the first two or three bytes of a longer character.
fn find_starts_of_chars<'w>(words: &'w WordCounts, limits: &CandidateLimits) -> Vec<EntryCandidate<'w>> {
    let mut table = HashTable::new();
    for index in 0..words.len() {
        let (start, count) = (words.range(index).start, words.count(index));
        for_each_character(words.word(index), |at, character| {
            for part in 2..character.len() {
                let key = char_number(&character[..part]);
                add_count(
                    &mut table,
                    hash_number(key, 0),
                    FrequentString { key, count, at: start + at, id: part as u32 },
                );
            }
        });
    }
    let frequent = table.iter().filter(|string| string.count >= limits.min_count);
    let text = |string: &FrequentString| &words.text()[string.at..string.at + string.id as usize];
    frequent.map(|string| EntryCandidate { text: text(string), count: string.count, chars: 1 }).checked_collect()
}
