//! SentencePiece's trainers and what they share.
//!
//! ```text
//! texts ─▶ corpus (loader: read, normalize, cut) ─▶ sinks (units, words, …) ─▶ alphabet ─▶ trainer ─▶ pieces with scores
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

/// A piece and its score.
pub type Scored = (Vec<u8>, f32);
