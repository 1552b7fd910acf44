//! Pieces to ids: one file per algorithm.

pub mod best_path;
pub mod bpe;
mod by_text;
mod derived;
pub mod dictionary;
mod lanes;
pub mod lattice;
pub mod longest;
pub mod merge;
mod merging;
pub mod nbest;
mod pair_filter;
pub mod pairs;
pub mod plamo2;
pub mod sample;
mod scalars;
mod short;
pub mod unigram;
mod units;
pub mod whole;
pub mod wide_unigram;
mod windows;
pub mod word_level;
pub mod wordpiece;

/// The id of a segment that no vocabulary entry covers.
pub const UNKNOWN: u32 = u32::MAX;

/// A stretch of the normalized text and the entry that covers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The entry's id, or [`UNKNOWN`].
    pub id: u32,
    /// Where it starts in the normalized text, in bytes.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}
