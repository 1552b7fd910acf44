//! The table of pairs that every BPE merge uses: from a left and a right symbol to a rank and the merged symbol.
//!
//! A slot is one number: the two symbols and the value of the pair. A bucket is four slots, half a cache line, and is
//! filled from its first slot. A lookup compares all four slots without a branch, and continues with the next bucket
//! only if this bucket is full and does not have the pair. If pairs with higher ranks have higher merged symbols, as
//! when ids follow the order of training, the value is the merged symbol, which also serves as the rank. Otherwise the
//! value is an index into a list of pairs. A rank is a priority, the lowest first; it is not an id. Most pairs that are
//! looked up are not in the table; a smaller table of bits rejects most of these pairs (see pair_filter.rs).
//!
//! The hash is seeded, so that nobody can write a file whose pairs collide. A lookup reads at most `MAX_PROBES`
//! buckets, so that the table of a forged file cannot make lookups slow.

use std::ops::Deref;

use bytemuck::{Pod, Zeroable};

use super::pair_filter::PairFilter;
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
const MAX_PROBES: usize = 32;

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
    /// True if a value is the merged symbol and the rank; otherwise it is an index in the list.
    is_direct: bool,
}

/// A table to which pairs are still added.
#[derive(Debug)]
pub struct GrowingPairs {
    map: BucketMap<Vec<Bucket>>,
    list: Vec<Pair>,
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
    /// Returns an empty table with room for `room` pairs.
    pub fn new(pair_capacity: usize, seed: u64) -> GrowingPairs {
        let bucket_count = min_bucket_count(pair_capacity).next_power_of_two().max(4);
        GrowingPairs { map: BucketMap::empty(bucket_count, seed), list: Vec::with_capacity(pair_capacity) }
    }

    /// Adds a pair; of equal pairs the last wins.
    pub fn insert(&mut self, pair: Pair) -> Result<()> {
        let value = self.list.len() as u32;
        if pair.left.max(pair.right).number() >= (1 << HALF_BITS) - 1 || value >= NO_VALUE {
            return Err(Error::Spec(
                "the BPE model is too large: it can have at most two million symbols and four million pairs".into(),
            ));
        }
        self.list.push(pair);
        if min_bucket_count(self.list.len()) > self.map.buckets.len() || !self.map.insert(pair.left, pair.right, value)
        {
            self.rehash()?;
        }
        Ok(())
    }

    /// Returns the rank and the merged symbol of a pair; the rank is [`Rank::NONE`] if the pair does not merge.
    #[inline]
    pub fn get(&self, left: Symbol, right: Symbol) -> (Rank, Symbol) {
        rank_and_merged(&self.list, self.map.find(left, right))
    }

    /// Prefetches the bucket that `get` reads first.
    #[inline]
    pub fn prefetch(&self, left: Symbol, right: Symbol) {
        self.map.prefetch(left, right);
    }

    /// Returns the finished table.
    pub fn finish(mut self) -> Pairs {
        let is_direct = is_in_order(&self.list);
        if is_direct {
            let merged_number = |value: u64| self.list[value as usize].merged.number() as u64;
            let slots = self.map.buckets.iter_mut().flat_map(|bucket| &mut bucket.0);
            for slot in slots.filter(|slot| **slot != EMPTY) {
                *slot = *slot & !(NO_VALUE as u64) | merged_number(*slot & NO_VALUE as u64);
            }
        }
        let filter = PairFilter::build(self.list.iter().map(|pair| self.map.hash(key(pair.left, pair.right))));
        let BucketMap { buckets, shift, seed } = self.map;
        Pairs { map: BucketMap { buckets: buckets.into(), shift, seed }, list: self.list.into(), filter, is_direct }
    }

    /// Doubles the number of buckets until every pair has a slot.
    #[cold]
    fn rehash(&mut self) -> Result<()> {
        const MAX_DOUBLINGS: usize = 5;
        for doubling in 1..=MAX_DOUBLINGS {
            let mut map = BucketMap::empty(self.map.buckets.len() << doubling, self.map.seed);
            if (0..).zip(&self.list).all(|(value, pair)| map.insert(pair.left, pair.right, value)) {
                self.map = map;
                return Ok(());
            }
        }
        Err(Error::Spec("too many BPE pairs have similar hashes; the vocabulary cannot be used".into()))
    }
}

/// Returns the number of buckets that these pairs need.
#[inline]
fn min_bucket_count(pair_count: usize) -> usize {
    (100 * pair_count).div_ceil(BUCKET_LEN * MAX_LOAD_PERCENT)
}

/// Reports whether ranks are in the order of the merged symbols, so that the merged symbol can be used as the rank.
fn is_in_order(list: &[Pair]) -> bool {
    let mut order: Vec<(Rank, Symbol)> = list.iter().map(|pair| (pair.rank, pair.merged)).collect();
    order.sort_unstable();
    let are_in_order =
        |first: (Rank, Symbol), next: (Rank, Symbol)| first == next || (first.0 < next.0 && first.1 < next.1);
    order.windows(2).all(|pair| are_in_order(pair[0], pair[1]))
        && order.last().is_none_or(|last| last.1.number() < NO_VALUE)
}

impl Pairs {
    /// Builds the table; of equal pairs the last wins.
    pub fn build(pairs: Vec<Pair>, seed: u64) -> Result<Pairs> {
        let mut pairs_to_fill = GrowingPairs::new(pairs.len(), seed);
        pairs.into_iter().try_for_each(|pair| pairs_to_fill.insert(pair))?;
        Ok(pairs_to_fill.finish())
    }

    /// Returns the rank and the merged symbol of a pair; the rank is [`Rank::NONE`] if it does not merge.
    #[inline]
    pub fn get(&self, left: Symbol, right: Symbol) -> (Rank, Symbol) {
        self.rank_and_merged(self.value(left, right))
    }

    /// Returns the value of a pair, which [`rank_and_merged`](Self::rank_and_merged) accepts, or [`NO_VALUE`].
    #[inline]
    pub fn value(&self, left: Symbol, right: Symbol) -> u32 {
        match self.filter.may_have(self.map.hash(key(left, right))) {
            true => self.map.find(left, right),
            false => NO_VALUE,
        }
    }

    /// Prefetches the bucket that `get` reads first.
    #[inline]
    pub fn prefetch(&self, left: Symbol, right: Symbol) {
        self.map.prefetch(left, right);
    }

    /// Returns the rank and the merged symbol of a value.
    #[inline]
    pub fn rank_and_merged(&self, value: u32) -> (Rank, Symbol) {
        match self.is_direct {
            true => (if value == NO_VALUE { Rank::NONE } else { Rank(value) }, Symbol::new(value)),
            false => rank_and_merged(&self.list, value),
        }
    }

    /// Returns all pairs.
    pub fn list(&self) -> &[Pair] {
        &self.list
    }
}

#[inline]
fn rank_and_merged(list: &[Pair], value: u32) -> (Rank, Symbol) {
    list.get(value as usize).map_or((Rank::NONE, Symbol::INERT), |pair| (pair.rank, pair.merged))
}

impl<B: Deref<Target = [Bucket]>> BucketMap<B> {
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
        BucketMap { buckets: vec![Bucket([EMPTY; BUCKET_LEN]); count], shift: 64 - count.trailing_zeros(), seed }
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
        out.table("is_direct", &[self.is_direct as u32]);
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
            is_direct: part.number::<u32>("is_direct")? != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn pair(left: u32, right: u32, rank: u32, merged: u32) -> Pair {
        Pair { left: Symbol::new(left), right: Symbol::new(right), rank: Rank(rank), merged: Symbol::new(merged) }
    }

    /// Returns the rank and the merged symbol of a pair that merges.
    fn get(table: &Pairs, left: u32, right: u32) -> Option<(u32, u32)> {
        let (rank, merged) = table.get(Symbol::new(left), Symbol::new(right));
        (rank != Rank::NONE).then_some((rank.0, merged.number()))
    }

    proptest! {
        #[test]
        fn agrees_with_a_map(
            listed_pairs in prop::collection::vec((0u32..400, 0u32..400, 0u32..9, 0u32..9), 0..300), is_ordered: bool,
        ) {
            let merged_of = |rank, merged_of| if is_ordered { rank + 7 } else { merged_of };
            let map: HashMap<_, _> = listed_pairs.iter().map(|&(l, r, rank, merged_symbol)| ((l, r), (rank, merged_of(rank, merged_symbol)))).collect();
            let pairs = listed_pairs.iter().map(|&(left, right, rank, merged_symbol)| pair(left, right, rank, merged_of(rank, merged_symbol)));
            let table = Pairs::build(pairs.collect(), 5).unwrap();
            prop_assert!(table.is_direct || !is_ordered);
            for left in (0..400).step_by(3).chain([u32::MAX, 1 << HALF_BITS]) {
                for right in 0..400 {
                    let expected = map.get(&(left, right)).map(|&(rank, merged_of)| (if table.is_direct { merged_of } else { rank }, merged_of));
                    let found = get(&table, left, right);
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }

    #[test]
    fn many_pairs_make_the_table_grow() {
        let pair = |at: u32| pair(at, at / 7, at, at);
        let mut table = GrowingPairs::new(3, 1);
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
