use super::cells::Cells;
use super::*;
use crate::train::progress::Silent;
use proptest::prelude::*;
use std::collections::HashMap;

const ALL: Limits = Limits { symbols: usize::MAX, min_count: 1, below_length: usize::MAX };

fn learned(words: &[(&[u8], u64)], ties: Ties, limits: Limits) -> Vec<Merge> {
    let mut cells = Cells::default();
    for (word, _) in words {
        cells.push(word.iter().map(|&byte| u32::from(byte))).unwrap();
    }
    let mut texts = Texts::new(b"");
    for byte in 0..=255 {
        texts.add(&[byte]).unwrap();
    }
    Learner::<false>::new(cells, 256, |word| words[word].1, ties, limits).run(&mut texts, &mut Silent).unwrap()
}

/// Counts everything anew for each merge.
fn plain(words: &[(&[u8], u64)], ties: Ties, limits: Limits) -> Vec<Merge> {
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
            (std::cmp::Reverse(count), if ties == Ties::FirstSeen { at } else { 0 }, left, right)
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
    fn as_counting_anew(words in proptest::collection::vec(("[ab]{0,12}|[a-d]{0,20}", 1u64..4), 0..12), first in any::<bool>(), min_count in 0u64..4) {
        let words: Vec<(&[u8], u64)> = words.iter().map(|(word, count)| (word.as_bytes(), *count)).collect();
        let ties = if first { Ties::FirstSeen } else { Ties::LowerIds };
        let limits = Limits { min_count, ..ALL };
        prop_assert_eq!(learned(&words, ties, limits), plain(&words, ties, Limits { min_count: min_count.max(1), ..limits }));
    }
}

#[test]
fn counts_beyond_32_bits() {
    let words: [(&[u8], u64); 3] = [(b"ab", 1 << 40), (b"bc", (1 << 40) + 1), (b"cd", u64::from(u32::MAX))];
    let counts: Vec<(u32, u64)> =
        learned(&words, Ties::LowerIds, ALL).iter().map(|merge| (merge.left, merge.count)).collect();
    assert_eq!(counts, [(98, (1 << 40) + 1), (97, 1 << 40), (99, u64::from(u32::MAX))]);
}

#[test]
fn pairs_that_are_gone_are_not_merged() {
    let pairs: Vec<(u32, u32)> = learned(&[(b"abc", 5), (b"ab", 3)], Ties::LowerIds, ALL)
        .iter()
        .map(|merge| (merge.left, merge.right))
        .collect();
    assert_eq!(pairs, [(97, 98), (256, 99)]);
}

#[test]
fn one_long_word() {
    let mut state = 1u32;
    let mut next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 % 16
    };
    let word: Vec<u8> = (0..300_000).map(&mut next).collect();
    for ties in [Ties::LowerIds, Ties::FirstSeen] {
        assert_eq!(learned(&[(&word, 1)], ties, Limits { symbols: 3000, ..ALL }).len(), 2744);
        assert_eq!(learned(&[(&vec![b'a'; 100_000], 1)], ties, Limits { symbols: 300, ..ALL }).len(), 21);
    }
}
