//! SentencePiece's WORD and CHAR vocabularies: the most frequent words, and the alphabet, with their log probabilities.
//!
//! Reference: `word::Trainer` and `character::Trainer`; 0.2.1 and 0.2.3 agree. Sentences are split into words before
//! each visible space. A word with a character outside the alphabet is not a piece, but its count is part of the total
//! for probabilities. If the space itself is outside the alphabet, sentences are not split: a sentence without a space
//! is a word, and a sentence with a space is ignored.

use polytok_memory::{self as memory, Collect, Copied, Grow};

use super::ScoredPiece;
use super::alphabet::{Alphabet, CharCounts};
use super::corpus::SentenceSink;
use super::options::SentencePieceOptions;
use super::words::WordSplitRule;
use crate::error::{Error, Result};
use crate::space_mark;
use crate::train::counter::{Order, WordCounter};
use crate::train::progress::Progress;

impl SentenceSink for CharCounts {
    fn add_sentence(&mut self, sentence: &str, times: u64, _: u64) -> Result<()> {
        self.add(sentence, times)
    }
}

/// Merges the characters that several threads counted, as words of one character.
pub fn merge_chars(sinks: Vec<CharCounts>) -> Result<WordCounter> {
    memory::catch(|| {
        let (mut all, mut counter) = (CharCounts::default(), WordCounter::default());
        sinks.iter().try_for_each(|sink| all.merge(sink))?;
        for c in '\0'..=char::MAX {
            counter.add_at(c.encode_utf8(&mut [0; 4]).as_bytes(), all.count(c), 0)?;
        }
        Ok(counter)
    })
}

/// The tag before a counted word.
const WORD_TAG: u8 = b'w';
/// The tag before a counted sentence without a space.
const UNSPACED_TAG: u8 = b'u';
/// The key under which all sentences are counted.
const SENTENCES_TAG: u8 = b's';

/// Counts three things: the words of sentences, the sentences without a space, and all sentences.
#[derive(Default)]
pub struct WordSink {
    counter: WordCounter,
    key: Vec<u8>,
}

impl WordSink {
    /// Creates a sink that adds words to `counter`.
    pub fn new(counter: WordCounter) -> WordSink {
        WordSink { counter, key: Vec::new() }
    }

    fn add(&mut self, tag: u8, word: &[u8], times: u64, ordinal: u64) -> Result<()> {
        self.key.clear();
        self.key.checked_push(tag);
        self.key.checked_extend_from_slice(word);
        self.counter.add_at(&self.key, times, ordinal)
    }
}

impl SentenceSink for WordSink {
    fn add_sentence(&mut self, sentence: &str, times: u64, ordinal: u64) -> Result<()> {
        self.add(SENTENCES_TAG, b"", times, ordinal)?;
        if !sentence.contains(space_mark::CHAR) {
            self.add(UNSPACED_TAG, sentence.as_bytes(), times, ordinal)?;
        }
        let mut result = Ok(());
        WordSplitRule::default().words(sentence.as_bytes(), |start, end| {
            if result.is_ok() {
                result = self.add(WORD_TAG, &sentence.as_bytes()[start..end], times, ordinal + start as u64);
            }
        });
        result
    }
}

fn count_overflow() -> Error {
    Error::Argument("the counts of the words of all sentences exceed 64 bits; scale the counts down".into())
}

/// Merges the words that several threads counted.
pub fn merge_words(sinks: Vec<WordSink>) -> Result<WordCounter> {
    memory::catch(|| super::merge_counters(sinks.into_iter().map(|sink| sink.counter)))
}

/// Returns at most `max_pieces` pieces of a WORD vocabulary.
pub fn words(
    counter: &mut WordCounter,
    max_pieces: usize,
    options: &SentencePieceOptions,
    progress: &mut dyn Progress,
) -> Result<Vec<ScoredPiece>> {
    memory::catch(|| {
        let (mut counts, mut sentences) = (CharCounts::default(), 0);
        counter.each_unordered(&mut |key, times| match key.split_first() {
            Some((&WORD_TAG, word)) => counts.add(&memory::lossy(word), times),
            Some((&SENTENCES_TAG, _)) => {
                sentences = times;
                Ok(())
            }
            _ => Ok(()),
        })?;
        let alphabet = Alphabet::choose(&counts, options)?;
        drop(counts);
        let splits_at_spaces = alphabet.contains(space_mark::CHAR);
        let wanted_tag = if splits_at_spaces { WORD_TAG } else { UNSPACED_TAG };
        let is_piece = |word: &[u8]| memory::lossy(word).chars().all(|c| alphabet.contains(c));
        let (max_pieces, mut pieces, mut sum) = (piece_limit(max_pieces, options), Vec::new(), 0u64);
        counter.each(Order::MostFrequent, progress, &mut |key, count| {
            let Some(word) = key.strip_prefix(&[wanted_tag]) else { return Ok(()) };
            sum = sum.checked_add(count).ok_or_else(count_overflow)?;
            if pieces.len() < max_pieces && is_piece(word) {
                pieces.checked_push((word.checked_to_vec(), count));
            }
            Ok(())
        })?;
        Ok(with_log_probabilities(pieces.into_iter(), if splits_at_spaces { sum } else { sentences }))
    })
}

/// Returns at most `max_pieces` pieces of a CHAR vocabulary.
pub fn chars(counter: &mut WordCounter, max_pieces: usize, options: &SentencePieceOptions) -> Result<Vec<ScoredPiece>> {
    memory::catch(|| {
        let alphabet = Alphabet::choose(&super::units::characters(counter)?, options)?;
        let total = alphabet.chars.iter().map(|&(_, count)| count).sum();
        let pieces = alphabet.chars.iter().map(|&(c, count)| (c.to_string().into_bytes(), count));
        Ok(with_log_probabilities(pieces.take(piece_limit(max_pieces, options)), total))
    })
}

fn piece_limit(max_pieces: usize, options: &SentencePieceOptions) -> usize {
    if options.use_all_vocab { usize::MAX } else { max_pieces }
}

/// Converts counts to log probabilities in float32, as C's `logf` computes them.
fn with_log_probabilities(pieces: impl Iterator<Item = (Vec<u8>, u64)>, total: u64) -> Vec<ScoredPiece> {
    let log_total = (total as f32).ln();
    pieces.map(|(piece, count)| (piece, (count as f32).ln() - log_total)).checked_collect()
}
