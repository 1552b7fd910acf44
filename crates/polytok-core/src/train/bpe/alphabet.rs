//! Chooses the initial symbols as the BpeTrainer of `tokenizers` (0.23.3) does: special tokens, characters, and
//! characters with affixes.
//!
//! Two results of the reference depend on the order of a hash table and change between runs. First, the reference gives
//! ids to characters with affixes in the order of its words, and these ids decide between equally frequent pairs;
//! polytok gives these ids in the order of the texts. Second, if the number of characters is limited, the reference
//! drops an arbitrary one of several equally rare characters; polytok drops the one with the highest code point.

use std::collections::{BTreeMap, BTreeSet};

use polytok_memory::{self as memory, Collect};

use super::initial_symbols::{Affixes, WordUnit, for_each_char};
use super::texts::SymbolTexts;
use crate::error::Result;
use crate::train::counter::WordCounter;
use crate::train::sort_by_count;

/// The options for the choice of the initial symbols.
#[derive(Clone, Debug, Default)]
pub struct AlphabetOptions {
    /// The texts of the special tokens, which get the lowest ids.
    pub special_tokens: Vec<Vec<u8>>,
    /// Characters that are initial symbols even if they do not occur in the words. If `limit` is too low for all
    /// characters, the characters of this list are dropped last.
    pub initial_chars: Vec<char>,
    /// The highest number of characters; the most frequent characters are chosen.
    pub limit: Option<usize>,
}

/// Returns the texts of the initial symbols, in the order of their ids.
pub fn alphabet(
    words: &mut WordCounter,
    options: &AlphabetOptions,
    unit: WordUnit,
    affixes: &Affixes,
) -> Result<SymbolTexts> {
    let mut texts = SymbolTexts::new(&affixes.prefix);
    for text in &options.special_tokens {
        texts.add(text)?;
    }
    for c in choose_chars(words, options, unit)? {
        texts.add(c.encode_utf8(&mut [0; 4]).as_bytes())?;
    }
    if !affixes.is_none() {
        for text in texts_with_affixes(words, &texts, unit, affixes)? {
            texts.add(&text)?;
        }
    }
    Ok(texts)
}

/// Returns the most frequent characters, up to the limit, sorted by code point.
fn choose_chars(words: &mut WordCounter, options: &AlphabetOptions, unit: WordUnit) -> Result<Vec<char>> {
    let mut counts: BTreeMap<char, u64> = BTreeMap::new();
    words.each_unordered(&mut |word, count| {
        for_each_char(word, unit, |c, _, _| {
            let sum = counts.entry(c).or_default();
            *sum = sum.saturating_add(count);
        });
        Ok(())
    })?;
    counts.extend(options.initial_chars.iter().map(|&c| (c, u64::MAX)));
    let mut chars: Vec<(char, u64)> = counts.into_iter().checked_collect();
    if let Some(limit) = options.limit {
        sort_by_count(&mut chars);
        chars.truncate(limit);
        memory::sort_stably(&mut chars, |a, b| a.0.cmp(&b.0));
    }
    Ok(chars.into_iter().map(|(c, _)| c).checked_collect())
}

/// Returns each chosen character with every combination of affixes that the character has in a word.
fn texts_with_affixes(
    words: &mut WordCounter,
    texts: &SymbolTexts,
    unit: WordUnit,
    affixes: &Affixes,
) -> Result<BTreeSet<Vec<u8>>> {
    let mut char_positions: BTreeSet<(char, bool, bool)> = BTreeSet::new();
    words.each_unordered(&mut |word, _| {
        for_each_char(word, unit, |c, is_first, is_last| {
            char_positions.insert((c, is_first, is_last));
        });
        Ok(())
    })?;
    let is_chosen = |c: char| texts.find(c.encode_utf8(&mut [0; 4]).as_bytes()).is_some();
    let chosen_positions = char_positions.into_iter().filter(|&(c, ..)| is_chosen(c));
    let mut texts_with_affixes = BTreeSet::new(); // collecting would sort a vector
    texts_with_affixes.extend(chosen_positions.map(|(c, is_first, is_last)| affixes.apply(c, is_first, is_last)));
    Ok(texts_with_affixes)
}
