//! What the sentences of a corpus come down to: distinct words for the estimation, and fragments for the substrings.
//!
//! A valid piece never crosses certain places: the beginning of a word (where words are split), the change of scripts, a digit
//! that stands alone, a character outside the alphabet. A fragment is what lies between two such places. Which substrings are
//! *right-maximal* (two occurrences go on differently), and so become seeds, depends on no more than the character after each
//! occurrence; after the end of a sentence it depends on the one that the next sentence begins with, too (0.2.3, see `suffixes`). So
//! the distinct pairs of a fragment and what follows it, with their counts, have all intervals of the whole corpus that are valid
//! pieces, with the same counts.
//!
//! Cost: one hash per word while the text streams by, one per fragment of each distinct word later.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::spec::Line;
use crate::train::unigram::suffixes::Fragments;
use crate::train::words::Words;
use crate::utf8::lead_len;

/// Stands for a character outside the alphabet.
pub const RARE: char = '\u{2585}';
/// The marker of white space.
pub const SPACE: char = '\u{2581}';

/// Where pieces may begin and end; the options of SentencePiece's trainer that decide it.
pub trait Shape: Sync {
    /// Whether a text of two characters and more may be a piece.
    fn is_valid(&self, piece: &str) -> bool;
    /// Whether no valid piece has these two characters side by side.
    fn parts(&self, left: char, right: char) -> bool;
    /// Whether sentences are split into words.
    fn splits(&self) -> bool;
    /// Calls `word` for each word of a sentence; only if it splits.
    fn words<'a>(&self, sentence: &'a str, word: &mut dyn FnMut(&'a str));
}

/// Counts what trainers of Unigram need of sentences, in the order in which they come.
pub struct Sentences<'a> {
    shape: &'a dyn Shape,
    line: Line,
    /// Words with what follows them, as `key` writes it.
    pairs: HashMap<Box<[u8]>, u64>,
    /// The last word of the last sentence, the first character of this sentence and its count.
    last: Option<(Box<[u8]>, char, u64)>,
    /// The sentences themselves where they are not split, for their order shows in the sums.
    whole: Words,
}

/// What follows a word.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// A word of the same sentence, with this character first.
    Word(char),
    /// The end of the sentence, and then a sentence with this character first.
    Sentence(char),
    /// The end of all.
    End,
}

impl<'a> Sentences<'a> {
    /// No sentences yet.
    pub fn new(shape: &'a dyn Shape, line: Line) -> Sentences<'a> {
        Sentences { shape, line, pairs: HashMap::new(), last: None, whole: Words::default() }
    }

    /// Adds a sentence that occurs `count` times.
    pub fn push(&mut self, sentence: &str, count: u64) -> Result<()> {
        let Some(first) = sentence.chars().next() else { return Ok(()) };
        if !self.shape.splits() {
            self.whole.push(sentence.as_bytes(), count);
            return Ok(());
        }
        self.end_last(Next::Sentence(first))?;
        let mut before: Option<&str> = None;
        let mut outcome = Ok(());
        let (shape, pairs) = (self.shape, &mut self.pairs);
        shape.words(sentence, &mut |word| {
            if let (Some(before), Some(first)) = (before.replace(word), word.chars().next()) {
                let added = add(pairs, key(before.as_bytes(), Next::Word(first)), count);
                outcome = outcome.clone().and(added);
            }
        });
        self.last = before.map(|word| (word.as_bytes().into(), first, count));
        outcome
    }

    /// Counts the last word of the last sentence. A sentence that occurs several times follows itself.
    fn end_last(&mut self, next: Next) -> Result<()> {
        let Some((word, first, count)) = self.last.take() else { return Ok(()) };
        if count > 1 {
            add(&mut self.pairs, key(&word, Next::Sentence(first)), count - 1)?;
        }
        add(&mut self.pairs, key(&word, next), 1)
    }

    /// The words in the trainer's order, (count desc, text), or the sentences in theirs; and the fragments. `keeps` tells the characters of
    /// the alphabet; all others are rare.
    pub fn finish(mut self, keeps: impl Fn(char) -> bool) -> Result<(Words, Fragments)> {
        let mut cuts = Cuts { shape: self.shape, keeps, fragments: HashMap::new(), end: None };
        let words = if self.shape.splits() {
            self.end_last(Next::End)?;
            let mut words = HashMap::new();
            for (key, count) in self.pairs {
                let (word, next) = parse(&key);
                add(&mut words, cuts.cut(word, next, count)?.into_bytes().into(), count)?;
            }
            sorted(words)
        } else {
            cuts.whole(&self.whole)?
        };
        Ok((words, cuts.finish(self.line)?))
    }
}

/// Cuts words into fragments.
struct Cuts<'a, K> {
    shape: &'a dyn Shape,
    keeps: K,
    fragments: HashMap<Box<[u8]>, u64>,
    /// The fragment at the end of all, and its count.
    end: Option<(Vec<u8>, u64)>,
}

impl<K: Fn(char) -> bool> Cuts<'_, K> {
    /// Cuts whole sentences; the sentences without rare characters.
    fn whole(&mut self, sentences: &Words) -> Result<Words> {
        let mut words = Words::default();
        let text = |index| std::str::from_utf8(sentences.word(index)).unwrap_or_default();
        for index in 0..sentences.len() {
            let (sentence, count) = (text(index), sentences.count(index));
            let first = |index| text(index).chars().next().unwrap_or(RARE);
            let next = if index + 1 < sentences.len() { Next::Sentence(first(index + 1)) } else { Next::End };
            if count > 1 {
                self.cut(sentence, Next::Sentence(first(index)), count - 1)?;
            }
            words.push(self.cut(sentence, next, 1)?.as_bytes(), count);
        }
        Ok(words)
    }

    /// The word without rare characters.
    fn cut(&mut self, word: &str, next: Next, count: u64) -> Result<String> {
        let kept = |char| if (self.keeps)(char) { char } else { RARE };
        let word: String = word.chars().map(kept).collect();
        let next = match next {
            Next::Word(first) => Next::Word(kept(first)),
            Next::Sentence(first) => Next::Sentence(kept(first)),
            Next::End => Next::End,
        };
        let mut outcome = Ok(());
        each_fragment(&word, next, self.shape, |fragment, next| match next {
            Next::End => self.end = Some((fragment.as_bytes().to_vec(), count)),
            _ => {
                let added = add(&mut self.fragments, key(fragment.as_bytes(), next), count);
                outcome = outcome.clone().and(added);
            }
        });
        outcome.map(|()| word)
    }

    fn finish(self, line: Line) -> Result<Fragments> {
        let mut columns = Fragments::default();
        for (key, count) in &self.fragments {
            let (fragment, next) = parse(key);
            columns.push(fragment.as_bytes(), &follower(next, line), *count)?;
        }
        if let Some((fragment, count)) = self.end {
            columns.push(&fragment, &[0], count)?; // only where it is the end does the end of all differ from every byte
        }
        Ok(columns)
    }
}

/// A word and what follows it as one text: the word, the character, and a last byte that tells the character's length and the case.
fn key(word: &[u8], next: Next) -> Box<[u8]> {
    let mut key = Vec::with_capacity(word.len() + 5);
    key.extend_from_slice(word);
    let mut buffer = [0; 4];
    let (char, case) = match next {
        Next::Word(char) => (char.encode_utf8(&mut buffer).as_bytes(), 0x00),
        Next::Sentence(char) => (char.encode_utf8(&mut buffer).as_bytes(), 0x10),
        Next::End => (&[][..], 0x20),
    };
    key.extend_from_slice(char);
    key.push(case | char.len() as u8);
    key.into()
}

fn parse(key: &[u8]) -> (&str, Next) {
    let (tag, rest) = key.split_last().map_or((0x20, key), |(tag, rest)| (*tag, rest));
    let (word, char) = rest.split_at(rest.len() - (tag & 0xF) as usize);
    let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
    let first = text(char).chars().next().unwrap_or(RARE);
    let next = match tag & 0xF0 {
        0x00 => Next::Word(first),
        0x10 => Next::Sentence(first),
        _ => Next::End,
    };
    (text(word), next)
}

fn add(counts: &mut HashMap<Box<[u8]>, u64>, key: Box<[u8]>, count: u64) -> Result<()> {
    let sum = counts.entry(key).or_insert(0);
    *sum = sum
        .checked_add(count)
        .ok_or_else(|| Error::Argument("a word's count passes 2^64: scale the counts down".into()))?;
    Ok(())
}

/// The fragments of a word that have two characters or more, each with what follows it.
fn each_fragment<'w>(word: &'w str, next: Next, shape: &dyn Shape, mut found: impl FnMut(&'w str, Next)) {
    let mut tell = |fragment: &'w str, next: Next| {
        if fragment.len() > fragment.as_bytes().first().map_or(0, |&lead| lead_len(lead)) {
            found(fragment, next);
        }
    };
    let mut start = 0;
    let mut before = None;
    for (at, char) in word.char_indices() {
        let parted = before.is_some_and(|before| before == RARE || char == RARE || shape.parts(before, char));
        if parted {
            tell(&word[start..at], Next::Word(char));
            start = at;
        }
        before = Some(char);
    }
    tell(&word[start..], next);
}

/// The bytes that stand after a fragment. 0.2.3 looks beyond the end of a sentence, one byte far.
fn follower(next: Next, line: Line) -> Vec<u8> {
    let mut buffer = [0; 4];
    match next {
        Next::Word(char) => char.encode_utf8(&mut buffer).as_bytes().to_vec(),
        Next::Sentence(char) if line == Line::V0_2_3 => vec![0, char.encode_utf8(&mut buffer).as_bytes()[0]],
        _ => vec![0],
    }
}

fn sorted(words: HashMap<Box<[u8]>, u64>) -> Words {
    let mut order: Vec<(Box<[u8]>, u64)> = words.into_iter().collect();
    order.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut columns = Words::default();
    order.iter().for_each(|(word, count)| columns.push(word, *count));
    columns
}
