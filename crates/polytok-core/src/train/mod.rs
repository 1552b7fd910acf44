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
