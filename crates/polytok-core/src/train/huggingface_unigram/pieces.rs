//! Stores the current pieces with their scores, and finds them in words.

use polytok_memory::Collect;

use crate::error::Result;
use crate::train::unigram::pieces::PieceSet;
use crate::train::words::WordCounts;

/// The difference between the lowest score of a piece and the score of a character that is not a piece.
const UNKNOWN_PENALTY: f64 = 10.0;

/// The current pieces; their ids are 0, 1, 2 …
pub struct Pieces {
    set: PieceSet,
    scores: Vec<f64>,
    /// The score of a character that is not a piece.
    pub unknown_score: f64,
}

impl Pieces {
    pub fn new(texts: WordCounts, scores: Vec<f64>) -> Result<Pieces> {
        let mut pieces = Pieces { set: PieceSet::new(texts)?, scores, unknown_score: 0.0 };
        pieces.set_unknown_score();
        Ok(pieces)
    }

    pub fn len(&self) -> usize {
        self.scores.len()
    }

    pub fn text(&self, id: usize) -> &[u8] {
        self.set.text(id)
    }

    pub fn score(&self, id: usize) -> f64 {
        self.scores[id]
    }

    /// Keeps only the listed pieces, in the order of the list; the list has their ids and new scores.
    pub fn keep(&mut self, kept: &[(u32, f64)]) -> Result<()> {
        self.set.keep(kept.iter().map(|&(id, _)| id))?;
        self.scores = kept.iter().map(|&(_, score)| score).checked_collect();
        self.set_unknown_score();
        Ok(())
    }

    /// Calls `each(length, id)` for each piece that `text` begins with, the shortest first.
    #[inline]
    pub fn for_each_prefix(&self, text: &[u8], each: impl FnMut(usize, u32)) {
        self.set.for_each_prefix(text, each);
    }

    fn set_unknown_score(&mut self) {
        self.unknown_score = self.scores.iter().copied().fold(f64::INFINITY, f64::min) - UNKNOWN_PENALTY;
    }
}
