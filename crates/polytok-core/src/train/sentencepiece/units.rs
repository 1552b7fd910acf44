//! Counted stretches of text that no piece crosses: all that pieces are made of, and small enough to repeat.
//!
//! A sentence is cut wherever no valid piece has the two characters side by side: before words, at digits, between scripts.
//! So the units are fewer and shorter than words, and pairs of symbols in them are the pairs of the whole text. In 0.2.1 words are
//! cut at delimiters too, whose characters count for the alphabet. Cost: one step for each character, one lookup for each unit.

use std::sync::Arc;

use memchr::memmem::Finder;

use super::alphabet::CharCounts;
use super::corpus::SentenceSink;
use super::options::SentencePieceOptions;
use super::validity::Validity;
use super::words::WordCut;
use crate::error::Result;
use crate::spec::Line;
use crate::train::counter::WordCounter;

/// Counts the units of sentences.
pub struct UnitCounter {
    validity: Arc<Validity>,
    counter: WordCounter,
    delimiter: Option<Delimiter>,
    /// Where the units of a stretch start and end.
    found: Vec<(u32, u32)>,
}

/// What no piece crosses in 0.2.1, and the words that it is looked for in.
struct Delimiter {
    text: Finder<'static>,
    /// None for whole sentences.
    words: Option<WordCut>,
}

impl UnitCounter {
    /// Nothing is counted yet.
    pub fn new(validity: Arc<Validity>, counter: WordCounter, options: &SentencePieceOptions) -> UnitCounter {
        let text = options.pretokenization_delimiter.as_bytes();
        let words = options.split_by_whitespace.then_some(WordCut {
            as_suffix: options.treat_whitespace_as_suffix,
            keeps_runs: options.allow_whitespace_only_pieces,
        });
        let is_cut_here = options.line == Line::V0_2_1 && !text.is_empty();
        let delimiter = is_cut_here.then(|| Delimiter { text: Finder::new(text).into_owned(), words });
        UnitCounter { validity, counter, delimiter, found: Vec::new() }
    }

    /// Counts the units of a stretch of a sentence.
    fn stretch(&mut self, text: &str, times: u64, ordinal: u64) -> Result<()> {
        self.found.clear();
        let mut start = 0;
        let mut before = None;
        for (at, c) in text.char_indices() {
            if before.is_some_and(|before| !self.validity.may_join(before, c)) {
                self.found.push((start as u32, at as u32));
                start = at;
            }
            before = Some(c);
        }
        if start < text.len() {
            self.found.push((start as u32, text.len() as u32));
        }
        if times == 1 {
            return self.counter.add_pieces(text.as_bytes(), &self.found, ordinal);
        }
        let each = |&(start, end): &(u32, u32)| {
            self.counter.add_at(&text.as_bytes()[start as usize..end as usize], times, ordinal + u64::from(start))
        };
        self.found.iter().try_for_each(each)
    }
}

impl SentenceSink for UnitCounter {
    fn sentence(&mut self, sentence: &str, times: u64, ordinal: u64) -> Result<()> {
        let Some(delimiter) = self.delimiter.take() else { return self.stretch(sentence, times, ordinal) };
        let result = delimiter.parts(sentence).into_iter().try_for_each(|(start, end, is_delimiter)| {
            let (text, place) = (&sentence[start..end], ordinal + start as u64);
            match is_delimiter {
                true => {
                    text.char_indices().try_for_each(|(at, c)| self.stretch(&text[at..at + c.len_utf8()], times, place))
                }
                false => self.stretch(text, times, place),
            }
        });
        self.delimiter = Some(delimiter);
        result
    }
}

impl Delimiter {
    /// Where the delimiters and the stretches between them start and end.
    fn parts(&self, sentence: &str) -> Vec<(usize, usize, bool)> {
        let mut parts = Vec::new();
        let mut word = |start: usize, end: usize| {
            let mut from = start;
            for at in self.text.find_iter(&sentence.as_bytes()[start..end]) {
                parts.push((from, start + at, false));
                from = start + at + self.text.needle().len();
                parts.push((start + at, from, true));
            }
            parts.push((from, end, false));
        };
        match self.words {
            Some(cut) => cut.words(sentence.as_bytes(), word),
            None => word(0, sentence.len()),
        }
        parts
    }
}

/// The units of several threads together.
pub fn gathered(sinks: Vec<UnitCounter>) -> Result<WordCounter> {
    super::together(sinks.into_iter().map(|sink| sink.counter))
}

/// How often each character occurs in them.
pub fn characters(units: &mut WordCounter) -> Result<CharCounts> {
    let mut counts = CharCounts::default();
    units.each_unordered(&mut |unit, times| counts.add(&String::from_utf8_lossy(unit), times))?;
    Ok(counts)
}
