//! SentencePiece's WORD and CHAR vocabularies: the most frequent words, and the alphabet, with their log probabilities.
//!
//! Reference: `word::Trainer` and `character::Trainer`; 0.2.1 and 0.2.3 agree. Words are cut before each visible space. A
//! word with a character beyond the alphabet is no piece, but counts where probabilities are made. If the space itself is
//! beyond the alphabet, sentences are not cut at all: then a sentence is a word, and one with a space in it is none.

use super::Scored;
use super::alphabet::{Alphabet, CharCounts};
use super::corpus::Sink;
use super::options::{Options, SPACE};
use super::words::Cut;
use crate::error::{Error, Result};
use crate::train::counter::{Order, WordCounter};
use crate::train::progress::Progress;

impl Sink for CharCounts {
    fn sentence(&mut self, sentence: &str, times: u64, _: u64) -> Result<()> {
        self.add(sentence, times)
    }
}

/// Counts the words of sentences.
#[derive(Default)]
pub struct WordSink {
    words: WordCounter,
    /// Sentences without a space.
    unspaced: WordCounter,
    sentences: u64,
}

impl WordSink {
    /// Counts words, and sentences without a space, with these counters.
    pub fn new(words: WordCounter, unspaced: WordCounter) -> WordSink {
        WordSink { words, unspaced, sentences: 0 }
    }
}

impl Sink for WordSink {
    fn sentence(&mut self, sentence: &str, times: u64, ordinal: u64) -> Result<()> {
        self.sentences = self.sentences.checked_add(times).ok_or_else(too_many)?;
        if !sentence.contains(SPACE) {
            self.unspaced.add_at(sentence.as_bytes(), times, ordinal)?;
        }
        let mut result = Ok(());
        Cut::default().words(sentence.as_bytes(), |start, end| {
            if result.is_ok() {
                result = self.words.add_at(&sentence.as_bytes()[start..end], times, ordinal + start as u64);
            }
        });
        result
    }
}

fn too_many() -> Error {
    Error::Argument("the words of all sentences count more than 2^64 times: scale the counts down".into())
}

/// The pieces of a WORD vocabulary, at most that many.
pub fn words(sinks: Vec<WordSink>, most: usize, options: &Options, progress: &mut dyn Progress) -> Result<Vec<Scored>> {
    let mut all = WordSink::default();
    for sink in sinks {
        all.words.merge(sink.words)?;
        all.unspaced.merge(sink.unspaced)?;
        all.sentences = all.sentences.checked_add(sink.sentences).ok_or_else(too_many)?;
    }
    let alphabet = Alphabet::choose(&super::units::characters(&mut all.words)?, options)?;
    let (mut words, total) = match alphabet.contains(SPACE) {
        true => (all.words, None),
        false => (all.unspaced, Some(all.sentences)),
    };
    let is_piece = |word: &[u8]| String::from_utf8_lossy(word).chars().all(|c| alphabet.contains(c));
    let (most, mut pieces, mut sum) = (limit(most, options), Vec::new(), 0u64);
    words.each(Order::MostFrequent, progress, &mut |word, count| {
        sum = sum.checked_add(count).ok_or_else(too_many)?;
        if pieces.len() < most && is_piece(word) {
            pieces.push((word.to_vec(), count));
        }
        Ok(())
    })?;
    Ok(scored(pieces.into_iter(), total.unwrap_or(sum)))
}

/// The pieces of a CHAR vocabulary, at most that many.
pub fn chars(sinks: Vec<CharCounts>, most: usize, options: &Options) -> Result<Vec<Scored>> {
    let mut all = CharCounts::default();
    sinks.iter().try_for_each(|sink| all.merge(sink))?;
    let alphabet = Alphabet::choose(&all, options)?;
    let total = alphabet.chars.iter().map(|&(_, count)| count).sum();
    let pieces = alphabet.chars.iter().map(|&(c, count)| (c.to_string().into_bytes(), count));
    Ok(scored(pieces.take(limit(most, options)), total))
}

fn limit(most: usize, options: &Options) -> usize {
    if options.use_all_vocab { usize::MAX } else { most }
}

/// Logarithms of float32 numbers, as C's `logf` has them.
fn scored(pieces: impl Iterator<Item = (Vec<u8>, u64)>, total: u64) -> Vec<Scored> {
    let log_total = (total as f32).ln();
    pieces.map(|(piece, count)| (piece, (count as f32).ln() - log_total)).collect()
}
