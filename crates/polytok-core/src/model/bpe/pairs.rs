//! The table of pairs that every BPE merge uses: from a left and a right symbol to a rank and the merged symbol.
//!
//! A slot is one number: the two symbols and the value of the pair. A bucket is four slots, half a cache line, and is
//! filled from its first slot. A lookup compares all four slots without a branch, and continues with the next bucket
//! only if this bucket is full and does not have the pair. The rank and the merged symbol of most pairs follow from the
//! value (see pair_values.rs). A rank is a priority, the lowest first; it is not an id. Most pairs that are looked up are
//! not in the table; a smaller table of bits rejects most of these pairs (see pair_filter.rs).
//!
//! The hash is seeded, so that nobody can write a file whose pairs collide. A lookup reads at most `MAX_PROBES`
//! buckets, so that the table of a forged file cannot make lookups slow.

use std::ops::Deref;

use bytemuck::{Pod, Zeroable};
use polytok_memory::{self as memory, Collect, Grow};

use super::pair_filter::PairFilter;
use super::pair_values::{ValueRule, rank_and_merged};
use super::symbol::{Rank, Symbol};
use crate::error::{Error, Result};
use crate::hash::hash_number;
use crate::native::{FilePart, PartWriter, Stored};
use crate::prefetch::prefetch;
use crate::table::Table;

/// The value of a pair that is not in the table.
pub const NO_VALUE: u32 = (1 << VALUE_BITS) - 1;

/// The number of bits of a slot that hold one symbol; the remaining bits hold the value of the pair.
const HALF_BITS: u32 = 21;
const VALUE_BITS: u32 = 64 - 2 * HALF_BITS;

/// The content of an empty slot, which differs from every pair because no symbol has all bits set.
const EMPTY: u64 = u64::MAX;

/// The number of slots of a bucket.
const BUCKET_LEN: usize = 4;

/// The largest percentage of slots that hold a pair. A fuller table has more full buckets, but needs less memory, so
/// more of it is in the processor's caches.
const MAX_LOAD_PERCENT: usize = 80;

/// The largest number of buckets that a lookup reads.
const MAX_PROBES: usize = 64;

/// A pair that merges.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Pair {
    /// The left symbol.
    pub left: Symbol,
    /// The right symbol.
    pub right: Symbol,
    /// The priority, low first.
    pub rank: Rank,
    /// The merged symbol.
    pub merged: Symbol,
}

/// An immutable table of mergeable pairs.
#[derive(Debug)]
pub struct Pairs {
    map: BucketMap<Table<Bucket>>,
    list: Table<Pair>,
    filter: PairFilter,
    /// The value of the first pair of the list, if it is listed; see pair_values.rs.
    first_listed: u32,
}

/// A table to which pairs are still added.
#[derive(Debug)]
pub struct GrowingPairs {
    map: BucketMap<Vec<Bucket>>,
    list: Vec<Pair>,
    filter: PairFilter<Vec<u64>>,
    rule: ValueRule,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(32))]
struct Bucket([u64; BUCKET_LEN]);

/// The map from pairs to values.
#[derive(Debug)]
struct BucketMap<B> {
    buckets: B,
    /// The number of low bits of the hash that do not select the first bucket.
    shift: u32,
    seed: u64,
}

impl GrowingPairs {
    /// Returns an empty table. Each pair must have a rank and a merged symbol that are in `order` together. The table
    /// has room for `pair_capacity` pairs, and grows if it gets more.
    pub fn new(order: Vec<(Rank, Symbol)>, pair_capacity: usize, seed: u64) -> GrowingPairs {
        let bucket_count = min_bucket_count(pair_capacity).next_power_of_two().max(4);
        GrowingPairs {
            map: BucketMap::empty(bucket_count, seed),
            list: memory::with_capacity(pair_capacity),
            filter: PairFilter::empty(pair_capacity),
            rule: ValueRule::new(order, 2 * pair_capacity), // the table can grow
        }
    }

    /// Adds a pair; of equal pairs the last wins.
    pub fn insert(&mut self, pair: Pair) -> Result<()> {
        let at = self.list.len() as u32;
        let value = self.rule.value(&pair, at);
        if pair.left.max(pair.right).number() >= (1 << HALF_BITS) - 1 || value.max(at) >= NO_VALUE {
            return Err(Error::Spec(
                "the BPE model is too large: it can have at most two million symbols and four million pairs".into(),
            ));
        }
        self.list.checked_push(pair);
        self.filter.insert(self.map.hash(key(pair.left, pair.right)));
        if min_bucket_count(self.list.len()) > self.map.buckets.len() || !self.map.insert(pair.left, pair.right, value)
        {
            self.rehash()?;
        }
        Ok(())
    }

    /// Returns the rank and the merged symbol of a pair; the rank is `Rank::NONE` if the pair does not merge.
    #[inline]
    pub fn get(&self, left: Symbol, right: Symbol) -> (Rank, Symbol) {
        rank_and_merged(&self.list, self.rule.first_listed, self.map.find_filtered(&self.filter, left, right))
    }

    /// Prefetches the bucket that `get` reads first.
    #[inline]
    pub fn prefetch(&self, left: Symbol, right: Symbol) {
        self.map.prefetch(left, right);
    }

    /// Returns the finished table.
    pub fn finish(mut self) -> Pairs {
        self.improve_rule();
        let BucketMap { buckets, shift, seed } = self.map;
        let map = BucketMap { buckets: buckets.into(), shift, seed };
        let (filter, first_listed) = (self.filter.finish(), self.rule.first_listed);
        Pairs { map, list: self.list.into(), filter, first_listed }
    }

    /// If more pairs can be direct, because some of the ranks and merged symbols that were announced have no pair, writes
    /// the values of these pairs. Direct pairs stay direct, because all pairs of lower ranks are direct too.
    fn improve_rule(&mut self) {
        let order = self.list.iter().map(|pair| (pair.rank, pair.merged)).checked_collect();
        let (rule, old_first_listed) = (ValueRule::new(order, self.list.len()), self.rule.first_listed);
        if rule.first_listed <= old_first_listed {
            return;
        }
        let slots = self.map.buckets.iter_mut().flat_map(|bucket| &mut bucket.0).filter(|slot| **slot != EMPTY);
        for slot in slots {
            if let Some(at) = ((*slot & NO_VALUE as u64) as u32).checked_sub(old_first_listed) {
                *slot = *slot & !(NO_VALUE as u64) | rule.value(&self.list[at as usize], at) as u64;
            }
        }
        self.rule = rule;
    }

    /// Doubles the number of buckets until every pair has a slot.
    #[cold]
    fn rehash(&mut self) -> Result<()> {
        const MAX_DOUBLINGS: usize = 5;
        for doubling in 1..=MAX_DOUBLINGS {
            let mut map = BucketMap::empty(self.map.buckets.len() << doubling, self.map.seed);
            let insert = |(at, pair): (u32, &Pair)| map.insert(pair.left, pair.right, self.rule.value(pair, at));
            if (0..).zip(&self.list).all(insert) {
                self.map = map;
                self.grow_filter();
                return Ok(());
            }
        }
        Err(Error::Spec("too many BPE pairs have similar hashes; the vocabulary cannot be used".into()))
    }

    /// Builds a larger filter if the filter has too few bits for the pairs.
    fn grow_filter(&mut self) {
        if !self.filter.has_room_for(self.list.len()) {
            self.filter = PairFilter::empty(2 * self.list.len());
            let hashes = self.list.iter().map(|pair| self.map.hash(key(pair.left, pair.right)));
            hashes.for_each(|hash| self.filter.insert(hash));
        }
    }
}

/// Returns the number of buckets that these pairs need.
#[inline]
fn min_bucket_count(pair_count: usize) -> usize {
    (100 * pair_count).div_ceil(BUCKET_LEN * MAX_LOAD_PERCENT)
}

impl Pairs {
    /// Builds the table; of equal pairs the last wins.
    pub fn build(pairs: Vec<Pair>, seed: u64) -> Result<Pairs> {
        let order = pairs.iter().map(|pair| (pair.rank, pair.merged)).checked_collect();
        let mut pairs_to_fill = GrowingPairs::new(order, pairs.len(), seed);
        pairs.into_iter().try_for_each(|pair| pairs_to_fill.insert(pair))?;
        Ok(pairs_to_fill.finish())
    }

    /// Returns the rank and the merged symbol of a pair; the rank is `Rank::NONE` if it does not merge.
    #[inline]
    pub fn get(&self, left: Symbol, right: Symbol) -> (Rank, Symbol) {
        self.rank_and_merged(self.value(left, right))
    }

    /// Returns the value of a pair, which [`rank_and_merged`](Self::rank_and_merged) accepts, or [`NO_VALUE`].
    #[inline]
    pub fn value(&self, left: Symbol, right: Symbol) -> u32 {
        self.map.find_filtered(&self.filter, left, right)
    }

    /// Prefetches the bucket that `get` reads first.
    #[inline]
    pub fn prefetch(&self, left: Symbol, right: Symbol) {
        self.map.prefetch(left, right);
    }

    /// Returns the rank and the merged symbol of a value.
    #[inline]
    pub fn rank_and_merged(&self, value: u32) -> (Rank, Symbol) {
        rank_and_merged(&self.list, self.first_listed, value)
    }

    /// Returns all pairs.
    pub fn list(&self) -> &[Pair] {
        &self.list
    }
}

impl<B: Deref<Target = [Bucket]>> BucketMap<B> {
    /// Returns the value of a pair, or [`NO_VALUE`]. The filter must have the hashes of all pairs.
    #[inline]
    fn find_filtered(&self, filter: &PairFilter<impl Deref<Target = [u64]>>, left: Symbol, right: Symbol) -> u32 {
        match filter.may_have(self.hash(key(left, right))) {
            true => self.find(left, right),
            false => NO_VALUE,
        }
    }

    /// Returns the value of a pair, or [`NO_VALUE`].
    #[inline]
    fn find(&self, left: Symbol, right: Symbol) -> u32 {
        if (left.number() | right.number()) >> HALF_BITS != 0 {
            return NO_VALUE;
        }
        let key = key(left, right);
        let mut at = self.first_bucket(key);
        let key = key << VALUE_BITS;
        for _ in 0..MAX_PROBES {
            let Some(&Bucket([first, second, third, fourth])) = self.buckets.get(at) else { break };
            // In the slot with this key, XOR leaves only the value; in every other slot, the result is larger.
            let found = smaller(smaller(first ^ key, second ^ key), smaller(third ^ key, fourth ^ key));
            if found < NO_VALUE as u64 {
                return found as u32;
            }
            if fourth == EMPTY {
                break; // the bucket is not full, so the pair is missing
            }
            at = (at + 1) & (self.buckets.len() - 1);
        }
        NO_VALUE
    }

    #[inline]
    fn prefetch(&self, left: Symbol, right: Symbol) {
        prefetch(&self.buckets, self.first_bucket(key(left, right)));
    }

    #[inline]
    fn first_bucket(&self, key: u64) -> usize {
        (self.hash(key) >> self.shift) as usize
    }

    #[inline]
    fn hash(&self, key: u64) -> u64 {
        hash_number(key, self.seed)
    }
}

impl BucketMap<Vec<Bucket>> {
    /// Returns an empty map; the number of buckets must be a power of two.
    fn empty(count: usize, seed: u64) -> BucketMap<Vec<Bucket>> {
        BucketMap {
            buckets: memory::filled(Bucket([EMPTY; BUCKET_LEN]), count),
            shift: 64 - count.trailing_zeros(),
            seed,
        }
    }

    /// Inserts a pair; returns false if all buckets that a lookup reads are full.
    fn insert(&mut self, left: Symbol, right: Symbol, value: u32) -> bool {
        let key = key(left, right);
        let mut at = self.first_bucket(key);
        for _ in 0..MAX_PROBES {
            let is_free = |slot: &&mut u64| **slot == EMPTY || **slot >> VALUE_BITS == key;
            if let Some(slot) = self.buckets[at].0.iter_mut().find(is_free) {
                *slot = key << VALUE_BITS | value as u64;
                return true;
            }
            at = (at + 1) & (self.buckets.len() - 1);
        }
        false
    }
}

#[inline(always)]
fn smaller(left: u64, right: u64) -> u64 {
    if right < left { right } else { left }
}

#[inline]
fn key(left: Symbol, right: Symbol) -> u64 {
    (left.number() as u64) << HALF_BITS | right.number() as u64
}

impl Stored for Pairs {
    fn write(&self, out: &mut PartWriter) {
        out.table("buckets", &self.map.buckets);
        out.table("list", &self.list);
        self.filter.write(out);
        out.table("seed", &[self.map.seed]);
        out.table("first_listed", &[self.first_listed]);
    }

    /// Reads the table of a file. Indexes in the list are checked by each lookup, and merged symbols must be checked by
    /// the caller.
    fn read(part: &FilePart) -> Result<Pairs> {
        let buckets: Table<Bucket> = part.table("buckets")?;
        if buckets.len() < 2 || !buckets.len().is_power_of_two() {
            return Err(part.section_error("buckets", "are not a hash table of pairs"));
        }
        let shift = 64 - buckets.len().trailing_zeros();
        Ok(Pairs {
            map: BucketMap { buckets, shift, seed: part.number("seed")? },
            list: part.table("list")?,
            filter: PairFilter::read(part)?,
            first_listed: part.number("first_listed")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::super::merge::{PairLookup, PlacedSymbol};
    use super::*;

    fn pair(left: u32, right: u32, rank: u32, merged: u32) -> Pair {
        Pair { left: Symbol::new(left), right: Symbol::new(right), rank: Rank(rank), merged: Symbol::new(merged) }
    }

    /// Returns the rank and the merged symbol of a pair that merges.
    fn get(table: &impl PairLookup, left: u32, right: u32) -> Option<(u32, u32)> {
        let placed = |number| PlacedSymbol::new(Symbol::new(number), 0);
        let (rank, merged) = table.look_up(placed(left), placed(right), || None);
        (rank != Rank::NONE).then_some((rank.0, merged.number()))
    }

    /// Checks that a table has the pairs of a map, with ranks in the same order.
    fn check(table: &impl PairLookup, map: &HashMap<(u32, u32), Pair>) {
        let mut ranks = Vec::new();
        for left in (0..400).chain([u32::MAX, 1 << HALF_BITS]) {
            for right in 0..400 {
                let (expected, actual) = (map.get(&(left, right)), get(table, left, right));
                assert_eq!(actual.map(|pair| pair.1), expected.map(|pair| pair.merged.number()));
                ranks.extend(expected.zip(actual).map(|(expected, actual)| (expected.rank.0, actual.0)));
            }
        }
        ranks.sort_unstable();
        assert!(ranks.windows(2).all(|ranks| ranks[0].0.cmp(&ranks[1].0) == ranks[0].1.cmp(&ranks[1].1)));
    }

    proptest! {
        #[test]
        fn agrees_with_a_map(
            listed_pairs in prop::collection::vec((0u32..400, 0u32..400, 0u32..9, 0u32..9), 0..300), ordered_ranks in 0u32..10,
            unused in prop::collection::vec((0u32..9, 0u32..20), 0..3), pair_capacity in 0usize..300,
        ) {
            let merged_of = |rank, merged| if rank < ordered_ranks { rank + 7 } else { merged };
            let pairs = listed_pairs.iter().map(|&(left, right, rank, merged)| pair(left, right, rank, merged_of(rank, merged)));
            let map: HashMap<_, _> = pairs.clone().map(|pair| ((pair.left.number(), pair.right.number()), pair)).collect();
            check(&Pairs::build(pairs.clone().collect(), 5).unwrap(), &map);
            let unused = unused.into_iter().map(|(rank, merged)| (Rank(rank), Symbol::new(merged)));
            let order = pairs.clone().map(|pair| (pair.rank, pair.merged)).chain(unused).collect();
            let mut growing = GrowingPairs::new(order, pair_capacity, 5);
            pairs.clone().for_each(|pair| growing.insert(pair).unwrap());
            check(&growing, &map);
            check(&growing.finish(), &map);
        }
    }

    #[test]
    fn many_pairs_make_the_table_grow() {
        let pair = |at: u32| pair(at, at / 7, at, at);
        let order = (0..50_000).map(|at| (Rank(at), Symbol::new(at))).collect();
        let mut table = GrowingPairs::new(order, 3, 1);
        (0..50_000).for_each(|at| table.insert(pair(at)).unwrap());
        let table = table.finish();
        assert!(
            (0..50_000).all(|at| get(&table, at, at / 7) == Some((at, at)) && get(&table, at, at / 7 + 1).is_none())
        );
        assert!(Pairs::build(vec![Pair { left: Symbol::new(1 << HALF_BITS), ..pair(1) }], 1).is_err());
    }

    #[test]
    fn a_full_table_ends_the_search() {
        let map = BucketMap { buckets: vec![Bucket([0; 4]); 4096], shift: 52, seed: 1 };
        assert_eq!(map.find(Symbol::new(1), Symbol::new(1)), NO_VALUE);
    }
}
