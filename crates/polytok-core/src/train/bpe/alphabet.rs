//! The symbols that tokenizers' BpeTrainer (0.23.3) starts from: special tokens, characters, characters with affixes.
//!
//! Two things are left to the order of a hash table there, and so change from run to run. Characters with affixes are numbered as
//! words come, and ties go by these numbers; here they are numbered by their texts. With a limit, of characters that are
//! equally frequent any may be dropped; here the highest are.

use std::collections::{BTreeMap, BTreeSet};

use super::start::{Affixes, Unit, each_char};
use super::texts::Texts;
use crate::error::Result;
use crate::train::counter::WordCounter;

/// What the first symbols depend on besides the words.
#[derive(Clone, Debug, Default)]
pub struct Alphabet {
    /// The first entries.
    pub special: Vec<Vec<u8>>,
    /// Characters that are entries whether they occur or not; they go last where the limit is too low for all.
    pub initial: Vec<char>,
    /// How many characters are kept, the most frequent ones.
    pub limit: Option<usize>,
}

/// The texts of the first symbols, in the order of their ids.
pub fn alphabet(words: &mut WordCounter, options: &Alphabet, unit: Unit, affixes: &Affixes) -> Result<Texts> {
    let mut texts = Texts::new(&affixes.prefix);
    for text in &options.special {
        texts.add(text)?;
    }
    for c in kept(words, options, unit)? {
        texts.add(c.encode_utf8(&mut [0; 4]).as_bytes())?;
    }
    if !affixes.is_none() {
        for text in affixed(words, &texts, unit, affixes)? {
            texts.add(&text)?;
        }
    }
    Ok(texts)
}

/// The characters that the limit leaves, by code point.
fn kept(words: &mut WordCounter, options: &Alphabet, unit: Unit) -> Result<Vec<char>> {
    let mut counts: BTreeMap<char, u64> = BTreeMap::new();
    words.each_unordered(&mut |word, count| {
        each_char(word, unit, |c, _, _| {
            let sum = counts.entry(c).or_default();
            *sum = sum.saturating_add(count);
        });
        Ok(())
    })?;
    counts.extend(options.initial.iter().map(|&c| (c, u64::MAX)));
    let mut kept: Vec<(char, u64)> = counts.into_iter().collect();
    if let Some(limit) = options.limit {
        kept.sort_by_key(|&(c, count)| (std::cmp::Reverse(count), c));
        kept.truncate(limit);
        kept.sort_unstable();
    }
    Ok(kept.into_iter().map(|(c, _)| c).collect())
}

/// The texts of characters that are kept, with the affixes that they have somewhere.
fn affixed(words: &mut WordCounter, texts: &Texts, unit: Unit, affixes: &Affixes) -> Result<BTreeSet<Vec<u8>>> {
    let mut places: BTreeSet<(char, bool, bool)> = BTreeSet::new();
    words.each_unordered(&mut |word, _| {
        each_char(word, unit, |c, is_first, is_last| {
            places.insert((c, is_first, is_last));
        });
        Ok(())
    })?;
    let is_kept = |c: char| texts.find(c.encode_utf8(&mut [0; 4]).as_bytes()).is_some();
    let kept = places.into_iter().filter(|&(c, ..)| is_kept(c));
    Ok(kept.map(|(c, is_first, is_last)| affixes.applied(c, is_first, is_last)).collect())
}
