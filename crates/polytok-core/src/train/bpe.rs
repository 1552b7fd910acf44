//! Byte-pair encoding: learns which pairs of symbols to merge, the most frequent first.
//!
//! Words are sequences of symbols with counts. In each step, the most frequent pair of adjacent symbols becomes a new
//! symbol at every place where it occurs, from left to right. Overlapping pairs all count (`aaa` has two of `aa`), as
//! in minbpe and tokenizers.
//!
//! Every pair has its count and a list of the places where it arose. A merge walks the list of its pair and skips the
//! places where the pair no longer stands. It adds up the changes on both sides by neighbour; then every neighbour
//! costs two lookups. A pair of two existing symbols never arises again, so counts and lists only shrink, and the queue
//! can be lazy.
//!
//! Cost: each merge of two neighbours adds at most two places, so all lists together have at most three places for each
//! symbol of the distinct words, however long a word is. Worst input: a single long word without equal pairs, whose
//! lists and table have their largest size. Sums cannot overflow: the number of all symbols is checked once.
//!
//! With affixes (a prefix for symbols inside words, a suffix for the last ones) two pairs can give the same text, and a
//! known text is not a new symbol (tokenizers' BpeTrainer does so). Then pairs can arise again, and occurrences of one
//! symbol can have different lengths: see [`forms`]. As in tokenizers, such pairs are merged in whole words: each costs
//! the lengths of its words.

mod alphabet;
pub(crate) mod around;
mod bounds;
pub(crate) mod cells;
pub(crate) mod forms;
mod initial;
mod learner;
mod limited;
pub(crate) mod pairs;
pub(crate) mod passes;
pub(crate) mod places;
pub(crate) mod queue;
pub(crate) mod rounds;
mod spread;
mod start;
mod store;
mod texts;

#[cfg(test)]
mod tests;

use super::counter::WordCounter;
use super::progress::{NoProgress, Progress};
use crate::error::{Error, Result};
pub use alphabet::{AlphabetOptions, alphabet};
use cells::Cells;
use learner::Learner;
pub(crate) use learner::StopReason;
pub use learner::{Merge, MergeLimits, Ties};
pub(crate) use spread::ItemSizes;
use start::each_word;
pub use start::{Affixes, WordUnit};
pub use texts::SymbolTexts;

/// The result of learning: the texts of all symbols by id, the initial ones first, and the merges in order.
pub struct LearnedMerges {
    /// The texts.
    pub texts: SymbolTexts,
    /// The merges.
    pub merges: Vec<Merge>,
    /// Whether learning stayed within the memory limit.
    pub within_limit: bool,
}

impl LearnedMerges {
    /// Adds a merge, reports it and returns the symbol of the pair. With `only_new`, a pair with a known text adds
    /// nothing and returns None.
    fn merge(
        &mut self,
        pair: (u32, u32, u64),
        only_new: bool,
        wanted: usize,
        watch: &mut impl MergeWatch,
    ) -> Result<Option<u32>> {
        let ((left, right, count), symbols) = (pair, self.texts.len());
        let id = self.texts.join(left, right)?;
        if only_new && (id as usize) < symbols {
            return Ok(None);
        }
        if id >= cells::MOST_SYMBOLS {
            return Err(Error::Argument(format!(
                "{id} symbols exceed the limit of {}; lower vocab_size",
                cells::MOST_SYMBOLS
            )));
        }
        let merge = Merge { left, right, id, count, symbols };
        self.merges.push(merge);
        watch.on_merge(self.merges.len(), wanted, merge, self.texts.get(id))?;
        Ok(Some(id))
    }

    /// The number of symbols before the first merge.
    fn initial(&self) -> usize {
        self.merges.first().map_or(self.texts.len(), |merge| merge.symbols)
    }
}

/// Receives each merge when it is done.
pub trait MergeWatch: Progress {
    /// Merge `number` (from 1) of the `of` requested ones; its symbol has this text.
    fn on_merge(&mut self, _number: usize, _of: usize, _merge: Merge, _text: &[u8]) -> Result<()> {
        Ok(())
    }
}

impl MergeWatch for NoProgress {}

/// How to learn merges.
#[derive(Clone, Debug)]
pub struct MergeRules {
    /// The initial symbols of words.
    pub unit: WordUnit,
    /// The affixes of characters.
    pub affixes: Affixes,
    /// Which of equally frequent pairs is merged first.
    pub ties: Ties,
    /// When to stop.
    pub limits: MergeLimits,
    /// The bytes that learning can take; used only if the words were counted within a limit too.
    pub room: Option<usize>,
}

/// Learns merges over words. `initial` are the texts of the first ids; characters that are not among them are omitted
/// from their words.
pub fn learn(
    words: &mut WordCounter,
    initial: impl Iterator<Item = Vec<u8>>,
    rules: &MergeRules,
    watch: &mut impl MergeWatch,
) -> Result<LearnedMerges> {
    let initial: Vec<Vec<u8>> = initial.collect();
    let start = |within_limit| -> Result<LearnedMerges> {
        let mut texts = SymbolTexts::new(&rules.affixes.prefix);
        initial.iter().try_for_each(|text| texts.add(text).map(drop))?;
        Ok(LearnedMerges { texts, merges: Vec::new(), within_limit })
    };
    let spill = words.limit().map(|limit| limit.spill.clone());
    let Some((room, spill)) = rules.room.zip(spill) else { return in_memory(words, start(true)?, rules, watch) };
    match limited::learn(words, start(true)?, rules, room, &*spill, watch)? {
        Some(learned) => Ok(learned),
        None => in_memory(words, start(false)?, rules, watch),
    }
}

/// Learns with all words in memory at once.
fn in_memory(
    words: &mut WordCounter,
    mut learned: LearnedMerges,
    rules: &MergeRules,
    watch: &mut impl MergeWatch,
) -> Result<LearnedMerges> {
    let (count, bytes) = words.sizes();
    let (mut cells, mut counts, mut sum) = (Cells::with_capacity(count, bytes), Vec::with_capacity(count), 0);
    each_word(words, &learned.texts, rules, watch, |symbols, count| {
        counts.push(count);
        sum = add(sum, symbols, count)?;
        cells.push(symbols.iter().copied())
    })?;
    let lengths = vec![1; learned.texts.len()];
    match rules.affixes.is_none() {
        true => run(Learner::<false>::new(cells, lengths, rules.ties, rules.limits), counts, &mut learned, watch)?,
        false => run(Learner::<true>::new(cells, lengths, rules.ties, rules.limits), counts, &mut learned, watch)?,
    }
    Ok(learned)
}

/// Counts all pairs, then merges.
fn run<const HAS_FORMS: bool>(
    mut learner: Learner<HAS_FORMS>,
    counts: Vec<u64>,
    learned: &mut LearnedMerges,
    watch: &mut impl MergeWatch,
) -> Result<()> {
    learner.count_pairs(|word| counts[word], |_, _| true);
    drop(counts);
    learner.run(learned, watch).map(drop)
}

/// Adds a word to the number of all symbols, which bounds every count of a pair. An error if it exceeds 63 bits.
fn add(sum: u64, symbols: &[u32], count: u64) -> Result<u64> {
    let sum = count.checked_mul(symbols.len() as u64).and_then(|symbols| sum.checked_add(symbols));
    sum.filter(|&sum| sum <= i64::MAX as u64).ok_or_else(|| {
        Error::Argument("the length of all words times their counts exceeds 63 bits; scale the counts down".into())
    })
}
