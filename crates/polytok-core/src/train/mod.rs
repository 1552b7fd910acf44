//! Texts to vocabularies. A trainer works on counted [`words`] and tells its [`progress`]; one file for each algorithm.

pub mod bpe;
pub mod progress;
pub mod splitting;
pub mod words;
