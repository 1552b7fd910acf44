//! What the sentences of a corpus come down to: distinct words for the estimation, and fragments for the substrings.
//!
//! A valid piece never crosses certain places: the beginning of a word (where words are split), the change of scripts, a digit
//! that stands alone, a character outside the alphabet. A fragment is what lies between two such places. Which substrings are
//! *right-maximal* (two occurrences go on differently), and so become seeds, depends on no more than the character after each
//! occurrence; after the end of a sentence it depends on the one that the next sentence begins with, too (0.2.3, see `suffixes`). So
//! the distinct pairs of a fragment and what follows it, with their counts, have all intervals of the whole corpus that are valid
//! pieces, with the same counts.
//!
//! This counts the pairs of a word and what follows it; [`super::cuts`] makes words and fragments of them. What follows the last word of a
//! sentence is known when all sentences are: until then the counter has, as its sequence, the first character and the last word of each.
//! Where sentences are not split the whole sentence is its last word, for the order of sentences shows in the sums. Cost: one hash per
//! word while the text streams by.

use std::borrow::BorrowMut;
use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::spec::Line;
use crate::train::counter::{Limit, Sequence, WordCounter};
use crate::train::sentencepiece::alphabet::CharCounts;
use crate::train::sentencepiece::corpus::Sink;
use crate::train::sentencepiece::options::{Options, RARE};
use crate::train::sentencepiece::together;
use crate::train::sentencepiece::words::Cut;
use crate::train::unigram::held::HeldSentences;
use crate::train::words::WordCounts;

/// Counts what the trainer needs of sentences.
pub struct Sentences {
    cut: Option<Cut>,
    /// Every sentence is there twice, too: in these 0.2.1 looks for substrings where sentences come with counts.
    is_twice: bool,
    /// Words with what follows them, as `write_key` writes it; and the sentences, in the order of each part.
    pairs: WordCounter,
    /// Stretches of sentences that stand one after the other: the place of each among all, and its first sentence.
    parts: Vec<(u64, usize)>,
    held: Arc<HeldSentences>,
    key: Vec<u8>,
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
    /// One for each thread, with its share of the limit.
    pub fn each(options: &Options, share: Option<&Limit>) -> Vec<Sentences> {
        let threads = options.threads.max(1);
        let held = Arc::new(HeldSentences::new(options, share.map_or(usize::MAX, |share| share.bytes * threads)));
        let each = |_| Sentences {
            cut: cut(options),
            is_twice: is_twice(options),
            pairs: WordCounter::new(half(share)),
            parts: Vec::new(),
            held: held.clone(),
            key: Vec::new(),
        };
        (0..threads).map(each).collect()
    }

    fn add(&mut self, word: &str, next: Next, times: u64, ordinal: u64) -> Result<()> {
        write_key(word.as_bytes(), next, &mut self.key);
        self.pairs.add_at(&self.key, times, ordinal)?;
        Ok(())
    }

    /// Holds what is to be known of a sentence, if it fits; else only how much that takes is told at the end.
    fn hold(&mut self, pair: [&[u8]; 2]) -> Result<()> {
        let sequence = &mut self.pairs.sequence;
        let before = sequence.memory();
        let bytes = if self.held.fits() {
            sequence.push(pair)?;
            sequence.memory() - before
        } else {
            sequence.cost(pair[1])
        };
        self.held.add(bytes);
        Ok(())
    }

    /// Counts a sentence twice. What follows its end does not matter in 0.2.1.
    fn add_twice(&mut self, sentence: &str, ordinal: u64) -> Result<()> {
        if !self.is_twice {
            return Ok(());
        }
        let (pairs, key) = (&mut self.pairs, &mut self.key);
        let mut add = |word: &str, next| {
            write_key(word.as_bytes(), next, key);
            key.last_mut().into_iter().for_each(|tag| *tag |= TWICE);
            pairs.add_at(key, 2, ordinal)
        };
        let last = match self.cut {
            Some(cut) => each_word(cut, sentence, |word, _, next| add(word, next))?,
            None => (0, sentence),
        };
        add(last.1, Next::Sentence(RARE))
    }

    /// Its parts, each as its place among all and the sentences that it has.
    fn stretches(&self) -> impl Iterator<Item = (u64, Range<usize>)> {
        let ends = self.parts.iter().skip(1).map(|part| part.1).chain([self.pairs.sequence.len()]);
        self.parts.iter().zip(ends).map(|(&(ordinal, start), end)| (ordinal, start..end))
    }
}

/// How sentences are split, if they are.
fn cut(options: &Options) -> Option<Cut> {
    let cut = Cut { as_suffix: options.treat_whitespace_as_suffix, keeps_runs: options.allow_whitespace_only_pieces };
    options.split_by_whitespace.then_some(cut)
}

fn is_twice(options: &Options) -> bool {
    options.is_tsv && options.line == Line::V0_2_1
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
        self.parts.push((ordinal, self.pairs.sequence.len()));
        self.held.add(size_of::<(u64, usize)>());
    }

    fn empty(&mut self) -> Result<()> {
        self.hold([b"", b""])
    }

    /// A sentence that occurs several times follows itself.
    fn sentence(&mut self, sentence: &str, times: u64, ordinal: u64) -> Result<()> {
        self.add_twice(sentence, ordinal)?;
        let first = sentence.chars().next().unwrap_or(RARE);
        let mut buffer = [0; 4];
        let shown = first.encode_utf8(&mut buffer).as_bytes();
        let Some(cut) = self.cut else {
            return self.hold([shown, &[sentence.as_bytes(), &times.to_le_bytes()].concat()]);
        };
        let (start, word) =
            each_word(cut, sentence, |word, start, next| self.add(word, next, times, ordinal + start as u64))?;
        if times > 1 {
            self.add(word, Next::Sentence(first), times - 1, ordinal + start as u64)?;
        }
        self.hold([shown, word.as_bytes()])
    }
}

/// Puts together what the threads counted.
pub fn gathered(mut sinks: Vec<Sentences>) -> Result<WordCounter> {
    sinks.first().map_or(Ok(()), |sink| sink.held.check())?;
    let (mut sequences, mut stretches) = (Vec::new(), Vec::new());
    for (number, sink) in sinks.iter_mut().enumerate() {
        stretches.extend(sink.stretches().map(|(ordinal, range)| (ordinal, number, range)));
        sequences.push(std::mem::take(&mut sink.pairs.sequence));
    }
    stretches.sort_by_key(|stretch| stretch.0);
    let mut all = together(sinks.into_iter().map(|sink| sink.pairs))?;
    all.sequence = match sequences.len() {
        1 => sequences.remove(0),
        _ => Sequence::concat(&sequences, stretches.into_iter().map(|(_, number, range)| (number, range)))?,
    };
    Ok(all)
}

/// All that was counted, before it is known which characters are rare.
pub struct Counted<W> {
    pub(super) splits: bool,
    /// Whether the pairs are there with each sentence twice, too.
    pub(super) is_twice: bool,
    /// Words with what follows them, but for the last words of sentences.
    pub(super) pairs: W,
    /// The last words of sentences with what follows them.
    pub(super) lasts: WordCounter,
    pub(super) whole: WordCounts,
}

impl<W: BorrowMut<WordCounter>> Counted<W> {
    /// Looks at what follows each sentence.
    pub fn new(mut pairs: W, options: &Options) -> Result<Counted<W>> {
        let counted = pairs.borrow_mut();
        let (mut lasts, mut whole) = (WordCounter::new(half(counted.limit())), WordCounts::default());
        let mut order = without_empty(counted.sequence.pairs(), options.line).peekable();
        let (splits, mut key) = (options.split_by_whitespace, Vec::new());
        while let Some([_, last]) = order.next() {
            if !splits {
                let (sentence, times) = last.split_last_chunk().unwrap_or((last, &[0; 8]));
                whole.push(sentence, u64::from_le_bytes(*times));
            } else if !last.is_empty() {
                let first = |[first, _]: &[&[u8]; 2]| text(first).chars().next().unwrap_or(RARE);
                let next = order.peek().map_or(Next::End, |next| Next::Sentence(first(next)));
                write_key(last, next, &mut key);
                lasts.add(&key, 1)?;
            }
        }
        drop(order);
        Ok(Counted { splits, is_twice: is_twice(options), pairs, lasts, whole })
    }

    /// How often each character occurs.
    pub fn characters(&mut self) -> Result<CharCounts> {
        let mut counts = CharCounts::default();
        for words in [self.pairs.borrow_mut(), &mut self.lasts] {
            words.each_unordered(&mut |key, times| {
                if is_of_twice(key) { Ok(()) } else { counts.add(parse(key).0, times) }
            })?;
        }
        self.whole.iter().try_for_each(|(sentence, times)| counts.add(text(sentence), times))?;
        Ok(counts)
    }
}

/// The half of a limit.
pub(super) fn half(limit: Option<&Limit>) -> Option<Limit> {
    limit.map(|limit| Limit { bytes: limit.bytes / 2, ..limit.clone() })
}

/// All sentences in the trainer's order: the last sentence comes to where an empty one was. 0.2.1 looks no further, so that an
/// empty one may come there and stay.
fn without_empty<'s>(
    mut all: impl DoubleEndedIterator<Item = [&'s [u8]; 2]>,
    line: Line,
) -> impl Iterator<Item = [&'s [u8]; 2]> {
    std::iter::from_fn(move || {
        let mut sentence = all.next()?;
        while sentence[0].is_empty() {
            sentence = all.next_back()?;
            if line == Line::V0_2_1 {
                break;
            }
        }
        Some(sentence)
    })
}

/// Whether a pair is of the sentences that are there twice.
pub(super) fn is_of_twice(key: &[u8]) -> bool {
    key.last().is_some_and(|tag| tag & TWICE != 0)
}

/// In the tag of a pair.
const TWICE: u8 = 0x80;

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
    let next = match tag & !TWICE & 0xF0 {
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
    use crate::train::progress::NoProgress;
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
        let mut sink = Sentences::each(options, None).remove(0);
        sentences.iter().for_each(|sentence| sink.sentence(sentence, 1, 0).unwrap());
        let mut counted = Counted::new(gathered(vec![sink]).unwrap(), options).unwrap();
        let alphabet = Alphabet::choose(&counted.characters().unwrap(), options).unwrap();
        let (_, mut fragments) =
            counted.cut(&alphabet, options, &mut NoProgress).unwrap().laid_out(&mut NoProgress).unwrap();
        let mut workers = Workers { threads: 2, progress: &mut NoProgress };
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
