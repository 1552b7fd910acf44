use super::*;
use crate::train::counter::Limit;
use crate::train::counter::tests::MemorySpill;
use crate::train::progress::NoProgress;
use crate::train::sentencepiece::options::SentencePieceOptions;
use crate::train::sentencepiece::units::characters;
use proptest::prelude::*;
use std::sync::Arc;

/// Returns the merges of units, learned within `room` bytes if there is a `room`.
fn learn_merges(
    units: &[(&str, u64)],
    most: usize,
    options: &SentencePieceOptions,
    room: Option<usize>,
) -> Result<Vec<(String, u64)>> {
    let mut counter = WordCounter::new(room.map(|_| Limit { bytes: 1 << 12, spill: Arc::new(MemorySpill) }));
    units.iter().try_for_each(|(unit, count)| counter.add(unit.as_bytes(), *count))?;
    let alphabet = Alphabet::choose(&characters(&mut counter)?, options)?;
    merges(counter, &alphabet, &Validity::new(options)?, most, room, &mut NoProgress)
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
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn rounds_learn_the_same_merges(
        units in proptest::collection::vec(("[ab]{0,12}|[a-f]{0,20}|▁?[a-z]{1,9}|[aя\u{301}▁]{1,9}", 1u64..40), 0..60),
        most in 0usize..400, room in 9_000usize..14_000, longest in 2usize..9, by_space in any::<bool>(),
    ) {
        let options = SentencePieceOptions { max_sentencepiece_length: longest * 2, split_by_whitespace: by_space, ..SentencePieceOptions::default() };
        let units: Vec<(&str, u64)> =
            units.iter().map(|(unit, count)| (unit.as_str(), *count)).chain([("ab", 1)]).collect();
        let unlimited = learn_merges(&units, most, &options, None).unwrap();
        // If the room is too small, the words of the most frequent pairs do not fit: retry with a larger room.
        let mut rooms = std::iter::successors(Some(room), |room| Some(room * 5 / 4));
        let limited = rooms.find_map(|room| learn_merges(&units, most, &options, Some(room)).ok());
        prop_assert_eq!(Some(unlimited), limited);
    }
}
