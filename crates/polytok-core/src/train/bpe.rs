//! Byte-pair encoding: which pairs of symbols to merge, the most frequent first.
//!
//! Words are sequences of symbols with counts. Again and again the most frequent pair of neighbours becomes a new symbol wherever
//! it stands, left to right. Overlapping pairs count each (`aaa` has two of `aa`), as in minbpe and tokenizers.
//!
//! Every pair has its count and a list of the places where it came to be. A merge walks the list of its pair, skips the places where the
//! pair is no more, and adds up what changes on both sides by neighbour; then every neighbour costs two lookups. A pair
//! of two symbols that are there already never comes to be again, so counts and lists only lose, and the queue may be lazy.
//!
//! Cost: each merge of two neighbours adds two places at most, so all lists together have at most three places for each symbol
//! of the distinct words, however long a word is. Worst input: a single long word without equal pairs, whose lists and
//! table are as large as they can be. Sums cannot overflow: the number of all symbols is checked once.
//!
//! With affixes (a prefix of symbols inside words, a suffix of the last ones) two pairs may give the same text, and a text that is
//! known is not a new symbol (tokenizers' BpeTrainer does so). Then pairs may come again, and occurrences of one symbol may have
//! different lengths: see [`forms`]. Such pairs are merged in whole words, as there: each costs the lengths of its words.

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
pub use alphabet::{Alphabet, alphabet};
use cells::Cells;
use learner::Learner;
pub(crate) use learner::Stop;
pub use learner::{Limits, Merge, Ties};
pub(crate) use spread::Sizes;
use start::each_word;
pub use start::{Affixes, Unit};
pub use texts::Texts;

/// What is learnt: the texts of all symbols by id, the given ones first, and the merges in order.
pub struct Learnt {
    /// The texts.
    pub texts: Texts,
    /// The merges.
    pub merges: Vec<Merge>,
    /// The memory limit, if there was one, was kept.
    pub kept_limit: bool,
}

impl Learnt {
    /// Adds a merge and tells of it: the symbol of the pair; none, and nothing is added, if only new ones are wanted and it is known.
    fn merge(
        &mut self,
        pair: (u32, u32, u64),
        only_new: bool,
        wanted: usize,
        watch: &mut impl Watch,
    ) -> Result<Option<u32>> {
        let ((left, right, count), symbols) = (pair, self.texts.len());
        let id = self.texts.join(left, right)?;
        if only_new && (id as usize) < symbols {
            return Ok(None);
        }
        if id >= cells::MOST_SYMBOLS {
            return Err(Error::Argument(format!("{id} symbols are too many")));
        }
        let merge = Merge { left, right, id, count, symbols };
        self.merges.push(merge);
        watch.merged(self.merges.len(), wanted, merge, self.texts.get(id))?;
        Ok(Some(id))
    }

    /// How many symbols there were before the first merge.
    fn initial(&self) -> usize {
        self.merges.first().map_or(self.texts.len(), |merge| merge.symbols)
    }
}

/// Is told of each merge as it is made.
pub trait Watch: Progress {
    /// The merge of this number, from 1, of so many that are wanted, made a symbol of this text.
    fn merged(&mut self, _number: usize, _of: usize, _merge: Merge, _text: &[u8]) -> Result<()> {
        Ok(())
    }
}

impl Watch for NoProgress {}

/// How merges are learnt.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What words are made of.
    pub unit: Unit,
    /// What is put to their characters.
    pub affixes: Affixes,
    /// Which of equally frequent pairs goes first.
    pub ties: Ties,
    /// When to stop.
    pub limits: Limits,
    /// How many bytes learning may take; only where the words were counted within a limit too.
    pub room: Option<usize>,
}

/// Learns merges over words whose symbols are among `initial`, which are the texts of the first ids; characters that are not among
/// them are left out of their words.
pub fn learn(
    words: &mut WordCounter,
    initial: impl Iterator<Item = Vec<u8>>,
    rules: &Rules,
    watch: &mut impl Watch,
) -> Result<Learnt> {
    let initial: Vec<Vec<u8>> = initial.collect();
    let start = |kept_limit| -> Result<Learnt> {
        let mut texts = Texts::new(&rules.affixes.prefix);
        initial.iter().try_for_each(|text| texts.add(text).map(drop))?;
        Ok(Learnt { texts, merges: Vec::new(), kept_limit })
    };
    let spill = words.limit().map(|limit| limit.spill.clone());
    let Some((room, spill)) = rules.room.zip(spill) else { return in_memory(words, start(true)?, rules, watch) };
    match limited::learn(words, start(true)?, rules, room, &*spill, watch)? {
        Some(learnt) => Ok(learnt),
        None => in_memory(words, start(false)?, rules, watch),
    }
}

/// Learns with all words in memory at once.
fn in_memory(words: &mut WordCounter, mut learnt: Learnt, rules: &Rules, watch: &mut impl Watch) -> Result<Learnt> {
    let (count, bytes) = words.sizes();
    let (mut cells, mut counts, mut sum) = (Cells::with_capacity(count, bytes), Vec::with_capacity(count), 0);
    each_word(words, &learnt.texts, rules, watch, |symbols, count| {
        counts.push(count);
        sum = add(sum, symbols, count)?;
        cells.push(symbols.iter().copied())
    })?;
    let lengths = vec![1; learnt.texts.len()];
    match rules.affixes.is_none() {
        true => run(Learner::<false>::new(cells, lengths, rules.ties, rules.limits), counts, &mut learnt, watch)?,
        false => run(Learner::<true>::new(cells, lengths, rules.ties, rules.limits), counts, &mut learnt, watch)?,
    }
    Ok(learnt)
}

/// Counts all pairs, then merges.
fn run<const HAS_FORMS: bool>(
    mut learner: Learner<HAS_FORMS>,
    counts: Vec<u64>,
    learnt: &mut Learnt,
    watch: &mut impl Watch,
) -> Result<()> {
    learner.count_pairs(|word| counts[word], |_, _| true);
    drop(counts);
    learner.run(learnt, watch).map(drop)
}

/// Adds a word to the number of all symbols. No count of pairs can be larger than that, which has to fit.
fn add(sum: u64, symbols: &[u32], count: u64) -> Result<u64> {
    let sum = count.checked_mul(symbols.len() as u64).and_then(|symbols| sum.checked_add(symbols));
    sum.filter(|&sum| sum <= i64::MAX as u64).ok_or_else(|| {
        Error::Argument("the words have more than 2^63 bytes by their counts: scale the counts down".into())
    })
}
