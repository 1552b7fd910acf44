//! Trains vocabularies on texts. A trainer works on counted [`words`] and reports its [`progress`]. Each algorithm has
//! a file or folder of its own.

pub mod bpe;
pub mod counter;
pub mod huggingface_unigram;
pub mod longest;
pub mod progress;
pub mod room;
pub mod sentencepiece;
pub mod texts;
pub mod unigram;
pub mod words;

/// Sorts characters by their counts, the largest first, and characters with equal counts by their code points.
fn sort_by_count(chars: &mut [(char, u64)]) {
    polytok_memory::sort_stably(chars, |a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
}
