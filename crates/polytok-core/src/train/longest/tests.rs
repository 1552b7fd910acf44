//! Compares each step of training with the simplest implementation.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::candidates::{CandidateLimits, find_candidates};
use super::pool::StringPool;
use super::tally::ChosenEntries;
use super::*;
use crate::train::progress::NoProgress;

fn words(texts: &BTreeMap<Vec<u8>, u64>) -> WordCounts {
    let mut words = WordCounts::default();
    texts.iter().for_each(|(text, &count)| words.push(text, count));
    words
}

fn options(entries: usize, threads: usize) -> LongestMatchOptions<'static> {
    LongestMatchOptions {
        entries,
        max_chars: 4,
        max_bytes: 16,
        min_count: Some(1),
        starts_of_chars: true,
        forced: &[],
        threads,
        usable_memory: None,
    }
}

/// Generates words of few different characters, among them a character of three bytes and a byte that is not UTF-8.
fn some_words() -> impl Strategy<Value = BTreeMap<Vec<u8>, u64>> {
    let character = prop::sample::select(vec!["a", "b", "c", "\u{65E5}", "\u{672C}", ""]);
    let word = prop::collection::vec(character, 1..9).prop_map(|chars| {
        let bytes = chars.iter().flat_map(|char| if char.is_empty() { b"\xFF" } else { char.as_bytes() });
        bytes.copied().collect::<Vec<u8>>()
    });
    prop::collection::btree_map(word, 1u64..5, 1..8)
}

/// Counts the tokens that longest match yields.
fn tokens(words: &WordCounts, entries: &BTreeSet<&[u8]>) -> i64 {
    let mut tokens = 0;
    for (mut remaining_word, count) in words.iter() {
        while !remaining_word.is_empty() {
            let len =
                (1..=remaining_word.len()).rev().find(|&len| entries.contains(&remaining_word[..len])).unwrap_or(1);
            remaining_word = &remaining_word[len..];
            tokens += count as i64;
        }
    }
    tokens
}

/// Splits a word into characters, by SentencePiece's strict decoding.
fn characters(word: &[u8]) -> Vec<&[u8]> {
    let mut remaining_word = word;
    std::iter::from_fn(|| {
        let len =
            crate::utf8::decode_strict(remaining_word.get(..1).map(|_| remaining_word)?).map_or(1, |(_, len)| len);
        let (character, after) = remaining_word.split_at(len);
        remaining_word = after;
        Some(character)
    })
    .collect()
}

proptest! {
    #[test]
    fn candidates_are_the_frequent_strings(texts in some_words(), min_count in 1u64..6, threads in 1usize..4) {
        let words = words(&texts);
        let mut counts: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        let mut longer: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for (word, count) in words.iter() {
            let chars = characters(word);
            for chars in (1..=4).flat_map(|n| chars.windows(n)) {
                *counts.entry(chars.concat()).or_default() += count;
            }
        }
        for (text, &count) in &counts {
            let chars = characters(text);
            for part in [&chars[1..], &chars[..chars.len() - 1]] {
                let most = longer.entry(part.concat()).or_default();
                *most = (*most).max(count);
            }
        }
        let is_closed = |text: &Vec<u8>, count: u64| longer.get(text).is_none_or(|&longer| longer < count);
        let expected: BTreeMap<_, _> = counts.iter()
            .filter(|(text, count)| text.len() > 1 && **count >= min_count && is_closed(text, **count))
            .map(|(text, &count)| (text.clone(), count)).collect();
        let limits = CandidateLimits { min_count, max_chars: 4, max_bytes: 16, starts_of_chars: false, threads };
        let found = find_candidates(&words, &limits, &mut NoProgress).unwrap();
        prop_assert_eq!(found.len(), expected.len());
        let found: BTreeMap<_, _> = found.iter().map(|string| (string.text.to_vec(), string.count)).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_loss_is_the_cost_of_the_absence(texts in some_words(), chosen in prop::collection::vec(any::<bool>(), 200)) {
        let words = words(&texts);
        let limits = CandidateLimits { min_count: 1, max_chars: 4, max_bytes: 16, starts_of_chars: true, threads: 1 };
        let found = find_candidates(&words, &limits, &mut NoProgress).unwrap();
        let found: Vec<&[u8]> = found.iter().map(|string| string.text).collect();
        let pool = StringPool::new(&words, &found, &[], 1).unwrap();
        let is_entry: Vec<bool> =
            (0..pool.len()).map(|number| pool.is_forced[number] || chosen[number % chosen.len()]).collect();
        let entries: BTreeSet<&[u8]> =
            pool.texts.iter().zip(&is_entry).filter(|(_, is)| **is).map(|(text, _)| *text).collect();
        let tally = ChosenEntries::new(&pool, &is_entry).tally(&words, 2, || Ok(())).unwrap();
        let tokens_now = tokens(&words, &entries);
        prop_assert_eq!(tally.tokens, tokens_now);
        for number in (256..pool.len()).filter(|&number| is_entry[number]) {
            let mut entries_without_one = entries.clone();
            entries_without_one.remove(pool.texts[number]);
            prop_assert_eq!(tally.removal_costs[number], tokens(&words, &entries_without_one) - tokens_now);
        }
    }
}

proptest! {
    // A case trains four times.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_result_depends_only_on_the_counts(texts in some_words()) {
        let sorted = words(&texts);
        let mut reversed_words = WordCounts::default();
        texts.iter().rev().for_each(|(text, &count)| reversed_words.push(text, count));
        let expected = train(&sorted, &options(260, 1), &mut NoProgress);
        for threads in [1, 2, 5] {
            prop_assert_eq!(&train(&reversed_words, &options(260, threads), &mut NoProgress), &expected);
        }
        if let Ok(trained) = expected {
            let entries: BTreeSet<&[u8]> = trained.entries.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(entries.len(), 260);
            prop_assert_eq!(tokens(&sorted, &entries), trained.tokens as i64);
        }
    }
}

#[test]
fn the_vocabulary_has_the_bytes_the_forced_entries_and_the_most_useful_strings() {
    let words =
        words(&BTreeMap::from([(b"abab".to_vec(), 9), (b"xyz".to_vec(), 5_000_000_000), (b"\xFF'".to_vec(), 1)]));
    let forced: [&[u8]; 2] = [b"\n\n", b"a longer one than is allowed"];
    let trained = train(&words, &LongestMatchOptions { forced: &forced, ..options(260, 2) }, &mut NoProgress).unwrap();
    assert!((0..256).all(|byte| trained.entries[byte] == [byte as u8]));
    assert_eq!(trained.entries[256..], [forced[0], b"xyz", b"abab", forced[1]].map(<[u8]>::to_vec));
    assert_eq!(trained.tokens, 5_000_000_000 + 9 + 2);
}

#[test]
fn impossible_options_are_an_error() {
    let forced: [&[u8]; 1] = [b"forced"];
    let two_letter_words = words(&BTreeMap::from([(b"ab".to_vec(), 1)]));
    for (entries, text) in [(300, "only 258 strings"), (256, "too few for the 256 bytes and 1 forced entries")] {
        let error =
            train(&two_letter_words, &LongestMatchOptions { forced: &forced, ..options(entries, 1) }, &mut NoProgress)
                .unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
    let huge = words(&BTreeMap::from([(b"ab".to_vec(), u64::MAX)]));
    let error = train(&huge, &options(257, 1), &mut NoProgress).unwrap_err();
    assert!(error.to_string().contains("scale the counts down"), "{error}");
}

#[test]
fn training_beyond_the_limits_is_refused() {
    let mut words = WordCounts::default();
    (0..90_000u32).for_each(|number| words.push(&number.to_le_bytes(), 1));
    let error =
        train(&words, &LongestMatchOptions { usable_memory: Some(1 << 20), ..options(260, 2) }, &mut NoProgress)
            .unwrap_err();
    assert!(error.to_string().contains("90000 distinct words takes about"), "{error}");
    let mut long = WordCounts::default();
    long.push(&[b'a'; 200_000], 1);
    let options_with_length =
        |chars| LongestMatchOptions { max_chars: chars, max_bytes: usize::MAX, ..options(260, 1) };
    let error = train(&long, &options_with_length(65_535), &mut NoProgress).unwrap_err();
    assert!(
        error.to_string().contains("max_piece_length=65535") && error.to_string().contains("at most 21730"),
        "{error}"
    );
    assert_eq!(train(&long, &options_with_length(64), &mut NoProgress).unwrap().entries.len(), 260);
}
