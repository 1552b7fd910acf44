use super::*;
use crate::train::counter::Limit;
use crate::train::counter::tests::MemorySpill;
use crate::train::progress::NoProgress;
use crate::train::sentencepiece::options::SentencePieceOptions;
use crate::train::sentencepiece::units::characters;
use proptest::prelude::*;
use std::sync::Arc;

/// Learns the merges of units, within `usable_memory` bytes if it is not `None`.
fn learn_merges(
    units: &[(&str, u64)],
    max_merges: usize,
    options: &SentencePieceOptions,
    usable_memory: Option<usize>,
) -> Result<Vec<(String, u64)>> {
    let mut counter = WordCounter::new(usable_memory.map(|_| Limit { bytes: 1 << 12, spill: Arc::new(MemorySpill) }));
    units.iter().try_for_each(|(unit, count)| counter.add(unit.as_bytes(), *count))?;
    let alphabet = Alphabet::choose(&characters(&mut counter)?, options)?;
    merges(counter, &alphabet, &Validity::new(options)?, max_merges, usable_memory, &mut NoProgress)
}

fn merged_texts(units: &[(&str, u64)], merges: usize) -> Vec<String> {
    let found = learn_merges(units, merges, &SentencePieceOptions::default(), None).unwrap();
    found.into_iter().map(|(text, _)| text).collect()
}

#[test]
fn shorter_and_lower_pairs_are_merged_first() {
    assert_eq!(merged_texts(&[("xyz", 2), ("ab", 2)], 4), ["ab", "xy", "xyz", "yz"]);
}

#[test]
fn short_lived_pairs_come_last() {
    assert_eq!(merged_texts(&[("abababab", 1)], 9), ["ab", "abab", "abababab", "ba", "aba", "ababab"]);
}

#[test]
fn counts_have_64_bits() {
    assert_eq!(merged_texts(&[("ab", 1 << 40), ("bc", 1 << 41)], 2), ["bc", "ab"]);
    assert!(
        learn_merges(&[("abc", u64::MAX / 4), ("ab", u64::MAX / 6)], 9, &SentencePieceOptions::default(), None)
            .is_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn rounds_learn_the_same_merges(
        units in proptest::collection::vec(("[ab]{0,12}|[a-f]{0,20}|▁?[a-z]{1,9}|[aя\u{301}▁]{1,9}", 1u64..40), 0..60),
        max_merges in 0usize..400, usable_memory in 9_000usize..14_000, longest in 2usize..9, by_space in any::<bool>(),
    ) {
        let options = SentencePieceOptions { max_sentencepiece_length: longest * 2, split_by_whitespace: by_space, ..SentencePieceOptions::default() };
        let units: Vec<(&str, u64)> =
            units.iter().map(|(unit, count)| (unit.as_str(), *count)).chain([("ab", 1)]).collect();
        let unlimited = learn_merges(&units, max_merges, &options, None).unwrap();
        // If the memory is too small for the words of the most frequent pairs, learning fails: retry with more memory.
        let mut rooms = std::iter::successors(Some(usable_memory), |usable_memory| Some(usable_memory * 5 / 4));
        let limited =
            rooms.find_map(|usable_memory| learn_merges(&units, max_merges, &options, Some(usable_memory)).ok());
        prop_assert_eq!(Some(unlimited), limited);
    }
}
