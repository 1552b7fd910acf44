//! What the sentences of a corpus come down to: distinct words for the estimation, and fragments for the substrings.
//!
//! A valid piece never crosses certain places: the beginning of a word (where words are split), the change of scripts, a digit
//! that stands alone, a character outside the alphabet. A fragment is what lies between two such places. Which substrings are
//! *right-maximal* (two occurrences go on differently), and so become seeds, depends on no more than the character after each
//! occurrence; after the end of a sentence it depends on the one that the next sentence begins with, too (0.2.3, see `suffixes`). So
//! the distinct pairs of a fragment and what follows it, with their counts, have all intervals of the whole corpus that are valid
//! pieces, with the same counts.
//!
//! This counts the pairs of a word and what follows it; [`super::cuts`] makes words and fragments of them. Cost: one hash per word while
//! the text streams by.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::spec::Line;
use crate::train::counter::{Limit, WordCounter};
use crate::train::sentencepiece::alphabet::CharCounts;
use crate::train::sentencepiece::corpus::Sink;
use crate::train::sentencepiece::options::{Options, RARE};
use crate::train::sentencepiece::words::Cut;
use crate::train::words::Words;

/// How often a whole sentence is held at the most: as it is read, in the order of all, and as it is trained on.
const COPIES: usize = 3;
/// Bytes for each last word besides its text: its slots in a table that grows, what the heap takes, and its place in a list.
const LAST: usize = 96;

/// Counts what the trainer needs of sentences.
pub struct Sentences {
    line: Line,
    cut: Option<Cut>,
    /// Words with what follows them, as `write_key` writes it.
    pairs: WordCounter,
    /// The same with each sentence twice: in these 0.2.1 looks for substrings where sentences come with counts.
    twice: Option<WordCounter>,
    /// Stretches of sentences that stand one after the other.
    parts: Vec<Part>,
    /// The last words of sentences, each once: of each sentence one occurrence waits for what follows.
    lasts: HashMap<Box<[u8]>, u32>,
    /// Bytes that are held besides words that are counted, and how many may be.
    held: usize,
    most: usize,
    key: Vec<u8>,
}

/// Sentences that stand one after the other in the text.
#[derive(Default)]
struct Part {
    /// Its place among all parts.
    ordinal: u64,
    /// For each sentence its last word and the character that it begins with; nothing for an empty one.
    sentences: Vec<Option<(u32, char)>>,
    /// The sentences themselves where they are not split, for their order shows in the sums.
    whole: Words,
}

/// What follows a word.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Next {
    /// A word of the same sentence, with this character first.
    Word(char),
    /// The end of the sentence, and then a sentence with this character first.
    Sentence(char),
    /// The end of all.
    End,
}

impl Sentences {
    /// No sentences yet. What is counted takes a half of the limit at the most, what is held of sentences the other.
    pub fn new(options: &Options, limit: Option<Limit>) -> Sentences {
        let cut =
            Cut { as_suffix: options.treat_whitespace_as_suffix, keeps_runs: options.allow_whitespace_only_pieces };
        let is_twice = options.is_tsv && options.line == Line::V0_2_1;
        let share = |limit: &Limit| limit.bytes / if is_twice { 4 } else { 2 };
        let counter = || WordCounter::new(limit.as_ref().map(|limit| Limit { bytes: share(limit), ..limit.clone() }));
        Sentences {
            line: options.line,
            cut: options.split_by_whitespace.then_some(cut),
            twice: is_twice.then(counter),
            pairs: counter(),
            parts: Vec::new(),
            lasts: HashMap::new(),
            held: 0,
            most: limit.as_ref().map_or(usize::MAX, |limit| limit.bytes / 2),
            key: Vec::new(),
        }
    }

    fn add(&mut self, word: &str, next: Next, times: u64, ordinal: u64) -> Result<()> {
        write_key(word.as_bytes(), next, &mut self.key);
        self.pairs.add_at(&self.key, times, ordinal)
    }

    /// The stretch that is being read.
    fn part(&mut self) -> &mut Part {
        if self.parts.is_empty() {
            self.parts.push(Part::default());
        }
        let last = self.parts.len() - 1;
        &mut self.parts[last]
    }

    /// Holds a sentence. All of them must fit a limit.
    fn whole(&mut self, sentence: &str, times: u64) -> Result<()> {
        self.part().whole.push(sentence.as_bytes(), times);
        self.hold(COPIES * (sentence.len() + size_of::<(usize, u64)>()))
    }

    /// So many bytes more are held. All of them must fit a limit.
    fn hold(&mut self, bytes: usize) -> Result<()> {
        self.held += bytes;
        if self.held <= self.most {
            return Ok(());
        }
        let what = if self.cut.is_some() {
            "of each sentence some bytes are"
        } else {
            "without split_by_whitespace all sentences are"
        };
        Err(Error::Argument(format!(
            "{what} held in memory, and they take more than the part of max_memory that is theirs: raise it, or train on a sample of the \
             text (input_sentence_size)"
        )))
    }

    /// The number of a last word.
    fn last(&mut self, word: &[u8]) -> Result<u32> {
        let next = self.lasts.len() as u32;
        if let Some(&number) = self.lasts.get(word) {
            return Ok(number);
        }
        self.lasts.insert(word.into(), next);
        self.hold(LAST + word.len()).map(|()| next)
    }

    /// Counts a sentence twice. What follows its end does not matter in 0.2.1.
    fn add_twice(&mut self, sentence: &str) -> Result<()> {
        let Some(twice) = &mut self.twice else { return Ok(()) };
        let key = &mut self.key;
        let mut add = |word: &str, next| {
            write_key(word.as_bytes(), next, key);
            twice.add(key, 2)
        };
        let last = match self.cut {
            Some(cut) => each_word(cut, sentence, |word, _, next| add(word, next))?,
            None => (0, sentence),
        };
        add(last.1, Next::Sentence(RARE))
    }
}

/// Calls `each(word, start, next)` for each word of a sentence but the last; the last, and where it starts.
fn each_word(cut: Cut, sentence: &str, mut each: impl FnMut(&str, usize, Next) -> Result<()>) -> Result<(usize, &str)> {
    let mut last = (0, 0);
    let mut outcome = Ok(());
    cut.words(sentence.as_bytes(), |start, end| {
        let (from, to) = std::mem::replace(&mut last, (start, end));
        if from < to && outcome.is_ok() {
            let next = sentence[start..].chars().next().map_or(Next::End, Next::Word);
            outcome = each(&sentence[from..to], from, next);
        }
    });
    outcome.map(|()| (last.0, &sentence[last.0..last.1]))
}

impl Sink for Sentences {
    fn begin(&mut self, ordinal: u64) {
        self.parts.push(Part { ordinal, ..Part::default() });
    }

    fn empty(&mut self) {
        self.held += size_of::<Option<(u32, char)>>();
        self.part().sentences.push(None);
        if self.cut.is_none() {
            self.part().whole.push(b"", 1);
        }
    }

    /// A sentence that occurs several times follows itself.
    fn sentence(&mut self, sentence: &str, times: u64, ordinal: u64) -> Result<()> {
        let first = sentence.chars().next().unwrap_or(RARE);
        self.add_twice(sentence)?;
        let Some(cut) = self.cut else {
            self.part().sentences.push(Some((0, first)));
            return self.whole(sentence, times);
        };
        let (start, word) =
            each_word(cut, sentence, |word, start, next| self.add(word, next, times, ordinal + start as u64))?;
        if times > 1 {
            self.add(word, Next::Sentence(first), times - 1, ordinal + start as u64)?;
        }
        let number = self.last(word.as_bytes())?;
        self.part().sentences.push(Some((number, first)));
        self.hold(size_of::<Option<(u32, char)>>())
    }
}

/// All that was counted, before it is known which characters are rare.
pub struct Counted {
    pub(super) splits: bool,
    /// Words with what follows them.
    pub(super) pairs: WordCounter,
    /// The same with each sentence twice.
    pub(super) twice: Option<WordCounter>,
    pub(super) whole: Words,
}

/// Puts together what the threads counted.
pub fn gathered(sinks: Vec<Sentences>) -> Result<Counted> {
    let line = sinks.first().map_or(Line::V0_2_3, |sink| sink.line);
    let splits = sinks.first().is_some_and(|sink| sink.cut.is_some());
    let (mut pairs, mut twice): (_, Option<WordCounter>) = (WordCounter::default(), None);
    let (mut parts, mut lasts) = (Vec::new(), Vec::new());
    for (number, sink) in sinks.into_iter().enumerate() {
        if pairs.is_empty() {
            pairs = sink.pairs
        } else {
            pairs.merge(sink.pairs)?
        }
        if let Some(more) = sink.twice {
            match &mut twice {
                Some(twice) => twice.merge(more)?,
                None => twice = Some(more),
            }
        }
        parts.extend(sink.parts.into_iter().map(|part| (number, part)));
        let mut words = vec![Box::default(); sink.lasts.len()];
        sink.lasts.into_iter().for_each(|(word, number)| words[number as usize] = word);
        lasts.push(words);
    }
    parts.sort_by_key(|(_, part)| part.ordinal);
    let mut order = without_empty(&parts, line).peekable();
    let mut whole = Words::default();
    if splits {
        let mut key = Vec::new();
        while let Some((part, sentence)) = order.next() {
            let (sink, part) = &parts[part];
            let Some((last, _)) = part.sentences[sentence] else { continue };
            let next = order.peek().map(|&(part, sentence)| parts[part].1.sentences[sentence]);
            let next = next.map_or(Next::End, |next| Next::Sentence(next.map_or(RARE, |(_, first)| first)));
            write_key(&lasts[*sink][last as usize], next, &mut key);
            pairs.add(&key, 1)?;
        }
    } else {
        for (part, sentence) in order {
            let sentences = &parts[part].1.whole;
            whole.push(sentences.word(sentence), sentences.count(sentence));
        }
    }
    Ok(Counted { splits, pairs, twice, whole })
}

/// The places of all sentences, as part and number, in the trainer's order: the last sentence comes to where an empty one was. 0.2.1
/// looks no further, so that an empty one may come there and stay.
fn without_empty(parts: &[(usize, Part)], line: Line) -> impl Iterator<Item = (usize, usize)> {
    let mut all =
        parts.iter().enumerate().flat_map(|(part, (_, of))| (0..of.sentences.len()).map(move |number| (part, number)));
    std::iter::from_fn(move || {
        let mut place = all.next()?;
        while parts[place.0].1.sentences[place.1].is_none() {
            place = all.next_back()?;
            if line == Line::V0_2_1 {
                break;
            }
        }
        Some(place)
    })
}

impl Counted {
    /// How often each character occurs.
    pub fn characters(&mut self) -> Result<CharCounts> {
        let mut counts = CharCounts::default();
        self.pairs.each_unordered(&mut |key, times| counts.add(parse(key).0, times))?;
        self.whole.iter().try_for_each(|(sentence, times)| counts.add(text(sentence), times))?;
        Ok(counts)
    }
}

/// A word and what follows it as one text: the word, the character, and a last byte that tells the character's length and the case.
pub(super) fn write_key(word: &[u8], next: Next, key: &mut Vec<u8>) {
    key.clear();
    key.extend_from_slice(word);
    let mut buffer = [0; 4];
    let (char, case) = match next {
        Next::Word(char) => (char.encode_utf8(&mut buffer).as_bytes(), 0x00),
        Next::Sentence(char) => (char.encode_utf8(&mut buffer).as_bytes(), 0x10),
        Next::End => (&[][..], 0x20),
    };
    key.extend_from_slice(char);
    key.push(case | char.len() as u8);
}

pub(super) fn parse(key: &[u8]) -> (&str, Next) {
    let (tag, rest) = key.split_last().map_or((0x20, key), |(tag, rest)| (*tag, rest));
    let (word, char) = rest.split_at(rest.len() - (tag & 0xF) as usize);
    let first = text(char).chars().next().unwrap_or(RARE);
    let next = match tag & 0xF0 {
        0x00 => Next::Word(first),
        0x10 => Next::Sentence(first),
        _ => Next::End,
    };
    (text(word), next)
}

/// Bytes that are UTF-8, for a text was cut between characters.
pub(super) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::progress::Silent;
    use crate::train::sentencepiece::alphabet::Alphabet;
    use crate::train::sentencepiece::validity::Validity;
    use crate::train::unigram::suffixes::Depth;
    use crate::train::unigram::workers::Workers;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Found = BTreeMap<String, u64>;

    fn add_if_valid(found: &mut Found, validity: &Validity, text: &[u8], count: u64) {
        let chars: Vec<char> = text_of(text).chars().collect();
        if chars.len() > 1 && validity.is_valid(&chars) {
            *found.entry(text_of(text).into()).or_default() += count;
        }
    }

    fn text_of(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap_or("")
    }

    fn of_fragments(sentences: &[String], options: &Options) -> Found {
        let mut sink = Sentences::new(options, None);
        sentences.iter().for_each(|sentence| sink.sentence(sentence, 1, 0).unwrap());
        let mut counted = gathered(vec![sink]).unwrap();
        let alphabet = Alphabet::choose(&counted.characters().unwrap(), options).unwrap();
        let (_, mut fragments) = counted.cut(&alphabet, options, &mut Silent).unwrap().laid_out(&mut Silent).unwrap();
        let mut workers = Workers { threads: 2, progress: &mut Silent };
        let depth = Depth { limit: 4 * options.max_sentencepiece_length as u32 + 2, line: options.line };
        let all = fragments.intervals(depth, &mut workers, |fragments, intervals| {
            intervals.map(|interval| (fragments.text(&interval).to_vec(), interval.count)).collect::<Vec<_>>()
        });
        let validity = Validity::new(options).unwrap();
        let mut found = Found::new();
        all.unwrap().into_iter().flatten().for_each(|(text, count)| add_if_valid(&mut found, &validity, &text, count));
        found
    }

    /// All substrings of the whole text, the sentences with an end behind each, that go on in two ways.
    fn of_the_text(sentences: &[String], options: &Options) -> Found {
        let text: Vec<u8> = sentences.iter().flat_map(|sentence| [sentence.as_bytes(), &[0]].concat()).collect();
        let mut places: BTreeMap<&[u8], Vec<Option<u8>>> = BTreeMap::new();
        for start in 0..text.len() {
            for end in start + 1..=text.len().min(start + 40) {
                places.entry(&text[start..end]).or_default().push(text.get(end).copied());
            }
        }
        let validity = Validity::new(options).unwrap();
        let mut found = Found::new();
        for (substring, next) in &places {
            if next.iter().any(|one| *one != next[0]) {
                let end = substring.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                add_if_valid(&mut found, &validity, &substring[..end], next.len() as u64);
            }
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn fragments_have_the_substrings_of_the_text(
            sentences in proptest::collection::vec("▁?[ab▁я1語、]{1,9}", 1..12), flags in 0u8..32
        ) {
            let flag = |bit: u8| flags >> bit & 1 == 1;
            let options = Options {
                split_by_whitespace: flag(0),
                split_by_unicode_script: flag(1),
                treat_whitespace_as_suffix: flag(2),
                allow_whitespace_only_pieces: flag(3),
                split_digits: flag(4),
                character_coverage: 1.0,
                max_sentencepiece_length: 6,
                ..Options::default()
            };
            prop_assert_eq!(of_fragments(&sentences, &options), of_the_text(&sentences, &options));
        }
    }
}
