//! Trains the Unigram vocabularies of the package tokenizers.
//!
//! Reference: `UnigramTrainer` of tokenizers 0.23. It adds floating-point numbers in the order of a hash table, and in
//! as many parts as the machine has threads, so its scores differ from run to run in their last bits. Here the words
//! are summed in a fixed order, so the result is always the same, and one that the reference could return. The method
//! is that of SentencePiece (see `unigram`), with scores of double precision and without rules for valid pieces:
//!
//! ```text
//! words ──▶ seeds ──▶ expect, prune, expect, prune …
//! ```
//!
//! `seeds` chooses characters and repeated substrings, `lattice` has all segmentations of a word, and `prune`
//! removes the pieces that the texts need least. `pieces` stores the pieces.

mod lattice;
mod pieces;
mod prune;
mod seeds;

use crate::error::{Error, Result};
use crate::train::progress::Progress;
use crate::train::unigram::workers::Workers;
use crate::train::words::WordCounts;
use lattice::Lattice;
use pieces::Pieces;
use polytok_memory::{self as memory, Collect, Copied};

/// The options of the trainer, which are those of the reference.
#[derive(Clone, Copy, Debug)]
pub struct HuggingFaceUnigramOptions {
    /// The number of entries; training ends when at most 1.1 times as many pieces remain.
    pub vocab_size: usize,
    /// The number of characters and substrings to start from.
    pub seed_size: usize,
    /// The maximum number of characters of a piece.
    pub max_piece_length: usize,
    /// The share of the pieces that remains after one pruning.
    pub shrinking_factor: f64,
    /// The number of times that scores are fitted before each pruning.
    pub sub_iterations: usize,
    /// The number of threads, which does not affect the result.
    pub threads: usize,
}

/// The number of parts in which sums over words are computed.
const LANES: usize = 16;

/// Pieces with a lower expected count are removed.
const MIN_EXPECTED_COUNT: f64 = 0.5;

/// Returns pieces with their scores, in the order in which the reference fills the vocabulary: those that pruning
/// never considers first, then those that it would remove last.
pub fn train(
    words: &WordCounts,
    options: &HuggingFaceUnigramOptions,
    progress: &mut dyn Progress,
) -> Result<Vec<(Vec<u8>, f64)>> {
    memory::catch(|| {
        let mut workers = Workers { threads: options.threads, progress };
        let (texts, scores) = seeds::find_seeds(words, options, &mut workers)?;
        let mut training = Training { words, pieces: Pieces::new(texts, scores)?, options, workers };
        training.run()?;
        let pieces = &training.pieces;
        Ok((0..pieces.len()).map(|id| (pieces.text(id).checked_to_vec(), pieces.score(id))).checked_collect())
    })
}

/// The state of training.
struct Training<'a> {
    words: &'a WordCounts,
    pieces: Pieces,
    options: &'a HuggingFaceUnigramOptions,
    workers: Workers<'a>,
}

impl Training<'_> {
    fn run(&mut self) -> Result<()> {
        // The reference counts a piece for unknown text too.
        let most_pieces = (self.options.vocab_size.saturating_mul(11) / 10).saturating_sub(1);
        let mut len_before = usize::MAX;
        loop {
            for _ in 0..self.options.sub_iterations {
                self.fit_scores()?;
            }
            // The reference never ends if no piece can be removed.
            if self.pieces.len() <= most_pieces || self.pieces.len() == len_before {
                return Ok(());
            }
            len_before = self.pieces.len();
            let kept = prune::prune(self, most_pieces)?;
            self.pieces.keep(&kept)?;
        }
    }

    /// Computes the expected count of each piece over all segmentations, and then new scores. The scores use the
    /// digamma function instead of the logarithm, which is equivalent to a prior that favours few pieces.
    fn fit_scores(&mut self) -> Result<()> {
        let expected = self.sum("expectation", |lattice, count, expected| lattice.add_expected(count, expected))?;
        let kept = || (0..self.pieces.len()).filter(|&id| expected[id] >= MIN_EXPECTED_COUNT);
        let log = digamma(kept().fold(0.0, |sum, id| sum + expected[id]));
        let kept: Vec<(u32, f64)> = kept().map(|id| (id as u32, digamma(expected[id]) - log)).checked_collect();
        if kept.is_empty() && self.pieces.len() > 0 {
            return Err(Error::Argument("training removed all pieces; give more text".into()));
        }
        self.pieces.keep(&kept)
    }

    /// Calls `add` with the lattice and the count of each word. `add` adds to the values of pieces; the last value is
    /// that of characters that are not pieces. Returns the values.
    fn sum(&mut self, stage: &'static str, add: impl Fn(&mut Lattice, f64, &mut [f64]) + Sync) -> Result<Vec<f64>> {
        let (words, pieces) = (self.words, &self.pieces);
        let mut sums: Vec<Vec<f64>> = vec![Vec::new(); LANES];
        self.workers.run(stage, sums.iter_mut().enumerate().collect(), |(lane, values)| {
            let mut lattice = Lattice::default();
            *values = memory::zeroed(pieces.len() + 1);
            for index in (lane..words.len()).step_by(LANES) {
                lattice.fill(pieces, words.word(index));
                add(&mut lattice, words.count(index) as f64, values);
            }
        })?;
        let mut total = memory::zeroed::<f64>(pieces.len() + 1);
        for lane in sums {
            total.iter_mut().zip(&lane).for_each(|(sum, value)| *sum += value);
        }
        Ok(total)
    }
}

/// Returns the derivative of the logarithm of the gamma function.
fn digamma(mut x: f64) -> f64 {
    let mut result = 0.0;
    while x < 7.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    x -= 0.5;
    let square = 1.0 / (x * x);
    let series = [1.0 / 24.0, -7.0 / 960.0, 31.0 / 8064.0, -127.0 / 30720.0];
    result + x.ln() + series.iter().rev().fold(0.0, |sum, term| (sum + term) * square)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::progress::NoProgress;

    const OPTIONS: HuggingFaceUnigramOptions = HuggingFaceUnigramOptions {
        vocab_size: 12,
        seed_size: 1_000_000,
        max_piece_length: 16,
        shrinking_factor: 0.75,
        sub_iterations: 2,
        threads: 1,
    };

    fn trained(words: &[(&str, u64)], options: &HuggingFaceUnigramOptions) -> Vec<(String, f64)> {
        let mut counts = WordCounts::default();
        words.iter().for_each(|(word, count)| counts.push(word.as_bytes(), *count));
        let pieces = train(&counts, options, &mut NoProgress).unwrap();
        pieces.into_iter().map(|(piece, score)| (String::from_utf8(piece).unwrap(), score)).collect()
    }

    #[test]
    fn words_that_no_substring_repeats_give_characters() {
        let pieces = trained(&[("ab", 1)], &OPTIONS);
        let names: Vec<&str> = pieces.iter().map(|(piece, _)| &piece[..]).collect();
        assert_eq!(names, ["b", "a"]);
        assert!(pieces.iter().all(|(_, score)| (score + 1.0).abs() < 1e-9), "{pieces:?}");
        assert!(trained(&[], &OPTIONS).is_empty());
        assert!(trained(&[("", 3)], &OPTIONS).is_empty());
    }

    #[test]
    fn training_ends_although_no_piece_can_be_removed() {
        assert_eq!(trained(&[("abcde", 9)], &HuggingFaceUnigramOptions { vocab_size: 5, ..OPTIONS }).len(), 5);
        assert_eq!(trained(&[("ab", 9)], &HuggingFaceUnigramOptions { vocab_size: 0, ..OPTIONS }).len(), 2);
    }

    #[test]
    fn repeated_substrings_become_pieces_whatever_the_number_of_threads() {
        let words = [("lower", 5), ("lowest", 3), ("newer", 6), ("newest", 2), ("low", 9), ("new", 4)];
        let pieces = trained(&words, &OPTIONS);
        assert!(pieces.len() <= 13 && pieces.iter().any(|(piece, _)| piece.len() > 1), "{pieces:?}");
        for threads in [2, 4] {
            assert_eq!(trained(&words, &HuggingFaceUnigramOptions { threads, ..OPTIONS }), pieces);
        }
    }

    #[test]
    fn digamma_is_the_derivative_of_the_logarithm_of_the_gamma_function() {
        let euler_mascheroni = 0.577_215_664_901_532_9;
        assert!((digamma(1.0) + euler_mascheroni).abs() < 1e-9);
        assert!((digamma(2.0) - (1.0 - euler_mascheroni)).abs() < 1e-9);
        assert!((digamma(1000.0) - 6.907_255_195_648_812).abs() < 1e-12);
    }
}
