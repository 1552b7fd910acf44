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
pub(crate) mod cells;
pub(crate) mod forms;
mod initial;
mod learner;
pub(crate) mod pairs;
pub(crate) mod places;
pub(crate) mod queue;
mod start;
mod texts;

#[cfg(test)]
mod tests;

use super::progress::Progress;
use super::words::Words;
use crate::error::{Error, Result};
pub use alphabet::{Alphabet, alphabet};
use learner::Learner;
pub use learner::{Limits, Merge, Ties};
use start::cells;
pub use start::{Affixes, Unit};
pub use texts::Texts;

/// What is learnt: the texts of all symbols by id, the given ones first, and the merges in order.
pub struct Learnt {
    /// The texts.
    pub texts: Texts,
    /// The merges.
    pub merges: Vec<Merge>,
}

/// Learns merges over words whose symbols are among `initial`, which are the texts of the first ids; characters that are not among
/// them are left out of their words.
pub fn learn(
    words: &Words,
    initial: impl Iterator<Item = Vec<u8>>,
    unit: Unit,
    affixes: &Affixes,
    ties: Ties,
    limits: Limits,
    progress: &mut impl Progress,
) -> Result<Learnt> {
    check_sums(words)?;
    let mut texts = Texts::new(&affixes.prefix);
    for text in initial {
        texts.add(&text)?;
    }
    let cells = cells(words, &texts, unit, affixes, progress)?;
    let (count, symbols) = (|word| words.count(word), texts.len());
    let merges = match affixes.is_none() {
        true => Learner::<false>::new(cells, symbols, count, ties, limits).run(&mut texts, progress)?,
        false => Learner::<true>::new(cells, symbols, count, ties, limits).run(&mut texts, progress)?,
    };
    Ok(Learnt { texts, merges })
}

/// No count of pairs can be larger than the number of all symbols, which has to fit.
fn check_sums(words: &Words) -> Result<()> {
    let sum: u128 = words.iter().map(|(word, count)| word.len() as u128 * u128::from(count)).sum();
    if sum > i64::MAX as u128 {
        return Err(Error::Argument(
            "the words have more than 2^63 bytes by their counts: scale the counts down".into(),
        ));
    }
    Ok(())
}
