//! Counts units. A unit is a segment of a sentence such that no piece crosses its start or end. Units are short, so
//! many of them repeat.
//!
//! A sentence is split between two characters if no valid piece contains them next to each other: before words, at
//! digits, between scripts. So distinct units are fewer and shorter than distinct words, and they still have all pairs
//! of symbols that pieces can consist of. In 0.2.1, words are split at delimiters too; the characters of delimiters are
//! counted for the alphabet. Cost: one step for each character, one lookup for each unit.

use std::sync::Arc;

use memchr::memmem::Finder;
use polytok_memory::{self as memory, Grow};

use super::alphabet::CharCounts;
use super::corpus::SentenceSink;
use super::options::SentencePieceOptions;
use super::validity::Validity;
use super::words::WordSplitRule;
use crate::error::Result;
use crate::spec::SentencePieceVersion;
use crate::train::counter::WordCounter;

/// Counts the units of sentences.
pub struct UnitCounter {
    validity: Arc<Validity>,
    counter: WordCounter,
    delimiter: Option<Delimiter>,
    /// The start and end offsets of the units of the current segment.
    unit_ranges: Vec<(u32, u32)>,
}

/// The delimiter at which 0.2.1 splits words, and the rule for the words in which it searches for the delimiter.
struct Delimiter {
    text: Finder<'static>,
    /// The rule that splits sentences into words, or `None` if the delimiter is searched in whole sentences.
    words: Option<WordSplitRule>,
}

impl UnitCounter {
    /// Creates a counter that adds units to `counter`.
    pub fn new(validity: Arc<Validity>, counter: WordCounter, options: &SentencePieceOptions) -> UnitCounter {
        let text = options.pretokenization_delimiter.as_bytes();
        let words = options.split_by_whitespace.then_some(WordSplitRule {
            as_suffix: options.treat_whitespace_as_suffix,
            keeps_runs: options.allow_whitespace_only_pieces,
        });
        let splits_at_delimiter = options.version == SentencePieceVersion::V0_2_1 && !text.is_empty();
        let delimiter = splits_at_delimiter.then(|| Delimiter { text: Finder::new(text).into_owned(), words });
        UnitCounter { validity, counter, delimiter, unit_ranges: Vec::new() }
    }

    /// Counts the units of a segment of a sentence.
    fn count_segment(&mut self, text: &str, times: u64, ordinal: u64) -> Result<()> {
        self.unit_ranges.clear();
        let mut start = 0;
        let mut before = None;
        for (at, c) in text.char_indices() {
            if before.is_some_and(|before| !self.validity.can_join(before, c)) {
                self.unit_ranges.checked_push((start as u32, at as u32));
                start = at;
            }
            before = Some(c);
        }
        if start < text.len() {
            self.unit_ranges.checked_push((start as u32, text.len() as u32));
        }
        if times == 1 {
            return self.counter.add_pieces(text.as_bytes(), &self.unit_ranges, ordinal);
        }
        let each = |&(start, end): &(u32, u32)| {
            self.counter.add_at(&text.as_bytes()[start as usize..end as usize], times, ordinal + u64::from(start))
        };
        self.unit_ranges.iter().try_for_each(each)
    }
}

impl SentenceSink for UnitCounter {
    fn add_sentence(&mut self, sentence: &str, times: u64, ordinal: u64) -> Result<()> {
        let Some(delimiter) = self.delimiter.take() else { return self.count_segment(sentence, times, ordinal) };
        let result = delimiter.parts(sentence).into_iter().try_for_each(|(start, end, is_delimiter)| {
            let (text, ordinal) = (&sentence[start..end], ordinal + start as u64);
            match is_delimiter {
                true => text
                    .char_indices()
                    .try_for_each(|(at, c)| self.count_segment(&text[at..at + c.len_utf8()], times, ordinal)),
                false => self.count_segment(text, times, ordinal),
            }
        });
        self.delimiter = Some(delimiter);
        result
    }
}

impl Delimiter {
    /// Splits a text into delimiters and the segments between them, as (start, end, is a delimiter).
    fn parts(&self, sentence: &str) -> Vec<(usize, usize, bool)> {
        let mut parts = Vec::new();
        let mut word = |start: usize, end: usize| {
            let mut from = start;
            for at in self.text.find_iter(&sentence.as_bytes()[start..end]) {
                parts.checked_push((from, start + at, false));
                from = start + at + self.text.needle().len();
                parts.checked_push((start + at, from, true));
            }
            parts.checked_push((from, end, false));
        };
        match self.words {
            Some(cut) => cut.words(sentence.as_bytes(), word),
            None => word(0, sentence.len()),
        }
        parts
    }
}

/// Merges the units that several threads counted.
pub fn merge_units(sinks: Vec<UnitCounter>) -> Result<WordCounter> {
    memory::catch(|| super::merge_counters(sinks.into_iter().map(|sink| sink.counter)))
}

/// Returns the number of occurrences of each character in units.
pub fn characters(units: &mut WordCounter) -> Result<CharCounts> {
    memory::catch(|| {
        let mut counts = CharCounts::default();
        units.each_unordered(&mut |unit, times| counts.add(&memory::lossy(unit), times))?;
        Ok(counts)
    })
}
