//! SentencePiece's WORD and CHAR vocabularies: the most frequent words, and the alphabet, with their log probabilities.
//!
//! Reference: `word::Trainer` and `character::Trainer`; 0.2.1 and 0.2.3 agree. Words are cut before each visible space. A
//! word with a character beyond the alphabet is no piece, but counts where probabilities are made. If the space itself is
//! beyond the alphabet, sentences are not cut at all: then a sentence is a word, and one with a space in it is none.

use super::ScoredPiece;
use super::alphabet::{Alphabet, CharCounts};
use super::corpus::SentenceSink;
use super::options::SentencePieceOptions;
use super::words::WordCut;
use crate::error::{Error, Result};
use crate::space_mark;
use crate::train::counter::{Order, WordCounter};
use crate::train::progress::Progress;

impl SentenceSink for CharCounts {
    fn sentence(&mut self, sentence: &str, times: u64, _: u64) -> Result<()> {
        self.add(sentence, times)
    }
}

/// The characters as counted words.
pub fn gathered_chars(sinks: Vec<CharCounts>) -> Result<WordCounter> {
    let (mut all, mut counted) = (CharCounts::default(), WordCounter::default());
    sinks.iter().try_for_each(|sink| all.merge(sink))?;
    for c in '\0'..=char::MAX {
        counted.add_at(c.encode_utf8(&mut [0; 4]).as_bytes(), all.of(c), 0)?;
    }
    Ok(counted)
}

/// What stands before a word that is counted.
const WORD: u8 = b'w';
/// Before a sentence without a space.
const UNSPACED: u8 = b'u';
/// For all sentences together.
const SENTENCES: u8 = b's';

/// Counts the words of sentences, sentences without a space, and sentences.
#[derive(Default)]
pub struct WordSink {
    counted: WordCounter,
    key: Vec<u8>,
}

impl WordSink {
    /// Counts with this counter.
    pub fn new(counted: WordCounter) -> WordSink {
        WordSink { counted, key: Vec::new() }
    }

    fn add(&mut self, tag: u8, word: &[u8], times: u64, ordinal: u64) -> Result<()> {
        self.key.clear();
        self.key.push(tag);
        self.key.extend_from_slice(word);
        self.counted.add_at(&self.key, times, ordinal)
    }
}

impl SentenceSink for WordSink {
    fn sentence(&mut self, sentence: &str, times: u64, ordinal: u64) -> Result<()> {
        self.add(SENTENCES, b"", times, ordinal)?;
        if !sentence.contains(space_mark::CHAR) {
            self.add(UNSPACED, sentence.as_bytes(), times, ordinal)?;
        }
        let mut result = Ok(());
        WordCut::default().words(sentence.as_bytes(), |start, end| {
            if result.is_ok() {
                result = self.add(WORD, &sentence.as_bytes()[start..end], times, ordinal + start as u64);
            }
        });
        result
    }
}

fn too_many() -> Error {
    Error::Argument("the counts of the words of all sentences exceed 64 bits; scale the counts down".into())
}

/// What the threads counted of words.
pub fn gathered_words(sinks: Vec<WordSink>) -> Result<WordCounter> {
    super::together(sinks.into_iter().map(|sink| sink.counted))
}

/// The pieces of a WORD vocabulary, at most that many.
pub fn words(
    counted: &mut WordCounter,
    most: usize,
    options: &SentencePieceOptions,
    progress: &mut dyn Progress,
) -> Result<Vec<ScoredPiece>> {
    let (mut counts, mut sentences) = (CharCounts::default(), 0);
    counted.each_unordered(&mut |key, times| match key.split_first() {
        Some((&WORD, word)) => counts.add(&String::from_utf8_lossy(word), times),
        Some((&SENTENCES, _)) => {
            sentences = times;
            Ok(())
        }
        _ => Ok(()),
    })?;
    let alphabet = Alphabet::choose(&counts, options)?;
    drop(counts);
    let is_cut = alphabet.contains(space_mark::CHAR);
    let wanted = if is_cut { WORD } else { UNSPACED };
    let is_piece = |word: &[u8]| String::from_utf8_lossy(word).chars().all(|c| alphabet.contains(c));
    let (most, mut pieces, mut sum) = (limit(most, options), Vec::new(), 0u64);
    counted.each(Order::MostFrequent, progress, &mut |key, count| {
        let Some(word) = key.strip_prefix(&[wanted]) else { return Ok(()) };
        sum = sum.checked_add(count).ok_or_else(too_many)?;
        if pieces.len() < most && is_piece(word) {
            pieces.push((word.to_vec(), count));
        }
        Ok(())
    })?;
    Ok(scored(pieces.into_iter(), if is_cut { sum } else { sentences }))
}

/// The pieces of a CHAR vocabulary, at most that many.
pub fn chars(counted: &mut WordCounter, most: usize, options: &SentencePieceOptions) -> Result<Vec<ScoredPiece>> {
    let alphabet = Alphabet::choose(&super::units::characters(counted)?, options)?;
    let total = alphabet.chars.iter().map(|&(_, count)| count).sum();
    let pieces = alphabet.chars.iter().map(|&(c, count)| (c.to_string().into_bytes(), count));
    Ok(scored(pieces.take(limit(most, options)), total))
}

fn limit(most: usize, options: &SentencePieceOptions) -> usize {
    if options.use_all_vocab { usize::MAX } else { most }
}

/// Logarithms of float32 numbers, as C's `logf` has them.
fn scored(pieces: impl Iterator<Item = (Vec<u8>, u64)>, total: u64) -> Vec<ScoredPiece> {
    let log_total = (total as f32).ln();
    pieces.map(|(piece, count)| (piece, (count as f32).ln() - log_total)).collect()
}
