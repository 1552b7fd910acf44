use proptest::prelude::*;

use super::*;
use crate::spec::{Behavior, Pattern, Split};
use crate::train::counter::Order;
use crate::train::progress::NoProgress;
use polytok_pattern::Splitter;

const CL100K_PATTERN: &str =
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+";
/// A pattern that leaves gaps between its matches.
const PATTERN_WITH_GAPS: &str = r"[a-z]+|\p{N}{1,3}|\s+(?!\S)";
/// A pattern that cannot be read as a stream.
const GENERAL_PATTERN: &str = r"(\w)\1|\w+|\W";
const SPECIAL_TOKENS: [&str; 3] = ["<|x|>", "<|x|><|y|>", "b1"];

type CountedWordList = Vec<(Vec<u8>, u64)>;

/// Computes the words of a text in the simplest way, with one step after the other.
fn words(text: &[u8], splitter: Option<&Splitter>) -> Vec<Vec<u8>> {
    let (mut words, mut at) = (Vec::new(), 0);
    let mut add_words = |text: &[u8]| {
        for chunk in text.utf8_chunks() {
            match splitter {
                None => words.extend(
                    [chunk.valid()].iter().filter(|text| !text.is_empty()).map(|text| text.as_bytes().to_vec()),
                ),
                Some(splitter) => {
                    let piece = |from: usize, to: usize| words.push(chunk.valid().as_bytes()[from..to].to_vec());
                    splitter.split(chunk.valid(), piece).unwrap();
                }
            }
            words.extend([chunk.invalid()].iter().filter(|bytes| !bytes.is_empty()).map(|bytes| bytes.to_vec()));
        }
    };
    let mut begin = 0;
    while at < text.len() {
        let longest = SPECIAL_TOKENS
            .iter()
            .filter(|token| text[at..].starts_with(token.as_bytes()))
            .map(|token| token.len())
            .max();
        match longest {
            Some(len) => {
                add_words(&text[begin..at]);
                at += len;
                begin = at;
            }
            None => at += 1,
        }
    }
    add_words(&text[begin..]);
    words
}

fn expected(texts: &[Vec<u8>], pattern: Option<&str>) -> CountedWordList {
    let splitter = pattern.map(|pattern| Splitter::compile(pattern).unwrap());
    let mut counter = WordCounter::default();
    texts.iter().flat_map(|text| words(text, splitter.as_ref())).for_each(|word| counter.add(&word, 1).unwrap());
    list(counter)
}

fn list(counter: WordCounter) -> CountedWordList {
    let words = counter.into_words(Order::FirstSeen, &mut NoProgress).unwrap();
    words.iter().map(|(word, count)| (word.to_vec(), count)).collect()
}

fn rules(pattern: Option<&str>) -> TextRules {
    let special: Vec<Vec<u8>> = SPECIAL_TOKENS.iter().map(|token| token.as_bytes().to_vec()).collect();
    let split = pattern.map(|text| Split::Pattern {
        pattern: Pattern { text: text.into(), is_regex: true, unicode: None },
        behavior: Behavior::Matches,
        invert: false,
    });
    TextRules::compile(&special, Vec::new(), split.as_slice()).unwrap()
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        prop::sample::select(vec![
            "a", "bc", " word", "'ll", " ", "\n", "  ", "\r\n", "12345", "!?", "<|x|>", "<|y|>", "b1", "é", "漢字",
            "😀"
        ])
        .prop_map(|part| part.as_bytes().to_vec()),
        prop::sample::select(vec![b"\xFF".to_vec(), b"\xE6\xBC".to_vec(), b"\xF0\x9F\x98".to_vec(), b"\x80".to_vec()]),
        prop::collection::vec(prop::sample::select(b"ab 1\n".to_vec()), 0..60),
    ];
    prop::collection::vec(part, 0..120).prop_map(|parts| parts.concat())
}

const PATTERNS: [Option<&str>; 4] = [Some(CL100K_PATTERN), Some(PATTERN_WITH_GAPS), Some(GENERAL_PATTERN), None];

proptest! {
    #[test]
    fn words_match_the_steps_in_turn(texts in prop::collection::vec(text(), 0..8), threads in 1usize..4) {
        for pattern in PATTERNS {
            let mut counter = TextCounter::new(rules(pattern), threads, None);
            let slices: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            counter.push(&slices, &mut NoProgress).unwrap();
            prop_assert_eq!(list(counter.finish(&mut NoProgress).unwrap()), expected(&texts, pattern));
        }
    }

    #[test]
    fn a_text_in_parts_has_the_same_words(text in text(), sizes in prop::collection::vec(1usize..300, 1..9)) {
        for pattern in PATTERNS {
            let mut counter = TextCounter::new(rules(pattern), 2, None);
            let (mut rest, mut sizes) = (&text[..], sizes.iter().cycle());
            while !rest.is_empty() {
                let (part, others) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
                counter.push_part(part, false, &mut NoProgress).unwrap();
                rest = others;
            }
            prop_assert_eq!(list(counter.finish(&mut NoProgress).unwrap()), expected(std::slice::from_ref(&text), pattern));
        }
    }

    #[test]
    fn certain_words_do_not_change(text in text(), split_index in any::<prop::sample::Index>()) {
        for pattern in [CL100K_PATTERN, PATTERN_WITH_GAPS] {
            let rules = rules(Some(pattern));
            prop_assert!(rules.is_stream());
            let splitter = Splitter::compile(pattern).unwrap();
            let words = |text: &[u8]| words(text, Some(&splitter));
            let part = &text[..split_index.index(text.len() + 1)];
            let end = rules.certain_end_by_reading(part).unwrap();
            prop_assert!(words(&text).ends_with(&words(&text[end..])), "{}", end);
        }
    }
}

/// The text is long enough to be divided among threads.
#[test]
fn dividing_long_texts_does_not_change_their_words() {
    let mut rng = crate::rng::Rng::new(7);
    let parts = [" the", "a", "don't", "\n\n", "  ", " 12345", "!!", "<|x|>", "é", " 漢字", "b1", "\u{a0}x"];
    let mut text = Vec::new();
    while text.len() < 9 * JOB_BYTES {
        text.extend_from_slice(parts[rng.next_u64() as usize % parts.len()].as_bytes());
        if rng.next_u64().is_multiple_of(5000) {
            text.push(0xFF);
        }
    }
    let texts = [b"first".to_vec(), text, b"last".to_vec()];
    let slices: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let expected = expected(&texts, Some(CL100K_PATTERN));
    for threads in [1, 3] {
        let mut one_part = TextCounter::new(rules(Some(CL100K_PATTERN)), threads, None);
        one_part.push(&slices, &mut NoProgress).unwrap();
        assert_eq!(list(one_part.finish(&mut NoProgress).unwrap()), expected);
        let mut several_parts = TextCounter::new(rules(Some(CL100K_PATTERN)), threads, None);
        for text in slices.iter() {
            text.chunks(100_000).for_each(|part| several_parts.push_part(part, false, &mut NoProgress).unwrap());
            assert!(several_parts.open_text.len() < 4 * JOB_BYTES);
            several_parts.push_part(&[], true, &mut NoProgress).unwrap();
        }
        assert_eq!(list(several_parts.finish(&mut NoProgress).unwrap()), expected);
    }
}
