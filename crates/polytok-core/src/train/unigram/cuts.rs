//! Splits the counted sentences into words and fragments, after the alphabet has been chosen.
//!
//! A fragment is the text between two positions that no piece crosses; a follower is the character after a word or
//! fragment. Words and fragments are first counted, within the memory limit if there is one. So their sizes are known
//! before they are copied to columns. Cost: one lookup for each distinct pair of a word and its follower, and one
//! lookup for each fragment of these words.

use std::borrow::BorrowMut;

use polytok_memory::{self as memory, Collect, Copied};

use crate::error::Result;
use crate::spec::SentencePieceVersion;
use crate::train::counter::{Order, WordCounter};
use crate::train::progress::Progress;
use crate::train::sentencepiece::alphabet::Alphabet;
use crate::train::sentencepiece::options::{RARE_CHAR, SentencePieceOptions};
use crate::train::sentencepiece::validity::Validity;
use crate::train::unigram::sentences::{CountedSentences, Follower, half_limit, is_doubled, parse, text, write_key};
use crate::train::unigram::suffixes::Fragments;
use crate::train::words::WordCounts;
use crate::utf8::is_start;
use crate::utf8::lead_len;

/// The number of words between two progress reports.
const REPORT_INTERVAL: u64 = 1 << 12;

impl<W: BorrowMut<WordCounter>> CountedSentences<W> {
    /// Splits the sentences into words and fragments. Replaces characters outside the alphabet by `RARE_CHAR`.
    pub fn cut(
        mut self,
        alphabet: &Alphabet,
        options: &SentencePieceOptions,
        progress: &mut dyn Progress,
    ) -> Result<WordsAndFragments> {
        let delimiter =
            (options.version == SentencePieceVersion::V0_2_1).then_some(&options.pretokenization_delimiter[..]);
        let fragments = self.empty_counter();
        let mut cutter = FragmentCutter {
            validity: Validity::new(options)?,
            alphabet,
            delimiter: delimiter.filter(|delimiter| !delimiter.is_empty()),
            fragments,
            end: None,
            masked_word: String::new(),
            key: Vec::new(),
        };
        let (mut words, mut whole_sentences) = (self.empty_counter(), None);
        if self.is_split {
            for pairs in [self.pairs.borrow_mut(), &mut self.last_words] {
                cutter.words(pairs, false, progress, |word, times| words.add(word.as_bytes(), times))?;
            }
        } else {
            whole_sentences = Some(cutter.cut_whole_sentences(&self.whole_sentences)?);
        }
        if self.has_doubled_sentences {
            (cutter.fragments, cutter.end) = (self.empty_counter(), None);
            cutter.words(self.pairs.borrow_mut(), true, progress, |_, _| Ok(()))?;
        }
        let FragmentCutter { fragments, end, .. } = cutter;
        Ok(WordsAndFragments { version: options.version, words, whole_sentences, fragments, end })
    }

    /// Creates a counter with half of the limit, because words and fragments are counted at the same time.
    fn empty_counter(&self) -> WordCounter {
        WordCounter::new(half_limit(self.pairs.borrow().limit()))
    }
}

/// The counted words and fragments of a corpus.
pub struct WordsAndFragments {
    version: SentencePieceVersion,
    words: WordCounter,
    /// The sentences, if sentences are not split into words.
    whole_sentences: Option<WordCounts>,
    fragments: WordCounter,
    /// The last fragment of the corpus, and its count.
    end: Option<(Vec<u8>, u64)>,
}

/// The number of distinct texts, and their total numbers of bytes and characters.
#[derive(Default)]
pub struct FragmentSizes {
    pub count: u64,
    pub bytes: u64,
    pub chars: u64,
}

impl FragmentSizes {
    fn add(&mut self, word: &[u8]) {
        self.count += 1;
        self.bytes += word.len() as u64;
        self.chars += word.iter().filter(|&&byte| is_start(byte)).count() as u64;
    }

    fn from_counter(counter: &mut WordCounter) -> Result<FragmentSizes> {
        let mut sizes = FragmentSizes::default();
        counter.each_unordered(&mut |word, _| {
            sizes.add(word);
            Ok(())
        })?;
        Ok(sizes)
    }
}

impl WordsAndFragments {
    /// Returns the sizes of the words, and of the fragments with their followers.
    pub fn sizes(&mut self) -> Result<(FragmentSizes, FragmentSizes)> {
        let mut words = FragmentSizes::from_counter(&mut self.words)?;
        self.whole_sentences.iter().flat_map(WordCounts::iter).for_each(|(sentence, _)| words.add(sentence));
        Ok((words, FragmentSizes::from_counter(&mut self.fragments)?))
    }

    /// Returns the words and the fragments. The words are ordered by falling count, then by text; sentences that are
    /// not split keep their order.
    pub fn into_columns(mut self, progress: &mut dyn Progress) -> Result<(WordCounts, Fragments)> {
        let mut columns = Fragments::default();
        self.fragments.each(Order::Bytes, progress, &mut |key, times| {
            let (fragment, next) = parse(key);
            columns.push(fragment.as_bytes(), &follower_bytes(next, self.version), times)
        })?;
        drop(self.fragments);
        if let Some((fragment, times)) = self.end {
            columns.push(&fragment, &follower_bytes(Follower::End, self.version), times)?;
        }
        let words = match self.whole_sentences {
            Some(whole_sentences) => whole_sentences,
            None => self.words.into_words(Order::MostFrequent, progress)?,
        };
        Ok((words, columns))
    }
}

/// Splits words into fragments.
struct FragmentCutter<'a> {
    validity: Validity,
    alphabet: &'a Alphabet,
    /// The delimiter that 0.2.1 removes from words. Fragments end at every character that occurs in it.
    delimiter: Option<&'a str>,
    fragments: WordCounter,
    /// The last fragment of the corpus, and its count.
    end: Option<(Vec<u8>, u64)>,
    masked_word: String,
    key: Vec<u8>,
}

impl FragmentCutter<'_> {
    /// Calls `each` with every word that training uses, except empty words. `doubled` selects the pairs of doubled
    /// sentences, or all other pairs.
    fn words(
        &mut self,
        pairs: &mut WordCounter,
        doubled: bool,
        progress: &mut dyn Progress,
        mut each: impl FnMut(&str, u64) -> Result<()>,
    ) -> Result<()> {
        let mut done = 0u64;
        pairs.each_unordered(&mut |key, times| {
            if is_doubled(key) != doubled {
                return Ok(());
            }
            let (word, next) = parse(key);
            let word = self.cut(word, next, times)?;
            if !word.is_empty() {
                each(&word, times)?;
            }
            done += 1;
            if done.is_multiple_of(REPORT_INTERVAL) { progress.report("cutting words", done, 0) } else { Ok(()) }
        })
    }

    fn cut_whole_sentences(&mut self, sentences: &WordCounts) -> Result<WordCounts> {
        let mut words = WordCounts::default();
        let sentence_at = |index| Follower::Sentence(text(sentences.word(index)).chars().next().unwrap_or(RARE_CHAR));
        for (index, (sentence, times)) in sentences.iter().enumerate() {
            let sentence = text(sentence);
            let next = if index + 1 < sentences.len() { sentence_at(index + 1) } else { Follower::End };
            if times > 1 {
                self.cut(sentence, sentence_at(index), times - 1)?;
            }
            words.push(self.cut(sentence, next, 1)?.as_bytes(), times);
        }
        Ok(words)
    }

    /// Counts the fragments of a word. Returns the form of the word that scores are trained on.
    fn cut(&mut self, word: &str, next: Follower, times: u64) -> Result<String> {
        let mut masked_word = std::mem::take(&mut self.masked_word);
        masked_word.clear();
        self.alphabet.mask(word, &mut masked_word);
        let next = match next {
            Follower::Word(first) => Follower::Word(self.char_or_rare(first)),
            Follower::Sentence(first) => Follower::Sentence(self.char_or_rare(first)),
            Follower::End => Follower::End,
        };
        let trained = match self.delimiter {
            Some(delimiter) => {
                let parts: Vec<&str> = masked_word.split(|char| delimiter.contains(char)).checked_collect();
                let inner = &parts[..parts.len() - 1];
                inner.iter().try_for_each(|part| self.count_fragments(part, Follower::Sentence(RARE_CHAR), times))?;
                self.count_fragments(parts[parts.len() - 1], next, times)?;
                masked_word.replace(delimiter, "")
            }
            None => {
                self.count_fragments(&masked_word, next, times)?;
                memory::text(&masked_word)
            }
        };
        self.masked_word = masked_word;
        Ok(trained)
    }

    fn char_or_rare(&self, char: char) -> char {
        if self.alphabet.contains(char) { char } else { RARE_CHAR }
    }

    /// Counts the fragments of a word that have at least two characters, each with its follower.
    fn count_fragments(&mut self, word: &str, next: Follower, times: u64) -> Result<()> {
        let mut start = 0;
        let mut before = None;
        for (at, char) in word.char_indices() {
            if before.is_some_and(|before| !self.validity.can_join(before, char)) {
                self.count_fragment(&word[start..at], Follower::Word(char), times)?;
                start = at;
            }
            before = Some(char);
        }
        self.count_fragment(&word[start..], next, times)
    }

    fn count_fragment(&mut self, fragment: &str, next: Follower, times: u64) -> Result<()> {
        if fragment.len() <= fragment.as_bytes().first().map_or(0, |&lead| lead_len(lead)) {
            return Ok(());
        }
        if next == Follower::End {
            self.end = Some((fragment.as_bytes().checked_to_vec(), times));
            return Ok(());
        }
        write_key(fragment.as_bytes(), next, &mut self.key);
        self.fragments.add(&self.key, times)
    }
}

/// Returns the bytes that represent the follower of a fragment. At the end of a sentence, version 0.2.3 also uses the
/// first byte of the next sentence. The end of the corpus is a byte that no text contains.
fn follower_bytes(next: Follower, version: SentencePieceVersion) -> Vec<u8> {
    let mut buffer = [0; 4];
    match next {
        Follower::Word(char) => char.encode_utf8(&mut buffer).as_bytes().checked_to_vec(),
        Follower::Sentence(char) if version == SentencePieceVersion::V0_2_3 => {
            vec![0, char.encode_utf8(&mut buffer).as_bytes()[0]]
        }
        Follower::End => vec![0, 0xFF],
        _ => vec![0],
    }
}
