//! SentencePiece's Unigram: a language model over pieces, from many seeds down to the vocabulary.
//!
//! Reference: SentencePiece's `unigram::Trainer`, bit for bit, in its two lines 0.2.1 and 0.2.3 (which has other seeds and another prune,
//! and prunes at the end, too). One file per stage:
//!
//! ```text
//! sentences ──▶ cuts ──▶ suffixes ──▶ seeds ──▶ expect, prune, expect, prune … ──▶ finish
//! ```
//!
//! [`sentences`] counts words, [`cuts`] makes fragments of them, [`suffixes`] finds the substrings that repeat, [`seeds`] takes the best of them, [`expect`]
//! fits the scores, [`prune`] lets a quarter of the pieces go, and [`finish`] adds the characters that training has lost. The scores of
//! [`pieces`] run through the [`lattice`] of each word, or the [`sums`] over it.

mod cuts;
mod expect;
mod finish;
mod held;
mod lanes;
mod lattice;
mod memory;
mod numeric;
mod pieces;
mod prune;
mod second;
mod seeds;
pub mod sentences;
mod suffixes;
mod sums;
mod workers;

use std::borrow::BorrowMut;

use crate::error::Result;
use crate::spec::Line;
use crate::train::counter::WordCounter;
use crate::train::progress::Progress;
use crate::train::sentencepiece::Scored;
use crate::train::sentencepiece::alphabet::{Alphabet, CharCounts};
use crate::train::sentencepiece::options::Options;
use crate::train::words::WordCounts;
use lanes::Lane;
use numeric::Tables;
use pieces::Pieces;
use sentences::Counted;
use workers::Workers;

/// The options that only this trainer has.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The substrings to start from and how often they occur, instead of those of the text.
    pub seeds: Option<WordCounts>,
    /// How many substrings to start from; 0 is, in 0.2.3, a number that fits the vocabulary.
    pub seed_size: usize,
    /// The share of pieces that one pruning leaves.
    pub shrinking_factor: f32,
    /// How often scores are fitted before each pruning.
    pub sub_iterations: usize,
    /// How many sums are made in parallel in the reference: its `num_threads`, which shows in the last bits.
    pub lanes: usize,
    /// How many bytes training may take; it is not begun where it takes more.
    pub room: Option<usize>,
}

/// Trains on what [`sentences`] counted: at most so many pieces with their scores, the best first.
pub fn pieces(
    sentences: impl BorrowMut<WordCounter>,
    most: usize,
    options: &Options,
    fit: &Fit,
    progress: &mut dyn Progress,
) -> Result<Vec<Scored>> {
    let mut counted = Counted::new(sentences, options)?;
    let alphabet = Alphabet::choose(&counted.characters()?, options)?;
    alphabet.check_fits(most, options)?;
    let mut material = counted.cut(&alphabet, options, progress)?;
    let seed_size = match fit.seed_size {
        0 if options.line == Line::V0_2_3 => FEWEST_SEEDS.max(8 * options.vocab_size),
        size => size,
    };
    if let Some(room) = fit.room {
        let (words, fragments) = material.sizes()?;
        memory::check(&words, &fragments, seed_size, room, fit.lanes, options.threads)?;
    }
    let (words, fragments) = material.laid_out(progress)?;
    let characters = characters(&words, &alphabet, options)?;
    let mut workers = Workers { threads: options.threads, progress };
    let (texts, scores) = match &fit.seeds {
        Some(given) => seeds::given(&characters, given, fit.seed_size, options)?,
        None => seeds::found(&characters, fragments, seed_size, options, &mut workers)?,
    };
    let pieces = Pieces::new(texts, scores)?;
    let lanes = lanes::lanes(&words, fit.lanes, &pieces, &mut workers)?;
    drop(words);
    let mut training = Training { pieces, lanes, options, fit, workers };
    training.run()?;
    Ok(finish::finish(&training.pieces, &alphabet, most))
}

/// What 0.2.3 takes for a number of seeds that fits a small vocabulary.
const FEWEST_SEEDS: usize = 100_000;

/// The characters of the alphabet that occur in the words, the most frequent first; in 0.2.1 without those of the delimiter.
fn characters(words: &WordCounts, alphabet: &Alphabet, options: &Options) -> Result<Vec<(char, u64)>> {
    let delimiter = if options.line == Line::V0_2_1 { &options.pretokenization_delimiter[..] } else { "" };
    let mut counts = CharCounts::default();
    words.iter().try_for_each(|(word, times)| counts.add(&String::from_utf8_lossy(word), times))?;
    let mut found: Vec<(char, u64)> = alphabet.chars.iter().map(|&(char, _)| (char, counts.of(char))).collect();
    found.retain(|&(char, count)| count > 0 && !delimiter.contains(char));
    found.sort_unstable_by_key(|&(char, count)| (std::cmp::Reverse(count), char));
    Ok(found)
}

/// Pieces on their way to the vocabulary, and the words that decide it.
struct Training<'a> {
    pieces: Pieces,
    lanes: Vec<Lane>,
    options: &'a Options,
    fit: &'a Fit,
    workers: Workers<'a>,
}

impl Training<'_> {
    /// Fits scores and prunes until the vocabulary is small enough.
    fn run(&mut self) -> Result<()> {
        let line = self.options.line;
        let desired = (self.options.vocab_size as f64 * 1.1) as usize;
        loop {
            self.fit()?;
            if line == Line::V0_2_1 && self.pieces.len() <= desired {
                return Ok(());
            }
            let target = desired.max((self.fit.shrinking_factor * self.pieces.len() as f32) as usize);
            let kept = prune::prune(&self.pieces, &self.lanes, line, target, &mut self.workers)?;
            self.keep(&kept)?;
            if line == Line::V0_2_3 && self.pieces.len() <= desired {
                return self.pieces.keep(&prune::reachable(&self.pieces)).map(drop);
            }
        }
    }

    fn fit(&mut self) -> Result<()> {
        let tables = Tables::of(self.options.line);
        for _ in 0..self.fit.sub_iterations {
            let expected = expect::expect(&self.pieces, &self.lanes, tables, &mut self.workers)?;
            self.keep(&expect::maximize(&expected))?;
        }
        Ok(())
    }

    fn keep(&mut self, kept: &[(u32, f32)]) -> Result<()> {
        let moved = self.pieces.keep(kept)?;
        lanes::rename(&mut self.lanes, &moved, &mut self.workers)
    }
}
