//! (left symbol, right symbol) → (rank, merged symbol): the table every BPE merge looks into.
//!
//! Most lookups find nothing, so they shall end early: see `hash`. Pairs of the first 256 symbols, which byte-level vocabularies
//! start from, have a table of their own. A rank is a priority, low first; it is not an id.

use bytemuck::{Pod, Zeroable};

use crate::error::Result;
use crate::hash::{Slots, hash_bytes, hash_number};
use crate::native::{Part, PartWriter, Stored};
use crate::table::Table;

/// The rank of a pair that does not merge.
pub const NO_RANK: u32 = u32::MAX;

/// Symbols below this have a dense table.
const DENSE: u32 = 256;

/// A pair that merges.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
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
    /// Places of the pairs of small symbols.
    dense: Table<u32>,
    slots: Slots,
    pairs: Table<Pair>,
    seed: u64,
}

impl Pairs {
    /// Builds the table; of equal pairs the last wins.
    pub fn build(pairs: Vec<Pair>) -> Result<Pairs> {
        let seed = hash_bytes(bytemuck::cast_slice(&pairs), pairs.len() as u64);
        let mut dense = vec![u32::MAX; (DENSE * DENSE) as usize];
        for (place, pair) in (0..).zip(&pairs).filter(|(_, pair)| is_dense(pair.left, pair.right)) {
            dense[(pair.left * DENSE + pair.right) as usize] = place;
        }
        let pair = |place: u32| &pairs[place as usize];
        let places = (0..pairs.len() as u32).filter(|&place| !is_dense(pair(place).left, pair(place).right));
        let hash = |place| hash_number(key(pair(place).left, pair(place).right), seed);
        let is_same = |one, other| (pair(one).left, pair(one).right) == (pair(other).left, pair(other).right);
        let slots = Slots::build(places, pairs.len(), hash, true, is_same)?;
        Ok(Pairs { dense: dense.into(), slots, pairs: pairs.into(), seed })
    }

    /// The rank and the merged symbol of a pair; the rank is [`NO_RANK`] if it does not merge.
    #[inline]
    pub fn get(&self, left: u32, right: u32) -> (u32, u32) {
        let place = if is_dense(left, right) {
            self.dense.get((left * DENSE + right) as usize).copied()
        } else {
            self.slots.find(hash_number(key(left, right), self.seed), |place| {
                self.pairs.get(place as usize).is_some_and(|pair| pair.left == left && pair.right == right)
            })
        };
        let pair = place.and_then(|place| self.pairs.get(place as usize));
        pair.map_or((NO_RANK, 0), |pair| (pair.rank, pair.merged))
    }

    /// All pairs.
    pub fn list(&self) -> &[Pair] {
        &self.pairs
    }
}

impl Stored for Pairs {
    fn write(&self, out: &mut PartWriter) {
        out.table("dense", &self.dense);
        out.table("list", &self.pairs);
        out.table("seed", &[self.seed]);
        self.slots.write(out);
    }

    /// Places are checked where they are followed; what a pair becomes is for its user to check.
    fn read(part: &Part) -> Result<Pairs> {
        Ok(Pairs {
            dense: part.table("dense")?,
            slots: Slots::read(part)?,
            pairs: part.table("list")?,
            seed: part.number("seed")?,
        })
    }
}

#[inline]
fn is_dense(left: u32, right: u32) -> bool {
    left < DENSE && right < DENSE
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    (left as u64) << 32 | right as u64
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
            let table = Pairs::build(listed.iter().map(pair).collect()).unwrap();
            for left in (0..400).step_by(3).chain([u32::MAX]) {
                for right in 0..400 {
                    let expect = map.get(&(left, right)).copied().unwrap_or((NO_RANK, 0));
                    prop_assert_eq!(table.get(left, right), expect);
                }
            }
        }
    }
}
