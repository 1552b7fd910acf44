//! Texts to vocabularies. A trainer works on counted [`words`] and tells its [`progress`]; one file for each algorithm.

pub mod bpe;
pub mod counter;
pub mod longest;
pub mod progress;
pub mod room;
pub mod sentencepiece;
pub mod texts;
pub mod unigram;
pub mod words;
