//! Learns the merges of byte-pair encoding: the pairs of symbols to merge, the most frequent pair first.
//!
//! The input is a list of words with counts; each word is a sequence of symbols. Each step merges the most frequent
//! pair of adjacent symbols to a new symbol, at every position where the pair occurs, from left to right. Overlapping
//! occurrences count separately (`aaa` has two occurrences of `aa`), as in minbpe and `tokenizers`.
//!
//! Every pair has a count and a list of *places*: the positions where the pair arose. To merge a pair, the learner
//! reads the pair's list and skips the places where the pair does not occur any more. It adds up the changes for each
//! neighbouring symbol first, so each neighbouring symbol costs only two lookups in the table of counts. A merge
//! creates only pairs that contain the new symbol. So the counts of older pairs only fall, their lists only shrink, and
//! the queue can update counts late.
//!
//! Cost: each merge of two neighbours adds at most two places, so all lists together have at most three places for each
//! symbol of the distinct words, for words of any length. Worst input: a single long word in which no pair repeats,
//! because then the lists and the table have their largest size. Counts cannot overflow, because the total number of
//! symbols is checked at the start.
//!
//! If characters have affixes (a prefix inside words, or a suffix at the end of words), two pairs can have the same
//! merged text. If a symbol with the merged text already exists, the merge uses this symbol and does not add another
//! one (as in the BpeTrainer of `tokenizers`). In this case a pair that has disappeared can arise again, and
//! occurrences of one symbol can have different lengths: see `forms`. As in `tokenizers`, a pair that arises again is
//! merged in whole words: the cost of its merge is the total length of the words that contain the pair.

mod alphabet;
mod bounds;
pub(crate) mod cells;
pub(crate) mod forms;
mod initial_pairs;
mod initial_symbols;
mod learner;
mod limited;
mod memory_spread;
pub(crate) mod pairs;
pub(crate) mod places;
pub(crate) mod queue;
pub(crate) mod rounds;
pub(crate) mod side_changes;
mod store;
pub(crate) mod stream;
mod texts;

#[cfg(test)]
mod tests;

use polytok_memory::{self as memory, Collect, Grow};

use super::counter::WordCounter;
use super::progress::{NoProgress, Progress};
use crate::error::{Error, Result};

pub use alphabet::{AlphabetOptions, alphabet};
use cells::Cells;
use initial_symbols::for_each_word;
pub use initial_symbols::{Affixes, WordUnit};
use learner::Learner;
pub(crate) use learner::StopReason;
pub use learner::{Merge, MergeLimits, TieRule};
pub(crate) use memory_spread::ItemSizes;
pub use texts::SymbolTexts;

/// The result of learning.
pub struct LearnedMerges {
    /// The texts of all symbols by id. The initial symbols have the lowest ids.
    pub texts: SymbolTexts,
    /// The merges, in the order in which they were learned.
    pub merges: Vec<Merge>,
    /// Whether learning stayed within the memory limit.
    pub within_limit: bool,
}

impl LearnedMerges {
    /// Adds a merge, reports it and returns the symbol of the pair. With `requires_new_text`, the merge is rejected
    /// with `None` if a symbol with the merged text already exists.
    fn merge(
        &mut self,
        pair: (u32, u32, u64),
        requires_new_text: bool,
        requested: usize,
        watch: &mut impl MergeObserver,
    ) -> Result<Option<u32>> {
        let ((left, right, count), symbols) = (pair, self.texts.len());
        let id = self.texts.join(left, right)?;
        if requires_new_text && (id as usize) < symbols {
            return Ok(None);
        }
        if id >= cells::MAX_SYMBOLS {
            return Err(Error::Argument(format!(
                "{id} symbols exceed the limit of {}; lower vocab_size",
                cells::MAX_SYMBOLS
            )));
        }
        let merge = Merge { left, right, id, count, symbols };
        self.merges.checked_push(merge);
        watch.on_merge(self.merges.len(), requested, merge, self.texts.get(id))?;
        Ok(Some(id))
    }

    /// Returns the number of symbols before the first merge.
    fn initial_symbols(&self) -> usize {
        self.merges.first().map_or(self.texts.len(), |merge| merge.symbols)
    }
}

/// Receives each merge after it is done.
pub trait MergeObserver: Progress {
    /// Receives merge `number` (from 1) of `total` requested merges, and the text of its symbol.
    fn on_merge(&mut self, _number: usize, _total: usize, _merge: Merge, _text: &[u8]) -> Result<()> {
        Ok(())
    }
}

impl MergeObserver for NoProgress {}

/// The options of learning.
#[derive(Clone, Debug)]
pub struct MergeRules {
    /// The unit of text that is an initial symbol: a byte or a character.
    pub unit: WordUnit,
    /// The affixes of characters.
    pub affixes: Affixes,
    /// The rule that selects one of several equally frequent pairs.
    pub ties: TieRule,
    /// The limits at which learning stops.
    pub limits: MergeLimits,
    /// The number of bytes that learning can use. It has an effect only if the words were counted within a memory limit
    /// too.
    pub usable_memory: Option<usize>,
}

/// Learns merges from words. `initial` has the texts of the initial symbols, in the order of their ids. Characters that
/// are not in `initial` are removed from words.
pub fn learn(
    words: &mut WordCounter,
    initial: impl Iterator<Item = Vec<u8>>,
    rules: &MergeRules,
    watch: &mut impl MergeObserver,
) -> Result<LearnedMerges> {
    memory::catch(|| {
        let initial: Vec<Vec<u8>> = initial.checked_collect();
        let empty_result = |within_limit| -> Result<LearnedMerges> {
            let mut texts = SymbolTexts::new(&rules.affixes.prefix);
            initial.iter().try_for_each(|text| texts.add(text).map(drop))?;
            Ok(LearnedMerges { texts, merges: Vec::new(), within_limit })
        };
        let spill = words.limit().map(|limit| limit.spill.clone());
        let Some((usable_memory, spill)) = rules.usable_memory.zip(spill) else {
            return learn_in_memory(words, empty_result(true)?, rules, watch);
        };
        match limited::learn(words, empty_result(true)?, rules, usable_memory, &*spill, watch)? {
            Some(learned) => Ok(learned),
            None => learn_in_memory(words, empty_result(false)?, rules, watch),
        }
    })
}

/// Learns with all words in memory.
fn learn_in_memory(
    words: &mut WordCounter,
    mut learned: LearnedMerges,
    rules: &MergeRules,
    watch: &mut impl MergeObserver,
) -> Result<LearnedMerges> {
    let (count, bytes) = words.sizes();
    let (mut cells, mut counts, mut sum) = (Cells::with_capacity(count, bytes), memory::with_capacity(count), 0);
    for_each_word(words, &learned.texts, rules, watch, |symbols, count| {
        counts.checked_push(count);
        sum = add_symbol_count(sum, symbols, count)?;
        cells.push(symbols.iter().copied())
    })?;
    let lengths = memory::filled(1, learned.texts.len());
    match rules.affixes.is_none() {
        true => run(Learner::<false>::new(cells, lengths, rules.ties, rules.limits), counts, &mut learned, watch)?,
        false => run(Learner::<true>::new(cells, lengths, rules.ties, rules.limits), counts, &mut learned, watch)?,
    }
    Ok(learned)
}

/// Counts all pairs, then merges pairs.
fn run<const HAS_FORMS: bool>(
    mut learner: Learner<HAS_FORMS>,
    counts: Vec<u64>,
    learned: &mut LearnedMerges,
    watch: &mut impl MergeObserver,
) -> Result<()> {
    learner.count_pairs(|word| counts[word], |_, _| true);
    drop(counts);
    learner.run(learned, watch).map(drop)
}

/// Adds the symbols of a word to the total number of symbols, which is an upper bound of the count of any pair. Returns
/// an error if the new total exceeds 63 bits.
fn add_symbol_count(sum: u64, symbols: &[u32], count: u64) -> Result<u64> {
    let sum = count.checked_mul(symbols.len() as u64).and_then(|symbols| sum.checked_add(symbols));
    sum.filter(|&sum| sum <= i64::MAX as u64).ok_or_else(|| {
        Error::Argument("the length of all words times their counts exceeds 63 bits; scale the counts down".into())
    })
}
