//! Counts the parts of sentences that Unigram training needs: distinct words, which the scores are fitted on, and
//! fragments, which contain all substrings that can become seeds.
//!
//! There are boundaries that no valid piece crosses: the start of a word (if sentences are split into words), a change
//! of script, the sides of a digit that must be a piece of its own, and the sides of a character outside the alphabet.
//! A fragment is the text between two boundaries. A substring is *right-maximal*, and so can become a seed, if its
//! occurrences are followed by different characters. This depends only on the character after each occurrence; after
//! the end of a sentence, it also depends on the first character of the next sentence (0.2.3, see `suffixes`). So the
//! distinct pairs of a fragment and its follower, with their counts, yield the same seeds with the same counts as the
//! whole corpus.
//!
//! This file counts the pairs of a word and its follower; `super::cuts` converts them to words and fragments. The
//! follower of the last word of a sentence is in the next sentence, so it is known only when all sentences are known.
//! Until then, the sequence of the counter stores the first character and the last word of each sentence. If sentences
//! are not split, the whole sentence is stored as its last word, because the order of sentences affects the sums. Cost:
//! one hash per word while the text is read.

use std::borrow::BorrowMut;
use std::ops::Range;
use std::sync::Arc;

use polytok_memory::{self as memory, Collect, Grow};

use crate::error::Result;
use crate::spec::SentencePieceVersion;
use crate::train::counter::{Limit, Sequence, WordCounter};
use crate::train::sentencepiece::alphabet::CharCounts;
use crate::train::sentencepiece::corpus::SentenceSink;
use crate::train::sentencepiece::merge_counters;
use crate::train::sentencepiece::options::{RARE_CHAR, SentencePieceOptions};
use crate::train::sentencepiece::words::WordSplitRule;
use crate::train::unigram::sentence_memory::SentenceMemory;
use crate::train::words::WordCounts;

/// Counts the words of sentences with their followers.
pub struct SentenceCounter {
    split_rule: Option<WordSplitRule>,
    /// True if every sentence is also counted in a doubled form: 0.2.1 finds substrings in doubled sentences if
    /// sentences have counts.
    has_doubled_sentences: bool,
    /// Counts the pairs of a word and its follower, encoded by `write_key`. Its sequence stores the first character and
    /// the last word of each sentence, in the order of each part.
    pairs: WordCounter,
    /// The parts: runs of consecutive sentences. For each part, its ordinal in the corpus and the index of its first
    /// sentence.
    parts: Vec<(u64, usize)>,
    memory: Arc<SentenceMemory>,
    key: Vec<u8>,
}

/// The follower of a word: a character, or an end.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Follower {
    /// A word of the same sentence that begins with this character.
    Word(char),
    /// The end of the sentence, and then a sentence that begins with this character.
    Sentence(char),
    /// The end of the corpus.
    End,
}

impl SentenceCounter {
    /// Creates one sink for each thread, each with its share of the limit.
    pub fn each(options: &SentencePieceOptions, share: Option<&Limit>) -> Vec<SentenceCounter> {
        let threads = options.threads.max(1);
        let memory = Arc::new(SentenceMemory::new(options, share.map_or(usize::MAX, |share| share.bytes * threads)));
        let each = |_| SentenceCounter {
            split_rule: split_rule(options),
            has_doubled_sentences: has_doubled_sentences(options),
            pairs: WordCounter::new(half_limit(share)),
            parts: Vec::new(),
            memory: memory.clone(),
            key: Vec::new(),
        };
        (0..threads).map(each).checked_collect()
    }

    fn add(&mut self, word: &str, next: Follower, times: u64, ordinal: u64) -> Result<()> {
        write_key(word.as_bytes(), next, &mut self.key);
        self.pairs.add_at(&self.key, times, ordinal)?;
        Ok(())
    }

    /// Stores the first character and the last word of a sentence, if they fit. If they do not fit, only their size is
    /// added up, for the error message.
    fn store_sentence(&mut self, pair: [&[u8]; 2]) -> Result<()> {
        let sequence = &mut self.pairs.sequence;
        let before = sequence.memory();
        let bytes = if self.memory.fits() {
            sequence.push(pair)?;
            sequence.memory() - before
        } else {
            sequence.bytes_of_new_pair(pair[1])
        };
        self.memory.add(bytes);
        Ok(())
    }

    /// Counts a doubled sentence. Only 0.2.1 does this, and in 0.2.1 the follower of the end of a sentence has no
    /// effect.
    fn add_doubled(&mut self, sentence: &str, ordinal: u64) -> Result<()> {
        if !self.has_doubled_sentences {
            return Ok(());
        }
        let (pairs, key) = (&mut self.pairs, &mut self.key);
        let mut add = |word: &str, next| {
            write_key(word.as_bytes(), next, key);
            key.last_mut().into_iter().for_each(|tag| *tag |= DOUBLED_BIT);
            pairs.add_at(key, 2, ordinal)
        };
        let last = match self.split_rule {
            Some(split_rule) => for_each_word(split_rule, sentence, |word, _, next| add(word, next))?,
            None => (0, sentence),
        };
        add(last.1, Follower::Sentence(RARE_CHAR))
    }

    /// Returns the ordinal of each part and the indexes of its sentences.
    fn part_ranges(&self) -> impl Iterator<Item = (u64, Range<usize>)> {
        let ends = self.parts.iter().skip(1).map(|part| part.1).chain([self.pairs.sequence.len()]);
        self.parts.iter().zip(ends).map(|(&(ordinal, start), end)| (ordinal, start..end))
    }
}

/// Returns the rule that splits sentences into words, or `None` if sentences are not split.
fn split_rule(options: &SentencePieceOptions) -> Option<WordSplitRule> {
    let split_rule = WordSplitRule {
        as_suffix: options.treat_whitespace_as_suffix,
        keeps_runs: options.allow_whitespace_only_pieces,
    };
    options.split_by_whitespace.then_some(split_rule)
}

fn has_doubled_sentences(options: &SentencePieceOptions) -> bool {
    options.is_tsv && options.version == SentencePieceVersion::V0_2_1
}

/// Calls `each(word, start, follower)` for each word of a sentence except the last. Returns the start of the last word,
/// and the last word.
fn for_each_word(
    split_rule: WordSplitRule,
    sentence: &str,
    mut each: impl FnMut(&str, usize, Follower) -> Result<()>,
) -> Result<(usize, &str)> {
    let mut last = (0, 0);
    let mut outcome = Ok(());
    split_rule.words(sentence.as_bytes(), |start, end| {
        let (from, to) = std::mem::replace(&mut last, (start, end));
        if from < to && outcome.is_ok() {
            let next = sentence[start..].chars().next().map_or(Follower::End, Follower::Word);
            outcome = each(&sentence[from..to], from, next);
        }
    });
    outcome.map(|()| (last.0, &sentence[last.0..last.1]))
}

impl SentenceSink for SentenceCounter {
    fn begin(&mut self, ordinal: u64) {
        self.parts.checked_push((ordinal, self.pairs.sequence.len()));
        self.memory.add(size_of::<(u64, usize)>());
    }

    fn empty(&mut self) -> Result<()> {
        self.store_sentence([b"", b""])
    }

    /// Counts a sentence. A sentence with a count above 1 is followed by itself.
    fn add_sentence(&mut self, sentence: &str, times: u64, ordinal: u64) -> Result<()> {
        self.add_doubled(sentence, ordinal)?;
        let first = sentence.chars().next().unwrap_or(RARE_CHAR);
        let mut buffer = [0; 4];
        let first_bytes = first.encode_utf8(&mut buffer).as_bytes();
        let Some(split_rule) = self.split_rule else {
            return self.store_sentence([first_bytes, &memory::concat(&[sentence.as_bytes(), &times.to_le_bytes()])]);
        };
        let (start, word) = for_each_word(split_rule, sentence, |word, start, next| {
            self.add(word, next, times, ordinal + start as u64)
        })?;
        if times > 1 {
            self.add(word, Follower::Sentence(first), times - 1, ordinal + start as u64)?;
        }
        self.store_sentence([first_bytes, word.as_bytes()])
    }
}

/// Merges the counts of all threads.
pub fn gather(mut sinks: Vec<SentenceCounter>) -> Result<WordCounter> {
    memory::catch(|| {
        sinks.first().map_or(Ok(()), |sink| sink.memory.check())?;
        let (mut sequences, mut part_ranges) = (Vec::new(), Vec::new());
        for (number, sink) in sinks.iter_mut().enumerate() {
            part_ranges.checked_extend(sink.part_ranges().map(|(ordinal, range)| (ordinal, number, range)));
            sequences.checked_push(std::mem::take(&mut sink.pairs.sequence));
        }
        memory::sort_stably(&mut part_ranges, |one, other| one.0.cmp(&other.0));
        let mut all = merge_counters(sinks.into_iter().map(|sink| sink.pairs))?;
        all.sequence = match sequences.len() {
            1 => sequences.remove(0),
            _ => Sequence::concat(&sequences, part_ranges.into_iter().map(|(_, number, range)| (number, range)))?,
        };
        Ok(all)
    })
}

/// The counts of all sentences, before the alphabet is chosen.
pub struct CountedSentences<W> {
    pub(super) is_split: bool,
    /// True if the pairs include those of doubled sentences.
    pub(super) has_doubled_sentences: bool,
    /// The pairs of a word and its follower, without the last words of sentences.
    pub(super) pairs: W,
    /// The last words of sentences with their followers.
    pub(super) last_words: WordCounter,
    pub(super) whole_sentences: WordCounts,
}

impl<W: BorrowMut<WordCounter>> CountedSentences<W> {
    /// Finds the follower of the last word of each sentence.
    pub fn new(mut pairs: W, options: &SentencePieceOptions) -> Result<CountedSentences<W>> {
        let counted = pairs.borrow_mut();
        let (mut last_words, mut whole_sentences) =
            (WordCounter::new(half_limit(counted.limit())), WordCounts::default());
        let mut order = replace_empty_sentences(counted.sequence.pairs(), options.version).peekable();
        let (is_split, mut key) = (options.split_by_whitespace, Vec::new());
        while let Some([_, last]) = order.next() {
            if !is_split {
                let (sentence, times) = last.split_last_chunk().unwrap_or((last, &[0; 8]));
                whole_sentences.push(sentence, u64::from_le_bytes(*times));
            } else if !last.is_empty() {
                let first = |[first, _]: &[&[u8]; 2]| text(first).chars().next().unwrap_or(RARE_CHAR);
                let next = order.peek().map_or(Follower::End, |next| Follower::Sentence(first(next)));
                write_key(last, next, &mut key);
                last_words.add(&key, 1)?;
            }
        }
        drop(order);
        Ok(CountedSentences {
            is_split,
            has_doubled_sentences: has_doubled_sentences(options),
            pairs,
            last_words,
            whole_sentences,
        })
    }

    /// Counts the characters of all sentences.
    pub fn characters(&mut self) -> Result<CharCounts> {
        memory::catch(|| {
            let mut counts = CharCounts::default();
            for words in [self.pairs.borrow_mut(), &mut self.last_words] {
                words.each_unordered(&mut |key, times| {
                    if is_doubled(key) { Ok(()) } else { counts.add(parse(key).0, times) }
                })?;
            }
            self.whole_sentences.iter().try_for_each(|(sentence, times)| counts.add(text(sentence), times))?;
            Ok(counts)
        })
    }
}

/// Returns half of a limit.
pub(super) fn half_limit(limit: Option<&Limit>) -> Option<Limit> {
    limit.map(|limit| Limit { bytes: limit.bytes / 2, ..limit.clone() })
}

/// Returns all sentences in the trainer's order: each empty sentence is replaced by the last remaining sentence.
/// Version 0.2.1 does not check whether the replacement is empty too.
fn replace_empty_sentences<'s>(
    mut all: impl DoubleEndedIterator<Item = [&'s [u8]; 2]>,
    version: SentencePieceVersion,
) -> impl Iterator<Item = [&'s [u8]; 2]> {
    std::iter::from_fn(move || {
        let mut sentence = all.next()?;
        while sentence[0].is_empty() {
            sentence = all.next_back()?;
            if version == SentencePieceVersion::V0_2_1 {
                break;
            }
        }
        Some(sentence)
    })
}

/// Reports whether a pair comes from a doubled sentence.
pub(super) fn is_doubled(key: &[u8]) -> bool {
    key.last().is_some_and(|tag| tag & DOUBLED_BIT != 0)
}

/// The bit of the tag that marks a pair from a doubled sentence.
const DOUBLED_BIT: u8 = 0x80;

/// Encodes a word and its follower as one key: the word, the first character of the follower, and a tag. The tag is one
/// byte; it holds the length of the character, and the kind of the follower.
pub(super) fn write_key(word: &[u8], next: Follower, key: &mut Vec<u8>) {
    key.clear();
    key.checked_extend_from_slice(word);
    let mut buffer = [0; 4];
    let (char, case) = match next {
        Follower::Word(char) => (char.encode_utf8(&mut buffer).as_bytes(), 0x00),
        Follower::Sentence(char) => (char.encode_utf8(&mut buffer).as_bytes(), 0x10),
        Follower::End => (&[][..], 0x20),
    };
    key.checked_extend_from_slice(char);
    key.checked_push(case | char.len() as u8);
}

/// Decodes a key of [`write_key`].
pub(super) fn parse(key: &[u8]) -> (&str, Follower) {
    let (tag, rest) = key.split_last().map_or((0x20, key), |(tag, rest)| (*tag, rest));
    let (word, char) = rest.split_at(rest.len() - (tag & 0xF) as usize);
    let first = text(char).chars().next().unwrap_or(RARE_CHAR);
    let next = match tag & !DOUBLED_BIT & 0xF0 {
        0x00 => Follower::Word(first),
        0x10 => Follower::Sentence(first),
        _ => Follower::End,
    };
    (text(word), next)
}

/// Converts bytes to text. They are always UTF-8, because texts are split between characters.
pub(super) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::progress::NoProgress;
    use crate::train::sentencepiece::alphabet::Alphabet;
    use crate::train::sentencepiece::validity::Validity;
    use crate::train::unigram::suffixes::IntervalRules;
    use crate::train::unigram::workers::Workers;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type SubstringCounts = BTreeMap<String, u64>;

    fn add_if_valid(substrings: &mut SubstringCounts, validity: &Validity, text: &[u8], count: u64) {
        let chars: Vec<char> = text_of(text).chars().collect();
        if chars.len() > 1 && validity.is_valid(&chars) {
            *substrings.entry(text_of(text).into()).or_default() += count;
        }
    }

    fn text_of(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap_or("")
    }

    fn substrings_of_fragments(sentences: &[String], options: &SentencePieceOptions) -> SubstringCounts {
        let mut sink = SentenceCounter::each(options, None).remove(0);
        sentences.iter().for_each(|sentence| sink.add_sentence(sentence, 1, 0).unwrap());
        let mut counted = CountedSentences::new(gather(vec![sink]).unwrap(), options).unwrap();
        let alphabet = Alphabet::choose(&counted.characters().unwrap(), options).unwrap();
        let (_, mut fragments) =
            counted.cut(&alphabet, options, &mut NoProgress).unwrap().into_columns(&mut NoProgress).unwrap();
        let mut workers = Workers { threads: 2, progress: &mut NoProgress };
        let rules = IntervalRules { limit: 4 * options.max_sentencepiece_length as u32 + 2, version: options.version };
        let all = fragments.intervals(rules, &mut workers, |fragments, intervals| {
            intervals.map(|interval| (fragments.text(&interval).to_vec(), interval.count)).collect::<Vec<_>>()
        });
        let validity = Validity::new(options).unwrap();
        let mut substrings = SubstringCounts::new();
        all.unwrap()
            .into_iter()
            .flatten()
            .for_each(|(text, count)| add_if_valid(&mut substrings, &validity, &text, count));
        substrings
    }

    /// Returns all right-maximal substrings of the whole text; in this text each sentence ends with a zero byte.
    fn substrings_of_text(sentences: &[String], options: &SentencePieceOptions) -> SubstringCounts {
        let text: Vec<u8> = sentences.iter().flat_map(|sentence| [sentence.as_bytes(), &[0]].concat()).collect();
        let mut places: BTreeMap<&[u8], Vec<Option<u8>>> = BTreeMap::new();
        for start in 0..text.len() {
            for end in start + 1..=text.len().min(start + 40) {
                places.entry(&text[start..end]).or_default().push(text.get(end).copied());
            }
        }
        let validity = Validity::new(options).unwrap();
        let mut substrings = SubstringCounts::new();
        for (substring, next) in &places {
            if next.iter().any(|one| *one != next[0]) {
                let end = substring.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                add_if_valid(&mut substrings, &validity, &substring[..end], next.len() as u64);
            }
        }
        substrings
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn fragments_have_the_substrings_of_the_text(
            sentences in proptest::collection::vec("▁?[ab▁я1語、]{1,9}", 1..12), flags in 0u8..32
        ) {
            let flag = |bit: u8| flags >> bit & 1 == 1;
            let options = SentencePieceOptions {
                split_by_whitespace: flag(0),
                split_by_unicode_script: flag(1),
                treat_whitespace_as_suffix: flag(2),
                allow_whitespace_only_pieces: flag(3),
                split_digits: flag(4),
                character_coverage: 1.0,
                max_sentencepiece_length: 6,
                ..SentencePieceOptions::default()
            };
            prop_assert_eq!(substrings_of_fragments(&sentences, &options), substrings_of_text(&sentences, &options));
        }
    }
}
