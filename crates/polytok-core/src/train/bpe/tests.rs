use super::cells::Cells;
use super::places::PairPosition;
use super::*;
use crate::train::counter::Limit;
use crate::train::counter::tests::MemorySpill;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

const NO_LIMITS: MergeLimits = MergeLimits { symbols: usize::MAX, min_count: 1, length_limit: usize::MAX };

fn merge_rules(ties: TieRule, limits: MergeLimits) -> MergeRules {
    MergeRules { unit: WordUnit::Bytes, affixes: Affixes::default(), ties, limits, usable_memory: None }
}

fn learn_in_memory(words: &[(&[u8], u64)], ties: TieRule, limits: MergeLimits) -> Vec<Merge> {
    let mut cells = Cells::default();
    for (word, _) in words {
        cells.push(word.iter().map(|&byte| u32::from(byte))).unwrap();
    }
    let mut texts = SymbolTexts::new(b"");
    for byte in 0..=255 {
        texts.add(&[byte]).unwrap();
    }
    let learner = Learner::<false>::new(cells, vec![1; 256], ties, limits);
    let mut learned = LearnedMerges { texts, merges: Vec::new(), within_limit: true };
    run(learner, words.iter().map(|(_, count)| *count).collect(), &mut learned, &mut NoProgress).unwrap();
    learned.merges
}

/// Learns merges from words. If learning has a memory limit, the words are counted within the limit too.
fn learn_words(words: &[(Vec<u8>, u64)], merge_rules: &MergeRules) -> Result<LearnedMerges> {
    learn_words_with(words, &[], merge_rules)
}

/// Learns merges with additional initial symbols.
fn learn_words_with(
    words: &[(Vec<u8>, u64)],
    additional_symbols: &[&[u8]],
    merge_rules: &MergeRules,
) -> Result<LearnedMerges> {
    let limit = merge_rules.usable_memory.map(|_| Limit { bytes: 1 << 12, spill: Arc::new(MemorySpill) });
    let mut counter = WordCounter::new(limit);
    for (word, count) in words {
        counter.add(word, *count)?;
    }
    let initial: Vec<Vec<u8>> = match merge_rules.unit {
        WordUnit::Bytes => (0..=255).map(|byte| vec![byte]).collect(),
        _ => {
            let texts = alphabet(&mut counter, &AlphabetOptions::default(), merge_rules.unit, &merge_rules.affixes)?;
            (0..texts.len() as u32).map(|id| texts.get(id).to_vec()).collect()
        }
    };
    let additional_symbols = additional_symbols.iter().map(|text| text.to_vec());
    learn(&mut counter, initial.into_iter().chain(additional_symbols), merge_rules, &mut NoProgress)
}

/// Returns the merges without a limit, and the merges with a limit so low that learning takes several rounds.
fn learn_with_and_without_limit(
    words: &[(Vec<u8>, u64)],
    merge_rules: MergeRules,
    usable_memory: usize,
) -> (LearnedMerges, LearnedMerges) {
    let unlimited = learn_words(words, &merge_rules).unwrap();
    // With too little memory, not even the most frequent pairs can be counted.
    let mut rooms = std::iter::successors(Some(usable_memory), |usable_memory| Some(usable_memory * 5 / 4));
    let limited = rooms.find_map(|usable_memory| {
        learn_words(words, &MergeRules { usable_memory: Some(usable_memory), ..merge_rules.clone() }).ok()
    });
    (unlimited, limited.unwrap())
}

/// Learns merges in the simplest way: counts all pairs anew for each merge.
fn learn_by_recounting(words: &[(&[u8], u64)], ties: TieRule, limits: MergeLimits) -> Vec<Merge> {
    let mut sequences: Vec<Vec<u32>> = words.iter().map(|(word, _)| word.iter().map(|&b| b.into()).collect()).collect();
    let mut merges = Vec::new();
    for id in 256..limits.symbols.min(100_000) as u32 {
        let mut counts: HashMap<(u32, u32), (u64, usize)> = HashMap::new();
        let pairs =
            sequences.iter().zip(words).flat_map(|(ids, word)| ids.windows(2).map(|pair| (pair[0], pair[1], word.1)));
        for (at, (left, right, count)) in pairs.enumerate() {
            counts.entry((left, right)).or_insert((0, at)).0 += count;
        }
        let best = counts.into_iter().min_by_key(|&((left, right), (count, at))| {
            (std::cmp::Reverse(count), if ties == TieRule::FirstSeen { at } else { 0 }, left, right)
        });
        let Some(((left, right), (count, _))) = best.filter(|best| best.1.0 >= limits.min_count) else { break };
        merges.push(Merge { left, right, id, count, symbols: id as usize });
        for ids in &mut sequences {
            let mut merged: Vec<u32> = Vec::new();
            for &symbol in ids.iter() {
                if merged.last() == Some(&left) && symbol == right {
                    merged.pop();
                    merged.push(id);
                } else {
                    merged.push(symbol);
                }
            }
            *ids = merged;
        }
    }
    merges
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn merges_match_the_plain_algorithm(
        words in proptest::collection::vec(("[ab]{0,12}|[a-d]{0,20}", 1u64..4), 0..12),
        first_seen in any::<bool>(), min_count in 0u64..4,
    ) {
        let words: Vec<(&[u8], u64)> = words.iter().map(|(word, count)| (word.as_bytes(), *count)).collect();
        let ties = if first_seen { TieRule::FirstSeen } else { TieRule::LowerIds };
        let limits = MergeLimits { min_count, ..NO_LIMITS };
        let expected = learn_by_recounting(&words, ties, MergeLimits { min_count: min_count.max(1), ..limits });
        prop_assert_eq!(learn_in_memory(&words, ties, limits), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn rounds_learn_the_same_merges(
        words in proptest::collection::vec(("[ab]{0,12}|[a-f]{0,20}|[a-z]{1,9}", 1u64..40), 0..60),
        first_seen in any::<bool>(), min_count in 0u64..4, usable_memory in 9_000usize..14_000, max_length in 2usize..9,
    ) {
        let words: Vec<(Vec<u8>, u64)> = words.into_iter().map(|(word, count)| (word.into_bytes(), count)).collect();
        let ties = if first_seen { TieRule::FirstSeen } else { TieRule::LowerIds };
        let length_limit = if max_length == 8 { usize::MAX } else { max_length };
        let merge_rules = merge_rules(ties, MergeLimits { min_count, length_limit, ..NO_LIMITS });
        let (unlimited, limited) = learn_with_and_without_limit(&words, merge_rules, usable_memory);
        prop_assert_eq!(&unlimited.merges, &limited.merges);
        prop_assert!(limited.within_limit);
    }

    #[test]
    fn rounds_with_affixes_learn_the_same_merges(
        words in proptest::collection::vec(("[#a]{0,9}|[ab]{0,12}|[a-f<]{0,16}", 1u64..20), 0..40),
        is_prefix in any::<bool>(), usable_memory in 9_000usize..14_000, max_length in 2usize..9,
    ) {
        let words: Vec<(Vec<u8>, u64)> = words.into_iter().map(|(word, count)| (word.into_bytes(), count)).collect();
        let affixes = match is_prefix {
            true => Affixes { prefix: b"#".to_vec(), suffix: Vec::new() },
            false => Affixes { prefix: Vec::new(), suffix: b"<".to_vec() },
        };
        let length_limit = if max_length == 8 { usize::MAX } else { max_length };
        let limits = MergeLimits { length_limit, ..NO_LIMITS };
        let merge_rules = MergeRules { unit: WordUnit::Chars, affixes, ..merge_rules(TieRule::LowerIds, limits) };
        let (unlimited, limited) = learn_with_and_without_limit(&words, merge_rules, usable_memory);
        prop_assert_eq!(unlimited.merges, limited.merges);
        prop_assert_eq!(unlimited.texts.into_columns(), limited.texts.into_columns());
    }
}

/// Returns a word whose most frequent pair has more places than fit into [`SMALL_ROOM`] bytes.
fn word_with_frequent_pair(symbols: &[u8]) -> Vec<u8> {
    let mut state = 1u32;
    let mut next_symbol = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        symbols[(state >> 16) as usize % symbols.len()]
    };
    let word: Vec<u8> = (0..16_000).flat_map(|_| [b'q', b'z', next_symbol(), next_symbol()]).collect();
    assert!(word.len() / 4 * size_of::<PairPosition>() > SMALL_ROOM);
    word
}

const SMALL_ROOM: usize = 40_000;

#[test]
fn a_word_that_does_not_fit_into_memory_is_merged_as_a_stream() {
    let words = [(word_with_frequent_pair(b"abqz"), 1)];
    for ties in [TieRule::LowerIds, TieRule::FirstSeen] {
        let merge_rules = merge_rules(ties, MergeLimits { symbols: 300, ..NO_LIMITS });
        let limited =
            learn_words(&words, &MergeRules { usable_memory: Some(SMALL_ROOM), ..merge_rules.clone() }).unwrap();
        assert_eq!(learn_words(&words, &merge_rules).unwrap().merges, limited.merges);
    }
}

#[test]
fn an_existing_symbol_gets_the_length_of_its_merge() {
    let words = [(word_with_frequent_pair(b"qz"), 1)];
    let mut merge_rules = merge_rules(TieRule::LowerIds, MergeLimits { symbols: 290, length_limit: 5, ..NO_LIMITS });
    let unlimited = learn_words_with(&words, &[b"qz"], &merge_rules).unwrap();
    assert_eq!(unlimited.merges[0].id, 256);
    merge_rules.usable_memory = Some(SMALL_ROOM);
    assert_eq!(unlimited.merges, learn_words_with(&words, &[b"qz"], &merge_rules).unwrap().merges);
}

#[test]
fn counts_can_exceed_32_bits() {
    let words: [(&[u8], u64); 3] = [(b"ab", 1 << 40), (b"bc", (1 << 40) + 1), (b"cd", u64::from(u32::MAX))];
    let counts: Vec<(u32, u64)> =
        learn_in_memory(&words, TieRule::LowerIds, NO_LIMITS).iter().map(|merge| (merge.left, merge.count)).collect();
    assert_eq!(counts, [(98, (1 << 40) + 1), (97, 1 << 40), (99, u64::from(u32::MAX))]);
}

#[test]
fn pairs_that_do_not_occur_any_more_are_not_merged() {
    let pairs: Vec<(u32, u32)> = learn_in_memory(&[(b"abc", 5), (b"ab", 3)], TieRule::LowerIds, NO_LIMITS)
        .iter()
        .map(|merge| (merge.left, merge.right))
        .collect();
    assert_eq!(pairs, [(97, 98), (256, 99)]);
}

#[test]
fn one_long_word_is_merged() {
    let mut state = 1u32;
    let mut next_byte = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 % 16
    };
    let word: Vec<u8> = (0..300_000).map(&mut next_byte).collect();
    for ties in [TieRule::LowerIds, TieRule::FirstSeen] {
        assert_eq!(learn_in_memory(&[(&word, 1)], ties, MergeLimits { symbols: 3000, ..NO_LIMITS }).len(), 2744);
        assert_eq!(
            learn_in_memory(&[(&vec![b'a'; 100_000], 1)], ties, MergeLimits { symbols: 300, ..NO_LIMITS }).len(),
            21
        );
    }
}
