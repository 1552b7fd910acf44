//! Words and fragments of all that was counted, once it is known which characters are rare.
//!
//! Both are counted first, within the limit if there is one, so that their sizes are known before they are laid out in memory. Cost:
//! one hash for each distinct word and what follows it, and one for each fragment of these.

use std::borrow::BorrowMut;

use crate::error::Result;
use crate::spec::Line;
use crate::train::counter::{Order, WordCounter};
use crate::train::progress::Progress;
use crate::train::sentencepiece::alphabet::Alphabet;
use crate::train::sentencepiece::options::{Options, RARE};
use crate::train::sentencepiece::validity::Validity;
use crate::train::unigram::sentences::{Counted, Next, half, is_of_twice, parse, text, write_key};
use crate::train::unigram::suffixes::Fragments;
use crate::train::words::WordCounts;
use crate::utf8::is_start;
use crate::utf8::lead_len;

/// Words between two reports.
const EACH: u64 = 1 << 12;

impl<W: BorrowMut<WordCounter>> Counted<W> {
    /// The words and fragments. Characters beyond the alphabet are rare.
    pub fn cut(mut self, alphabet: &Alphabet, options: &Options, progress: &mut dyn Progress) -> Result<Material> {
        let delimiter = (options.line == Line::V0_2_1).then_some(&options.pretokenization_delimiter[..]);
        let fragments = self.empty();
        let mut cuts = Cuts {
            validity: Validity::new(options)?,
            alphabet,
            delimiter: delimiter.filter(|delimiter| !delimiter.is_empty()),
            fragments,
            end: None,
            masked: String::new(),
            key: Vec::new(),
        };
        let (mut words, mut whole) = (self.empty(), None);
        if self.splits {
            for pairs in [self.pairs.borrow_mut(), &mut self.lasts] {
                cuts.words(pairs, false, progress, |word, times| words.add(word.as_bytes(), times))?;
            }
        } else {
            whole = Some(cuts.whole(&self.whole)?);
        }
        if self.is_twice {
            (cuts.fragments, cuts.end) = (self.empty(), None);
            cuts.words(self.pairs.borrow_mut(), true, progress, |_, _| Ok(()))?;
        }
        let Cuts { fragments, end, .. } = cuts;
        Ok(Material { line: options.line, words, whole, fragments, end })
    }

    /// A counter within the half of the limit: words and fragments are counted at once.
    fn empty(&self) -> WordCounter {
        WordCounter::new(half(self.pairs.borrow().limit()))
    }
}

/// Words and fragments, not laid out yet.
pub struct Material {
    line: Line,
    words: WordCounter,
    /// The sentences, where they are not split.
    whole: Option<WordCounts>,
    fragments: WordCounter,
    /// The fragment at the end of all, and its count.
    end: Option<(Vec<u8>, u64)>,
}

/// How much of them there is.
#[derive(Default)]
pub struct Sizes {
    pub count: u64,
    pub bytes: u64,
    pub chars: u64,
}

impl Sizes {
    fn add(&mut self, word: &[u8]) {
        self.count += 1;
        self.bytes += word.len() as u64;
        self.chars += word.iter().filter(|&&byte| is_start(byte)).count() as u64;
    }

    fn of(counter: &mut WordCounter) -> Result<Sizes> {
        let mut sizes = Sizes::default();
        counter.each_unordered(&mut |word, _| {
            sizes.add(word);
            Ok(())
        })?;
        Ok(sizes)
    }
}

impl Material {
    /// How much there is of words, and of fragments with what follows them.
    pub fn sizes(&mut self) -> Result<(Sizes, Sizes)> {
        let mut words = Sizes::of(&mut self.words)?;
        self.whole.iter().flat_map(WordCounts::iter).for_each(|(sentence, _)| words.add(sentence));
        Ok((words, Sizes::of(&mut self.fragments)?))
    }

    /// The words in the trainer's order, (count desc, text), or the sentences in theirs; and the fragments.
    pub fn laid_out(mut self, progress: &mut dyn Progress) -> Result<(WordCounts, Fragments)> {
        let mut columns = Fragments::default();
        self.fragments.each(Order::Bytes, progress, &mut |key, times| {
            let (fragment, next) = parse(key);
            columns.push(fragment.as_bytes(), &follower(next, self.line), times)
        })?;
        drop(self.fragments);
        if let Some((fragment, times)) = self.end {
            columns.push(&fragment, &follower(Next::End, self.line), times)?;
        }
        let words = match self.whole {
            Some(whole) => whole,
            None => self.words.into_words(Order::MostFrequent, progress)?,
        };
        Ok((words, columns))
    }
}

/// Cuts words into fragments.
struct Cuts<'a> {
    validity: Validity,
    alphabet: &'a Alphabet,
    /// 0.2.1 takes it out of words, and no fragment has a character of it.
    delimiter: Option<&'a str>,
    fragments: WordCounter,
    /// The fragment at the end of all, and its count.
    end: Option<(Vec<u8>, u64)>,
    masked: String,
    key: Vec<u8>,
}

impl Cuts<'_> {
    /// Calls `each` with every word as it is trained on, unless nothing is left of it; of pairs with each sentence twice or of the others.
    fn words(
        &mut self,
        pairs: &mut WordCounter,
        of_twice: bool,
        progress: &mut dyn Progress,
        mut each: impl FnMut(&str, u64) -> Result<()>,
    ) -> Result<()> {
        let mut done = 0u64;
        pairs.each_unordered(&mut |key, times| {
            if is_of_twice(key) != of_twice {
                return Ok(());
            }
            let (word, next) = parse(key);
            let word = self.cut(word, next, times)?;
            if !word.is_empty() {
                each(&word, times)?;
            }
            done += 1;
            if done.is_multiple_of(EACH) { progress.report("cutting words", done, 0) } else { Ok(()) }
        })
    }

    fn whole(&mut self, sentences: &WordCounts) -> Result<WordCounts> {
        let mut words = WordCounts::default();
        let sentence_at = |index| Next::Sentence(text(sentences.word(index)).chars().next().unwrap_or(RARE));
        for (index, (sentence, times)) in sentences.iter().enumerate() {
            let sentence = text(sentence);
            let next = if index + 1 < sentences.len() { sentence_at(index + 1) } else { Next::End };
            if times > 1 {
                self.cut(sentence, sentence_at(index), times - 1)?;
            }
            words.push(self.cut(sentence, next, 1)?.as_bytes(), times);
        }
        Ok(words)
    }

    /// Counts the fragments of a word; the word as it is trained on.
    fn cut(&mut self, word: &str, next: Next, times: u64) -> Result<String> {
        let mut masked = std::mem::take(&mut self.masked);
        masked.clear();
        self.alphabet.mask(word, &mut masked);
        let next = match next {
            Next::Word(first) => Next::Word(self.kept(first)),
            Next::Sentence(first) => Next::Sentence(self.kept(first)),
            Next::End => Next::End,
        };
        let trained = match self.delimiter {
            Some(delimiter) => {
                let parts: Vec<&str> = masked.split(|char| delimiter.contains(char)).collect();
                let inner = &parts[..parts.len() - 1];
                inner.iter().try_for_each(|part| self.fragments(part, Next::Sentence(RARE), times))?;
                self.fragments(parts[parts.len() - 1], next, times)?;
                masked.replace(delimiter, "")
            }
            None => {
                self.fragments(&masked, next, times)?;
                masked.clone()
            }
        };
        self.masked = masked;
        Ok(trained)
    }

    fn kept(&self, char: char) -> char {
        if self.alphabet.contains(char) { char } else { RARE }
    }

    /// Counts the fragments of a word that have two characters or more, each with what follows it.
    fn fragments(&mut self, word: &str, next: Next, times: u64) -> Result<()> {
        let mut start = 0;
        let mut before = None;
        for (at, char) in word.char_indices() {
            if before.is_some_and(|before| !self.validity.may_join(before, char)) {
                self.fragment(&word[start..at], Next::Word(char), times)?;
                start = at;
            }
            before = Some(char);
        }
        self.fragment(&word[start..], next, times)
    }

    fn fragment(&mut self, fragment: &str, next: Next, times: u64) -> Result<()> {
        if fragment.len() <= fragment.as_bytes().first().map_or(0, |&lead| lead_len(lead)) {
            return Ok(());
        }
        if next == Next::End {
            self.end = Some((fragment.as_bytes().to_vec(), times));
            return Ok(());
        }
        write_key(fragment.as_bytes(), next, &mut self.key);
        self.fragments.add(&self.key, times)
    }
}

/// The bytes that stand after a fragment. 0.2.3 looks beyond the end of a sentence, one byte far; the end of all differs from every
/// byte of a text, so it is one that no text has.
fn follower(next: Next, line: Line) -> Vec<u8> {
    let mut buffer = [0; 4];
    match next {
        Next::Word(char) => char.encode_utf8(&mut buffer).as_bytes().to_vec(),
        Next::Sentence(char) if line == Line::V0_2_3 => vec![0, char.encode_utf8(&mut buffer).as_bytes()[0]],
        Next::End => vec![0, 0xFF],
        _ => vec![0],
    }
}
