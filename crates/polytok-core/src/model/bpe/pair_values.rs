//! Chooses the values of the pair table so that the ranks and merged symbols of most pairs follow from their values.
//!
//! Pairs with higher ranks usually have higher merged symbols, as when ids follow the order of training. Such pairs are
//! *direct*: the value is the merged symbol, which also serves as the rank. From the first rank on that breaks this
//! order, pairs are *listed*: the value is an index in the list of all pairs, added to `first_listed`, which is higher
//! than all direct values. In Llama 2, for example, only the entries of several spaces are listed, because all of them
//! have the same score, which is the lowest. `first_listed` is also added to the ranks of listed pairs, so that they
//! are higher than the ranks of direct pairs.
//!
//! Direct pairs save memory: the list has sixteen bytes for each pair, and would be read for each pair that merges.

use super::pairs::{NO_VALUE, Pair};
use super::symbol::{Rank, Symbol};

/// Which pairs are direct, and the values of the others.
#[derive(Debug)]
pub(super) struct ValueRule {
    /// The lowest rank of a listed pair.
    lowest_listed_rank: Rank,
    /// The number that is added to the index of a listed pair.
    pub(super) first_listed: u32,
}

impl ValueRule {
    /// Chooses the rule for a list of up to `max_pairs` pairs with these ranks and merged symbols, in any order.
    pub(super) fn new(mut order: Vec<(Rank, Symbol)>, max_pairs: usize) -> ValueRule {
        order.sort_unstable();
        let is_break =
            |first: (Rank, Symbol), next: (Rank, Symbol)| first != next && !(first.0 < next.0 && first.1 < next.1);
        let first_break = order.windows(2).find(|pair| is_break(pair[0], pair[1]));
        let lowest_listed_rank = first_break.map_or(Rank::NONE, |pair| pair[1].0);
        let highest_direct = order.iter().rev().find(|pair| pair.0 < lowest_listed_rank);
        let first_listed = highest_direct.map_or(0, |pair| pair.1.number().saturating_add(1));
        let highest_rank = order.last().map_or(0, |pair| pair.0.0);
        let fits = first_listed as usize + max_pairs <= NO_VALUE as usize
            && first_listed.checked_add(highest_rank).is_some_and(|rank| Rank(rank) < Rank::NONE);
        match fits {
            true => ValueRule { lowest_listed_rank, first_listed },
            false => ValueRule { lowest_listed_rank: Rank(0), first_listed: 0 },
        }
    }

    /// Returns the value of the pair at this index of the list.
    #[inline]
    pub(super) fn value(&self, pair: &Pair, at: u32) -> u32 {
        if pair.rank < self.lowest_listed_rank { pair.merged.number() } else { self.first_listed + at }
    }
}

/// Returns the rank and the merged symbol of a value. The processor can predict that hardly any pair is listed.
#[inline]
pub(super) fn rank_and_merged(list: &[Pair], first_listed: u32, value: u32) -> (Rank, Symbol) {
    match list.get(value.wrapping_sub(first_listed) as usize) {
        // The sum can only overflow in a damaged file.
        Some(pair) => (Rank(pair.rank.0.wrapping_add(first_listed)), pair.merged),
        None => (if value == NO_VALUE { Rank::NONE } else { Rank(value) }, Symbol::new(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first listed value and the values of pairs with these ranks and merged symbols.
    fn values(pairs: &[(u32, u32)]) -> (u32, Vec<u32>) {
        let symbol = Symbol::new(1);
        let pair =
            |&(rank, merged)| Pair { left: symbol, right: symbol, rank: Rank(rank), merged: Symbol::new(merged) };
        let list: Vec<Pair> = pairs.iter().map(pair).collect();
        let rule = ValueRule::new(list.iter().map(|pair| (pair.rank, pair.merged)).collect(), list.len());
        (rule.first_listed, (0..).zip(&list).map(|(at, pair)| rule.value(pair, at)).collect())
    }

    #[test]
    fn pairs_in_order_are_direct() {
        assert_eq!(values(&[]), (0, vec![]));
        assert_eq!(values(&[(0, 5), (2, 7), (2, 7), (9, 8)]), (9, vec![5, 7, 7, 8]));
        assert_eq!(values(&[(9, 8), (0, 5)]), (9, vec![8, 5]), "the list can be in any order");
    }

    #[test]
    fn pairs_are_listed_from_the_first_break_of_the_order_on() {
        assert_eq!(values(&[(0, 5), (1, 6), (2, 3), (3, 8)]), (7, vec![5, 6, 9, 10]), "a lower merged symbol");
        assert_eq!(values(&[(0, 5), (1, 6), (1, 9), (3, 10)]), (6, vec![5, 7, 8, 9]), "equal ranks");
        assert_eq!(values(&[(0, 5), (1, 6), (2, 6)]), (7, vec![5, 6, 9]), "equal merged symbols");
        assert_eq!(values(&[(4, 5), (4, 6), (7, 9)]), (0, vec![0, 1, 2]), "nothing is direct");
    }

    #[test]
    fn pairs_are_listed_if_numbers_are_too_large() {
        assert_eq!(values(&[(0, NO_VALUE - 1), (1, NO_VALUE)]), (0, vec![0, 1]));
        assert_eq!(values(&[(0, 5), (u32::MAX - 3, 6)]), (0, vec![0, 1]));
    }
}
