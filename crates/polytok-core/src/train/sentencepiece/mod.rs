//! SentencePiece's trainers and what they share.
//!
//! ```text
//! texts ─▶ corpus (loader: read, normalize, cut) ─▶ sinks (units, words, …) ─▶ counts ─▶ alphabet ─▶ trainer ─▶ pieces with scores
//! ```
//!
//! [`options`] says what shapes the result, [`validity`] which strings may be pieces. Reserved pieces and the assembly of
//! ids are Python's, as they are about names.

pub mod alphabet;
pub mod bpe;
pub mod charsmap;
pub mod corpus;
pub mod loader;
pub mod options;
pub mod sample;
pub mod units;
pub mod validity;
pub mod whole;
pub mod words;

use crate::error::Result;
use crate::train::counter::WordCounter;

/// A piece and its score.
pub type ScoredPiece = (Vec<u8>, f32);

/// What several threads counted.
pub(crate) fn together(counters: impl Iterator<Item = WordCounter>) -> Result<WordCounter> {
    let mut all = WordCounter::default();
    for counter in counters {
        if all.is_empty() { all = counter } else { all.merge(counter)? }
    }
    Ok(all)
}
