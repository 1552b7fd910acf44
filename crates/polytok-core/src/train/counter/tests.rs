use std::collections::HashMap;
use std::io::{self, Cursor};

use proptest::prelude::*;

use super::runs::{WordReader, WordWriter, push_number};
use super::*;
use crate::error::Error;
use crate::train::progress::NoProgress;

/// Keeps the files of sorted words in memory.
pub(in crate::train) struct MemorySpill;

impl Spill for MemorySpill {
    fn create(&self) -> io::Result<Box<dyn RunFile>> {
        Ok(Box::new(Cursor::new(Vec::new())))
    }
}

fn memory_limit(bytes: usize) -> Option<Limit> {
    Some(Limit { bytes, spill: Arc::new(MemorySpill) })
}

const ORDERS: [Order; 3] = [Order::FirstSeen, Order::MostFrequent, Order::Bytes];

/// Counts the words of the texts in a map, and returns the words and counts in the given order.
fn count_in_map(texts: &[Vec<u8>], order: Order) -> Vec<(Vec<u8>, u64)> {
    let mut counts: HashMap<&[u8], (u64, usize)> = HashMap::new();
    for (at, text) in texts.iter().enumerate() {
        counts.entry(text).or_insert((0, at)).0 += 1;
    }
    let mut words: Vec<_> = counts.into_iter().collect();
    words.sort_by(|one, other| match order {
        Order::FirstSeen => one.1.1.cmp(&other.1.1),
        Order::MostFrequent => other.1.0.cmp(&one.1.0).then(one.0.cmp(other.0)),
        Order::Bytes => one.0.cmp(other.0),
    });
    words.into_iter().map(|(word, (count, _))| (word.to_vec(), count)).collect()
}

fn list(words: &WordCounts) -> Vec<(Vec<u8>, u64)> {
    words.iter().map(|(word, count)| (word.to_vec(), count)).collect()
}

fn count(texts: &[Vec<u8>], limit: Option<Limit>) -> WordCounter {
    let mut counter = WordCounter::new(limit);
    texts.iter().for_each(|text| counter.add(text, 1).unwrap());
    counter
}

fn texts() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let word = prop_oneof![
        prop::collection::vec(0u8..3, 0..5),
        prop::collection::vec(97u8..99, 13..18),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    prop::collection::vec(word, 0..200)
}

proptest! {
    #[test]
    fn words_match_a_map_within_any_limit(texts in texts(), bytes in 0usize..100_000) {
        for order in ORDERS {
            for limit in [None, memory_limit(bytes)] {
                let words = count(&texts, limit).into_words(order, &mut NoProgress).unwrap();
                prop_assert_eq!(list(&words), count_in_map(&texts, order));
            }
        }
    }

    #[test]
    fn counters_add_up(texts in texts(), split_index in 0usize..200, bytes in 0usize..100_000) {
        let split_index = split_index.min(texts.len());
        for limit in [None, memory_limit(bytes)] {
            let mut first_counter = count(&texts[..split_index], limit.clone());
            let mut other = WordCounter::new(limit);
            (split_index..texts.len()).for_each(|at| other.add_at(&texts[at], 1, at as u64).unwrap());
            other.merge(std::mem::take(&mut first_counter)).unwrap();
            let words = other.into_words(Order::FirstSeen, &mut NoProgress).unwrap();
            prop_assert_eq!(list(&words), count_in_map(&texts, Order::FirstSeen));
        }
    }

    #[test]
    fn a_file_preserves_the_counts(texts in texts(), split_index in 0usize..200, bytes in 0usize..100_000) {
        let split_index = split_index.min(texts.len());
        let mut restored_counter = WordCounter::new(memory_limit(bytes));
        for part in [&texts[..split_index], &texts[split_index..]] {
            let mut counter = count(part, memory_limit(bytes / 2));
            let mut file = Vec::new();
            write_counts(&mut counter, "what", &mut file, &mut NoProgress).unwrap();
            let words = counter.into_words(Order::FirstSeen, &mut NoProgress).unwrap();
            prop_assert_eq!(list(&words), count_in_map(part, Order::FirstSeen));
            let counts_file = CountsFile::open(&file[..]).unwrap();
            prop_assert_eq!(counts_file.description(), "what");
            counts_file.add_to(&mut restored_counter, &mut NoProgress).unwrap();
        }
        let words = restored_counter.into_words(Order::FirstSeen, &mut NoProgress).unwrap();
        prop_assert_eq!(list(&words), count_in_map(&texts, Order::FirstSeen));
    }

    #[test]
    fn a_damaged_file_is_an_error(
        texts in texts(), at in any::<prop::sample::Index>(), bit in 0u32..8, is_truncated in any::<bool>(),
    ) {
        let mut file = Vec::new();
        write_counts(&mut count(&texts, None), "what", &mut file, &mut NoProgress).unwrap();
        let at = at.index(file.len());
        if is_truncated {
            file.truncate(at);
        } else {
            file[at] ^= 1 << bit;
        }
        let read = CountsFile::open(&file[..])
            .and_then(|file| file.add_to(&mut WordCounter::default(), &mut NoProgress));
        prop_assert!(matches!(read, Err(Error::Format(_) | Error::Argument(_))), "{read:?}");
    }
}

#[test]
fn counts_can_exceed_32_bits_but_not_64() {
    let mut counter = WordCounter::default();
    for word in [&b"short"[..], b"a word that is long"] {
        counter.add(word, u64::MAX - 1).unwrap();
        counter.add(word, 1).unwrap();
        assert!(matches!(counter.add(word, 1), Err(Error::Argument(_))));
    }
    let words = counter.into_words(Order::Bytes, &mut NoProgress).unwrap();
    assert_eq!(list(&words), [(b"a word that is long".to_vec(), u64::MAX), (b"short".to_vec(), u64::MAX)]);
}

#[test]
fn ordinals_beyond_64_bits_are_an_error() {
    let mut counter = WordCounter::default();
    counter.skip_to(u64::MAX - 1);
    counter.add(b"a", 1).unwrap();
    assert!(matches!(counter.add(b"b", 1), Err(Error::Argument(_))));
}

/// Returns words that share almost all bytes, so that the words are far longer than their records in a file.
fn similar_words() -> impl Iterator<Item = Vec<u8>> {
    let begin = vec![7; 1 << 16];
    (0..1400u16).map(move |number| [&begin[..], &number.to_be_bytes()].concat())
}

#[test]
fn words_that_share_too_much_are_written_whole() {
    let entry = WordEntry { count: 1, ordinal: 0 };
    let mut writer = WordWriter::new(Vec::new());
    similar_words().for_each(|word| writer.push(&word, entry).unwrap());
    writer.end().unwrap();
    assert!((2 << 16..3 << 16).contains(&writer.out.len()));
    let mut reader = WordReader::new(&writer.out[..]);
    for word in similar_words() {
        assert!(reader.next().unwrap().is_some() && reader.word == word);
    }
    assert!(reader.next().unwrap().is_none());
}

#[test]
fn a_small_file_of_long_words_is_rejected() {
    let (mut file, mut shared) = (Vec::new(), 0);
    for word in similar_words() {
        for number in [shared as u64 + 1, (word.len() - shared) as u64, 1, 0] {
            push_number(&mut file, number);
        }
        file.extend_from_slice(&word[shared..]);
        shared = word.len() - 2;
    }
    let mut reader = WordReader::new(&file[..]);
    let error = (0..1400).find_map(|_| reader.next().err()).unwrap();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

#[test]
fn runs_whose_counts_overflow_are_an_error() {
    let mut counter = WordCounter::new(memory_limit(0));
    for word in [b"a", b"b", b"a"] {
        counter.add(word, u64::MAX / 2 + 1).unwrap();
    }
    assert!(matches!(counter.into_words(Order::Bytes, &mut NoProgress), Err(Error::Argument(_))));
}

#[test]
fn the_counter_stays_within_the_limit() {
    let bytes = 1 << 20;
    let mut counter = WordCounter::new(memory_limit(bytes));
    for number in 0..100_000u32 {
        counter.add(number.to_string().repeat(1 + number as usize % 5).as_bytes(), 1).unwrap();
        assert!(counter.memory() <= bytes);
    }
    assert!(counter.runs.len() > 2 && counter.table.memory() > bytes / 4);
    assert_eq!(counter.into_words(Order::FirstSeen, &mut NoProgress).unwrap().len(), 100_000);
}
