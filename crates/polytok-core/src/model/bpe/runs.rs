//! Merges a text that repeats one unit, such as a long run of spaces, by halving it.
//!
//! At any time the symbols are `count` equal symbols, the body, followed by a few other symbols, the tail. At first, all
//! symbols are in the body. The merges are those of merge.rs, in the same order. If a pair of the body merges first,
//! then all pairs of the body merge from left to right, unless a pair with a new symbol has the same or a lower rank. So
//! one step halves the body. If the count is odd, the last symbol of the body becomes the first symbol of the tail. Each
//! other merge is a step of its own. If a pair with a new symbol has the same or a lower rank, windows.rs merges the text
//! instead.
//!
//! Cost: each halving adds at most one symbol to the tail, so a run of n units usually takes (log n)² lookups. If the
//! symbols of the body merge with the tail one by one, it takes at most n · log n lookups. Twin: the heap of merge.rs.

use polytok_memory::Grow;

use super::merge::PlacedSymbol;
use super::merging::Merging;
use super::pairs::Pairs;
use super::symbol::{Rank, Symbol};

/// A symbol and its length in bytes.
#[derive(Clone, Copy, Debug)]
struct RunSymbol {
    symbol: Symbol,
    len: usize,
}

/// The pair that merges first.
struct FirstPair {
    rank: Rank,
    merged: Symbol,
    /// The index of the right symbol in the tail; None if both symbols are in the body.
    right: Option<usize>,
}

/// The symbols of a run: `count` times `body`, then the tail.
struct Run<'a> {
    pairs: &'a Pairs,
    body: RunSymbol,
    count: usize,
    tail: Vec<RunSymbol>,
}

/// Merges a text that repeats one unit, and appends the final symbols. If the text does not repeat one unit, or its
/// merges need the windows, returns false and appends nothing. The text must not be empty.
pub(super) fn merge_run(merging: &Merging, text: &[u8], symbols: &mut Vec<PlacedSymbol>) -> bool {
    let Some(mut run) = Run::new(merging, text) else { return false };
    let is_merged = run.merge_all();
    if is_merged {
        run.append_to(symbols);
    }
    is_merged
}

impl<'a> Run<'a> {
    fn new(merging: &'a Merging, text: &[u8]) -> Option<Run<'a>> {
        // The length of a unit follows from its first byte, so the units of a repeated unit are equal.
        let (symbol, len) = merging.units.first(text);
        let is_run = text.len().is_multiple_of(len) && text[len..] == text[..text.len() - len];
        let body = RunSymbol { symbol, len };
        is_run.then(|| Run { pairs: &merging.pairs, body, count: text.len() / len, tail: Vec::new() })
    }

    /// Merges until no pair can merge; returns false if the text needs the windows.
    fn merge_all(&mut self) -> bool {
        while let Some(pair) = self.first_pair() {
            match pair.right {
                Some(right) => self.merge_with_tail(right, pair.merged),
                None if self.merges_new_symbols_first(&pair) => return false,
                None => self.halve_body(pair.merged),
            }
        }
        true
    }

    /// Returns the pair of the lowest rank; of equal ranks, the leftmost pair.
    fn first_pair(&self) -> Option<FirstPair> {
        let body = &[self.body; 2][..self.count.min(2)];
        let symbols = || body.iter().chain(&self.tail);
        let pairs = symbols().zip(symbols().skip(1)).enumerate().map(|(left, pair)| {
            let (rank, merged) = self.pairs.get(pair.0.symbol, pair.1.symbol);
            FirstPair { rank, merged, right: (left + 1).checked_sub(body.len()) }
        });
        // Of equal ranks, `min_by_key` returns the first.
        pairs.min_by_key(|pair| pair.rank).filter(|pair| pair.rank != Rank::NONE)
    }

    /// Merges a symbol of the tail with the symbol on its left.
    fn merge_with_tail(&mut self, right: usize, merged: Symbol) {
        let left_len = match right {
            0 => {
                self.count -= 1;
                self.body.len
            }
            _ => self.tail.remove(right - 1).len,
        };
        let tail_symbol = &mut self.tail[right.saturating_sub(1)];
        *tail_symbol = RunSymbol { symbol: merged, len: left_len + tail_symbol.len };
    }

    /// Reports whether a pair with a new symbol would merge before the last pair of the body. With three symbols or
    /// fewer, the body has only one pair to merge.
    fn merges_new_symbols_first(&self, pair: &FirstPair) -> bool {
        let is_first = |right| self.pairs.get(pair.merged, right).0 <= pair.rank;
        self.count > 3 && (is_first(pair.merged) || is_first(self.body.symbol))
    }

    /// Merges all pairs of the body.
    fn halve_body(&mut self, merged: Symbol) {
        if !self.count.is_multiple_of(2) {
            self.tail.insert(0, self.body);
        }
        self.count /= 2;
        self.body = RunSymbol { symbol: merged, len: 2 * self.body.len };
    }

    fn append_to(&self, symbols: &mut Vec<PlacedSymbol>) {
        let mut start = 0;
        for &RunSymbol { symbol, len } in std::iter::repeat_n(&self.body, self.count).chain(&self.tail) {
            symbols.checked_push(PlacedSymbol::new(symbol, start));
            start += len;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::merge::{NoWatcher, merge_long};
    use super::super::pairs::Pair;
    use super::super::{Bpe, BpeRules, BpeScratch, SplitsOfSymbols};
    use super::*;
    use crate::error::Result;
    use crate::model::unigram::tests::vocab;
    use crate::native::Tables;
    use crate::segment::Segment;
    use crate::spec::{Kind, Priority, SentencePieceVersion, Symbols};
    use crate::token_id::TokenId;

    fn pairs_table(pairs: &BTreeMap<(u32, u32), (u32, u32)>) -> Pairs {
        let new_pair = |(&(left, right), &(rank, merged)): (&(u32, u32), &(u32, u32))| Pair {
            left: Symbol::new(left),
            right: Symbol::new(right),
            rank: Rank(rank),
            merged: Symbol::new(merged),
        };
        Pairs::build(pairs.iter().map(new_pair).collect(), 7).unwrap()
    }

    /// Merges a run of symbol 0, if the run needs no windows.
    fn merge_symbols(pairs: &Pairs, count: usize) -> Option<Vec<PlacedSymbol>> {
        let mut run = Run { pairs, body: RunSymbol { symbol: Symbol::new(0), len: 1 }, count, tail: Vec::new() };
        let mut symbols = Vec::new();
        run.merge_all().then(|| run.append_to(&mut symbols)).map(|()| symbols)
    }

    fn symbols_and_starts(symbols: &[PlacedSymbol]) -> Vec<(Symbol, u32)> {
        symbols.iter().map(|symbol| (symbol.symbol, symbol.start)).collect()
    }

    fn heap_symbols(pairs: &Pairs, mut symbols: Vec<PlacedSymbol>) -> Vec<(Symbol, u32)> {
        merge_long(pairs, &mut symbols, &mut Default::default(), &mut NoWatcher);
        symbols_and_starts(&symbols)
    }

    /// Returns lengths near powers of two, near multiples of the symbols of a short piece, and any others.
    fn counts() -> impl Strategy<Value = usize> {
        let near_power = (0u32..12, 0usize..5).prop_map(|(power, more)| ((1 << power) + more).saturating_sub(2).max(1));
        prop_oneof![3 => near_power, 1 => 59usize..66, 1 => 120usize..130, 2 => 1usize..1500]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..Default::default() })]

        /// A pair can merge to any symbol, and have the rank of another pair.
        #[test]
        fn any_table_of_pairs_gives_the_symbols_of_the_heap(
            pairs in prop::collection::btree_map((0u32..6, 0u32..6), (0u32..12, 0u32..6), 0..20), count in counts(),
        ) {
            let table = pairs_table(&pairs);
            let first_symbols = (0..count).map(|start| PlacedSymbol::new(Symbol::new(0), start)).collect();
            if let Some(symbols) = merge_symbols(&table, count) {
                prop_assert_eq!(symbols_and_starts(&symbols), heap_symbols(&table, first_symbols));
            }
        }
    }

    /// Returns the numbers of units of entries: the powers of two up to a limit, and any others.
    fn entry_counts() -> impl Strategy<Value = Vec<usize>> {
        let others = prop::collection::vec(prop_oneof![2 => 2usize..10, 1 => 2usize..130], 0..16);
        (0u32..8, others).prop_map(|(limit, others)| (1..=limit).map(|power| 1 << power).chain(others).collect())
    }

    type Segments = Vec<(TokenId, u32, u32)>;

    /// Returns the segments that `merge` emits.
    fn collect_segments(merge: impl FnOnce(&mut dyn FnMut(Segment) -> Result<()>) -> Result<()>) -> Segments {
        let mut segments = Vec::new();
        merge(&mut |segment| {
            segments.push((segment.id, segment.start, segment.end));
            Ok(())
        })
        .unwrap();
        segments
    }

    fn segments(bpe: &Bpe, text: &[u8], is_part: bool) -> Segments {
        collect_segments(|mut emit| bpe.segment(text, 0, is_part, &mut BpeScratch::default(), &mut emit))
    }

    /// Merges all pairs with the heap, except that a text that is an entry can be one segment.
    fn expected_segments(bpe: &Bpe, text: &[u8], is_part: bool) -> Segments {
        let entry = bpe.dictionary.reachable_rows.find(&bpe.vocab, text);
        if let Some(row) = entry.filter(|_| bpe.whole_piece_first && !is_part) {
            return vec![(bpe.vocab.id(row), 0, text.len() as u32)];
        }
        let merging = bpe.source().build_all().unwrap();
        let mut symbols = Vec::new();
        merging.units.push(text, 0, &mut symbols);
        merge_long(&merging.pairs, &mut symbols, &mut Default::default(), &mut NoWatcher);
        collect_segments(|mut emit| bpe.emit_symbols(text, &symbols, &SplitsOfSymbols::default(), &mut emit))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, ..Default::default() })]

        /// The entries repeat a unit of one or several bytes; their scores can be equal. The last unit can be clipped.
        #[test]
        fn runs_of_any_unit_have_the_segments_of_the_heap(
            unit in prop::sample::select(vec!["a", "é", "世", "😀", " ", "\u{2581}", "ab", "a世"]),
            entries in entry_counts(), scores in prop::collection::vec(-6i8..0, 300), ascending: bool, has_unit: bool,
            is_whole_piece_first: bool, is_part: bool, by_rank: bool, counts in prop::collection::vec(counts(), 3),
            clipped in 0usize..4,
        ) {
            let words = entries.iter().map(|&count| unit.repeat(count)).chain(has_unit.then(|| unit.to_string()));
            let words: Vec<String> = words.collect();
            let score = |at: usize| if ascending { -(words[at].len() as f32) } else { scores[at] as f32 };
            let rows: Vec<_> =
                words.iter().enumerate().map(|(at, word)| (word.as_str(), score(at), Kind::Normal)).collect();
            let (priority, symbols) =
                if by_rank { (Priority::Rank, Symbols::Bytes) } else { (Priority::Score, Symbols::Chars) };
            let rules = BpeRules {
                whole_piece_first: is_whole_piece_first, ..BpeRules::new(symbols, false, SentencePieceVersion::default())
            };
            let bpe = Bpe::compile(Arc::new(vocab(&rows)), &priority, &rules, None, &mut Tables::default()).unwrap();
            bpe.warm_up();
            for count in counts {
                let text = unit.repeat(count).into_bytes();
                let text = &text[..text.len().saturating_sub(clipped).max(1)];
                prop_assert_eq!(segments(&bpe, text, is_part), expected_segments(&bpe, text, is_part), "{:?}", text);
            }
        }
    }

    #[test]
    fn entries_of_each_power_of_two_need_no_windows() {
        let table = pairs_table(&(0..7).map(|level| ((level, level), (level, level + 1))).collect());
        let symbols = merge_symbols(&table, 3 * 128 + 65).unwrap();
        let numbers: Vec<_> = symbols.iter().map(|symbol| symbol.symbol.number()).collect();
        assert_eq!(numbers, [7, 7, 7, 6, 0]);
    }

    #[test]
    fn a_new_pair_of_the_same_or_a_lower_rank_needs_the_windows() {
        for new_pair in [(1, 0), (1, 1)] {
            for rank in [0, 1] {
                let table = pairs_table(&[((0, 0), (1, 1)), (new_pair, (rank, 2))].into_iter().collect());
                assert!(merge_symbols(&table, 100).is_none());
                assert!(merge_symbols(&table, 3).is_some());
            }
        }
    }
}
