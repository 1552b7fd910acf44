//! (left symbol, right symbol) → (rank, merged symbol): the table every BPE merge looks into.
//!
//! Open addressing with linear probing at a load of at most one half; keys and values side by side, so that a lookup
//! touches one cache line. The hash is seeded at random, so that no file can be made of pairs that collide. A rank is a
//! priority, low first; it is not an id.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

/// The rank of a pair that does not merge.
pub const NO_RANK: u32 = u32::MAX;

/// No pair: both halves are the symbol that never merges.
const EMPTY: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u64,
    rank: u32,
    merged: u32,
}

/// An immutable table of mergeable pairs.
#[derive(Debug)]
pub struct Pairs {
    slots: Vec<Slot>,
    shift: u32,
    seed: u64,
}

impl Pairs {
    /// Builds the table of `(left, right, rank, merged)`; of equal pairs the last wins.
    pub fn build(entries: &[(u32, u32, u32, u32)]) -> Pairs {
        let bits = (entries.len() * 2).next_power_of_two().trailing_zeros().max(4);
        let seed = DefaultHashBuilder::default().hash_one(bits) | 1;
        let free = Slot { key: EMPTY, rank: NO_RANK, merged: 0 };
        let mut pairs = Pairs { slots: vec![free; 1 << bits], shift: 64 - bits, seed };
        for &(left, right, rank, merged) in entries {
            let key = key(left, right);
            let mut at = pairs.home(key);
            while pairs.slots[at].key != EMPTY && pairs.slots[at].key != key {
                at = (at + 1) & (pairs.slots.len() - 1);
            }
            pairs.slots[at] = Slot { key, rank, merged };
        }
        pairs
    }

    /// The rank and the merged symbol of a pair; the rank is [`NO_RANK`] if it does not merge.
    #[inline]
    pub fn get(&self, left: u32, right: u32) -> (u32, u32) {
        let key = key(left, right);
        let mut at = self.home(key);
        loop {
            let slot = &self.slots[at];
            if slot.key == key || slot.key == EMPTY {
                return (slot.rank, slot.merged);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Every symbol that is a half of some pair.
    pub fn symbols(&self) -> impl Iterator<Item = u32> {
        let taken = self.slots.iter().filter(|slot| slot.key != EMPTY);
        taken.flat_map(|slot| [(slot.key >> 32) as u32, slot.key as u32])
    }

    #[inline]
    fn home(&self, key: u64) -> usize {
        // Multiply and fold with a secret; the high bits are the good ones.
        let product = ((key ^ self.seed) as u128) * (self.seed as u128);
        (((product as u64) ^ (product >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    (left as u64) << 32 | right as u64
}
