//! Trains SentencePiece's Unigram vocabularies. A Unigram model is a language model over pieces. Training starts from
//! many seed pieces, and prunes them down to the requested number.
//!
//! Reference: SentencePiece's `unigram::Trainer`, bit for bit, in its versions 0.2.1 and 0.2.3. Version 0.2.3 chooses
//! other seeds, estimates losses differently, and prunes once more at the end. One file per stage:
//!
//! ```text
//! sentences ──▶ cuts ──▶ suffixes ──▶ seeds ──▶ expect, prune, expect, prune … ──▶ finish
//! ```
//!
//! `sentences` counts words, `cuts` splits them into fragments, `suffixes` finds the substrings that repeat,
//! `seeds` chooses the best substrings, `expect` fits the scores, `prune` removes a quarter of the pieces, and
//! `finish` adds the characters that training has lost. The `lattice` of a word, and the `sums` over all its
//! segmentations, use the scores of the current [`pieces`].

mod cuts;
mod expect;
mod finish;
mod lanes;
mod lattice;
mod memory;
mod numeric;
pub(in crate::train) mod pieces;
mod prune;
mod replacement;
mod seeds;
mod sentence_memory;
pub mod sentences;
pub(in crate::train) mod suffixes;
mod sums;
pub(in crate::train) mod workers;

use std::borrow::BorrowMut;

use lanes::WordLane;
use numeric::ApproximationTables;
use pieces::ScoredPieces;
use polytok_memory::Collect;
use sentences::CountedSentences;
use workers::Workers;

use crate::error::Result;
use crate::spec::SentencePieceVersion;
use crate::train::counter::WordCounter;
use crate::train::progress::Progress;
use crate::train::sentencepiece::ScoredPiece;
use crate::train::sentencepiece::alphabet::{Alphabet, CharCounts};
use crate::train::sentencepiece::options::SentencePieceOptions;
use crate::train::sort_by_count;
use crate::train::words::WordCounts;

/// The options that only the Unigram trainer has.
#[derive(Clone, Debug)]
pub struct UnigramOptions {
    /// The substrings to start from, with their counts. They replace the substrings of the text.
    pub seeds: Option<WordCounts>,
    /// The number of substrings to start from. If it is 0, version 0.2.3 chooses a number that fits the size of the
    /// vocabulary.
    pub seed_size: usize,
    /// The share of the pieces that remains after one pruning.
    pub shrinking_factor: f32,
    /// The number of times that scores are fitted before each pruning.
    pub sub_iterations: usize,
    /// The number of partial sums, which is `num_threads` in the reference. It affects the last bits of the scores.
    pub lanes: usize,
    /// The number of bytes that training can use. If training needs more, it returns an error before it starts.
    pub usable_memory: Option<usize>,
}

/// Trains on the counts of [`sentences`]. Returns at most `max_pieces` pieces with their scores, the best first.
pub fn pieces(
    sentences: impl BorrowMut<WordCounter>,
    max_pieces: usize,
    options: &SentencePieceOptions,
    unigram_options: &UnigramOptions,
    progress: &mut dyn Progress,
) -> Result<Vec<ScoredPiece>> {
    polytok_memory::catch(|| {
        let mut counted = CountedSentences::new(sentences, options)?;
        let alphabet = Alphabet::choose(&counted.characters()?, options)?;
        alphabet.check_fits(max_pieces, options)?;
        let mut training_text = counted.cut(&alphabet, options, progress)?;
        let seed_size = match unigram_options.seed_size {
            0 if options.version == SentencePieceVersion::V0_2_3 => MIN_SEEDS.max(8 * options.vocab_size),
            size => size,
        };
        if let Some(usable_memory) = unigram_options.usable_memory {
            let (words, fragments) = training_text.sizes()?;
            memory::check(&words, &fragments, seed_size, usable_memory, unigram_options.lanes, options.threads)?;
        }
        let (words, fragments) = training_text.into_columns(progress)?;
        let characters = characters(&words, &alphabet, options)?;
        let mut workers = Workers { threads: options.threads, progress };
        let (texts, scores) = match &unigram_options.seeds {
            Some(list) => seeds::seeds_from_list(&characters, list, unigram_options.seed_size, options)?,
            None => seeds::find_seeds(&characters, fragments, seed_size, options, &mut workers)?,
        };
        let pieces = ScoredPieces::new(texts, scores)?;
        let lanes = lanes::build_lanes(&words, unigram_options.lanes, &pieces, &mut workers)?;
        drop(words);
        let mut training = Training { pieces, lanes, options, unigram_options, workers };
        training.run()?;
        Ok(finish::finish(&training.pieces, &alphabet, max_pieces))
    })
}

/// The lowest number of seeds that 0.2.3 chooses for a small vocabulary.
const MIN_SEEDS: usize = 100_000;

/// Returns the characters of the alphabet that occur in the words, the most frequent first. Version 0.2.1 leaves out
/// the characters of the delimiter.
fn characters(words: &WordCounts, alphabet: &Alphabet, options: &SentencePieceOptions) -> Result<Vec<(char, u64)>> {
    let delimiter =
        if options.version == SentencePieceVersion::V0_2_1 { &options.pretokenization_delimiter[..] } else { "" };
    let mut counts = CharCounts::default();
    words.iter().try_for_each(|(word, times)| counts.add(&polytok_memory::lossy(word), times))?;
    let mut chars_in_words: Vec<(char, u64)> =
        alphabet.chars.iter().map(|&(char, _)| (char, counts.count(char))).checked_collect();
    chars_in_words.retain(|&(char, count)| count > 0 && !delimiter.contains(char));
    sort_by_count(&mut chars_in_words);
    Ok(chars_in_words)
}

/// The state of training: the current pieces, and the words on which their scores are fitted.
struct Training<'a> {
    pieces: ScoredPieces,
    lanes: Vec<WordLane>,
    options: &'a SentencePieceOptions,
    unigram_options: &'a UnigramOptions,
    workers: Workers<'a>,
}

impl Training<'_> {
    /// Fits scores and prunes until the vocabulary is small enough.
    fn run(&mut self) -> Result<()> {
        let version = self.options.version;
        let desired_size = (self.options.vocab_size as f64 * 1.1) as usize;
        loop {
            self.fit_scores()?;
            if version == SentencePieceVersion::V0_2_1 && self.pieces.len() <= desired_size {
                return Ok(());
            }
            let target_size =
                desired_size.max((self.unigram_options.shrinking_factor * self.pieces.len() as f32) as usize);
            let pieces = prune::prune(&self.pieces, &self.lanes, version, target_size, &mut self.workers)?;
            self.keep(&pieces)?;
            if version == SentencePieceVersion::V0_2_3 && self.pieces.len() <= desired_size {
                return self.pieces.keep(&prune::reachable(&self.pieces)).map(drop);
            }
        }
    }

    fn fit_scores(&mut self) -> Result<()> {
        let tables = ApproximationTables::for_version(self.options.version);
        for _ in 0..self.unigram_options.sub_iterations {
            let expected = expect::expect(&self.pieces, &self.lanes, tables, &mut self.workers)?;
            self.keep(&expect::compute_new_scores(&expected))?;
        }
        Ok(())
    }

    fn keep(&mut self, pieces: &[(u32, f32)]) -> Result<()> {
        let new_ids = self.pieces.keep(pieces)?;
        lanes::renumber(&mut self.lanes, &new_ids, &mut self.workers)
    }
}
