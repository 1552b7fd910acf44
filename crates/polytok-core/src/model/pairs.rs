//! (left symbol, right symbol) → (rank, merged symbol): the table every BPE merge looks into.
//!
//! Most lookups find nothing, so the table is small where they end: open addressing over eight-byte slots that hold a part
//! of the hash and the place of the entry, at a load of at most one half. Pairs of the first 256 symbols, which byte-level
//! vocabularies start from, have a table of their own. The hash is seeded at random, so that no file can be made of pairs
//! that collide. A rank is a priority, low first; it is not an id.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

/// The rank of a pair that does not merge.
pub const NO_RANK: u32 = u32::MAX;

/// Symbols below this have a dense table.
const DENSE: u32 = 256;

/// A slot without an entry.
const EMPTY: u64 = u64::MAX;

/// A pair that merges.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The left symbol.
    pub left: u32,
    /// The right symbol.
    pub right: u32,
    /// The priority, low first.
    pub rank: u32,
    /// What it becomes.
    pub merged: u32,
}

/// An immutable table of mergeable pairs.
#[derive(Debug)]
pub struct Pairs {
    dense: Vec<u32>,
    slots: Vec<u64>,
    pairs: Vec<Pair>,
    shift: u32,
    seed: u64,
}

impl Pairs {
    /// Builds the table; of equal pairs the last wins.
    pub fn build(pairs: Vec<Pair>) -> Pairs {
        let bits = (pairs.len() * 2).next_power_of_two().trailing_zeros().max(4);
        let seed = DefaultHashBuilder::default().hash_one(bits) | 1;
        let dense = vec![u32::MAX; (DENSE * DENSE) as usize];
        let mut table = Pairs { dense, slots: vec![EMPTY; 1 << bits], pairs, shift: 64 - bits, seed };
        for place in 0..table.pairs.len() {
            let Pair { left, right, .. } = table.pairs[place];
            if left < DENSE && right < DENSE {
                table.dense[(left * DENSE + right) as usize] = place as u32;
            } else {
                table.insert(left, right, place as u32);
            }
        }
        table
    }

    fn insert(&mut self, left: u32, right: u32, place: u32) {
        let hash = self.hash(left, right);
        let mut at = (hash >> self.shift) as usize;
        while self.slots[at] != EMPTY && !self.is_pair(self.slots[at], left, right) {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = hash << 32 | place as u64;
    }

    /// The rank and the merged symbol of a pair; the rank is [`NO_RANK`] if it does not merge.
    #[inline]
    pub fn get(&self, left: u32, right: u32) -> (u32, u32) {
        let place = if left < DENSE && right < DENSE {
            self.dense[(left * DENSE + right) as usize]
        } else {
            self.find(left, right)
        };
        self.pairs.get(place as usize).map_or((NO_RANK, 0), |pair| (pair.rank, pair.merged))
    }

    #[inline]
    fn find(&self, left: u32, right: u32) -> u32 {
        let hash = self.hash(left, right);
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return u32::MAX;
            }
            if (slot >> 32) as u32 == hash as u32 && self.is_pair(slot, left, right) {
                return slot as u32;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    #[inline]
    fn is_pair(&self, slot: u64, left: u32, right: u32) -> bool {
        let pair = &self.pairs[slot as u32 as usize];
        pair.left == left && pair.right == right
    }

    /// Every symbol that is a half of some pair.
    pub fn symbols(&self) -> impl Iterator<Item = u32> {
        self.pairs.iter().flat_map(|pair| [pair.left, pair.right])
    }

    /// Multiply and fold with a secret: the high bits are the place, the low ones tell pairs apart.
    #[inline]
    fn hash(&self, left: u32, right: u32) -> u64 {
        let key = (left as u64) << 32 | right as u64;
        let product = ((key ^ self.seed) as u128) * (0x9E37_79B9_7F4A_7C15 ^ self.seed.rotate_left(32)) as u128;
        (product as u64) ^ (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn agrees_with_a_map(listed in prop::collection::vec((0u32..400, 0u32..400, 0u32..9, 0u32..9), 0..300)) {
            let map: HashMap<_, _> = listed.iter().map(|&(l, r, rank, merged)| ((l, r), (rank, merged))).collect();
            let pair = |&(left, right, rank, merged): &_| Pair { left, right, rank, merged };
            let table = Pairs::build(listed.iter().map(pair).collect());
            for left in (0..400).step_by(3).chain([u32::MAX]) {
                for right in 0..400 {
                    let expect = map.get(&(left, right)).copied().unwrap_or((NO_RANK, 0));
                    prop_assert_eq!(table.get(left, right), expect);
                }
            }
        }
    }
}
