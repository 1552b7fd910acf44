//! The trainers of SentencePiece's models, and the steps that these trainers share.
//!
//! ```text
//! texts ─▶ corpus (loader: read, normalize, mark boundaries) ─▶ sinks (units, words, …) ─▶ counts ─▶ alphabet ─▶
//! trainer ─▶ pieces with scores
//! ```
//!
//! [`options`] has the training options; [`validity`] decides which strings can be pieces. Python adds the reserved
//! pieces and assigns the ids.

pub mod alphabet;
pub mod bpe;
pub mod charsmap;
pub mod corpus;
pub mod loader;
pub mod options;
pub mod sample;
pub mod units;
pub mod validity;
pub mod word_and_char;
pub mod words;

use crate::error::Result;
use crate::train::counter::WordCounter;

/// A piece and its score.
pub type ScoredPiece = (Vec<u8>, f32);

/// Merges the counters of several threads.
pub(crate) fn merge_counters(counters: impl Iterator<Item = WordCounter>) -> Result<WordCounter> {
    let mut all = WordCounter::default();
    for counter in counters {
        if all.is_empty() { all = counter } else { all.merge(counter)? }
    }
    Ok(all)
}
