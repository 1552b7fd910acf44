//! SentencePiece's Unigram: a language model over pieces, from many seeds down to the vocabulary.
//!
//! Reference: SentencePiece's `unigram::Trainer`, bit for bit, in its two lines 0.2.1 and 0.2.3 (which has other seeds and another prune,
//! and prunes at the end, too). One file per stage:
//!
//!     sentences ──▶ suffixes ──▶ seeds ──▶ expect, prune, expect, prune … ──▶ finish
//!
//! [`sentences`] counts words and fragments, [`suffixes`] finds the substrings that repeat, [`seeds`] takes the best of them, [`expect`]
//! fits the scores, [`prune`] lets a quarter of the pieces go, and [`finish`] adds the characters that training has lost. The scores of
//! [`pieces`] run through the [`lattice`] of each word.

mod expect;
mod finish;
mod lanes;
mod lattice;
mod numeric;
mod pieces;
mod prune;
mod seeds;
pub mod sentences;
mod suffixes;
mod workers;

use std::collections::HashSet;

use crate::error::Result;
use crate::spec::Line;
use crate::train::progress::Progress;
use lanes::Lane;
use numeric::Tables;
use pieces::Pieces;
use sentences::{Sentences, Shape};
use workers::Workers;

/// The options of the trainer beside those of the shape of pieces.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose trainer it is.
    pub line: Line,
    /// The vocabulary's size.
    pub vocab_size: usize,
    /// How many entries of the vocabulary are no pieces: unknown, control, bytes …
    pub meta_pieces: usize,
    /// No piece has more characters.
    pub max_piece_chars: usize,
    /// How many substrings to start from.
    pub seed_size: usize,
    /// The share of pieces that one pruning leaves.
    pub shrinking_factor: f32,
    /// How often scores are fitted before each pruning.
    pub sub_iterations: usize,
    /// How many sums are made in parallel in the reference: its `num_threads`, which shows in the last bits.
    pub lanes: usize,
    /// How many threads work.
    pub threads: usize,
}

/// The alphabet's characters with their counts, the most frequent first.
pub type Alphabet = [(char, u64)];

/// Trains on counted sentences: pieces with their scores, the best first.
pub fn train(
    sentences: Sentences,
    alphabet: &Alphabet,
    shape: &dyn Shape,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Vec<(Vec<u8>, f32)>> {
    let kept: HashSet<char> = alphabet.iter().map(|&(char, _)| char).collect();
    let (words, fragments) = sentences.finish(|char| kept.contains(&char))?;
    let mut workers = Workers { threads: options.threads, progress };
    let (texts, scores) = seeds::seeds(alphabet, fragments, shape, options, &mut workers)?;
    let pieces = Pieces::new(texts, scores)?;
    let lanes = lanes::lanes(&words, options.lanes, &pieces, &mut workers)?;
    drop(words);
    let mut fitting = Fitting { pieces, lanes, options, workers };
    fitting.run()?;
    Ok(finish::finish(&fitting.pieces, alphabet, options))
}

/// Pieces on their way to the vocabulary, and the words that decide it.
struct Fitting<'a> {
    pieces: Pieces,
    lanes: Vec<Lane>,
    options: &'a Options,
    workers: Workers<'a>,
}

impl Fitting<'_> {
    /// Fits scores and prunes until the vocabulary is small enough.
    fn run(&mut self) -> Result<()> {
        let line = self.options.line;
        let desired = (self.options.vocab_size as f64 * 1.1) as usize;
        loop {
            self.fit()?;
            if line == Line::V0_2_1 && self.pieces.len() <= desired {
                return Ok(());
            }
            let target = desired.max((self.options.shrinking_factor * self.pieces.len() as f32) as usize);
            let kept = prune::prune(&self.pieces, &self.lanes, line, target, &mut self.workers)?;
            self.keep(&kept)?;
            if line == Line::V0_2_3 && self.pieces.len() <= desired {
                return self.pieces.keep(&prune::reachable(&self.pieces)).map(drop);
            }
        }
    }

    fn fit(&mut self) -> Result<()> {
        let tables = Tables::of(self.options.line);
        for _ in 0..self.options.sub_iterations {
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
