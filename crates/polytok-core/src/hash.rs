//! A flat hash table that maps keys, which it does not store, to the indexes of entries. It is used for lookups by
//! bytes and by pairs, and can be stored in a file.
//!
//! The table uses open addressing over slots of four bytes, with a load of at most one half. A slot holds the index of
//! an entry in another array. The remaining bits of the slot hold a part of the hash, so that most failed lookups read
//! no other memory. Keys are hashed with a seed that is itself a hash of all keys, so that nobody can prepare a file
//! whose keys collide. The same keys always yield the same table. A lookup reads at most `MAX_PROBES` slots, so that no
//! table, not even a forged one, makes lookups slow.

use polytok_memory as memory;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Error, Result};
use crate::native::{FilePart, PartWriter, Stored};
use crate::table::Table;

/// The value of a slot without an entry. No index has this value, because no index has all bits set.
const EMPTY: u32 = u32::MAX;

/// The largest number of slots that a lookup reads. In a table of a million keys that is half full, the worst key needs
/// about 70 slots. If a key needs more slots than this limit, the number of slots is doubled.
const MAX_PROBES: usize = 128;

/// The largest number of times that `build` doubles the number of slots.
const MAX_DOUBLINGS: u32 = 4;

/// A hash table from keys to the indexes of entries.
#[derive(Debug)]
pub struct Slots {
    slots: Table<u32>,
    /// The number of hash bits below those that select the first slot.
    shift: u32,
    /// The number of bits of a slot that hold the index.
    index_bits: u32,
}

impl Slots {
    /// Builds a table that finds these indexes, which are below `index_limit`, by their hashes. If `is_same(earlier,
    /// index)` is true, two entries have the same key: then the table keeps the later index if `last_wins`, else the
    /// earlier index.
    pub fn build(
        indexes: impl Iterator<Item = u32> + Clone,
        index_limit: usize,
        hash: impl Fn(u32) -> u64,
        last_wins: bool,
        is_same: impl Fn(u32, u32) -> bool,
    ) -> Result<Slots> {
        let index_bits = (index_limit + 1).next_power_of_two().trailing_zeros().max(1);
        if index_bits > 31 {
            return Err(Error::Spec(format!("{index_limit} entries are too many")));
        }
        let first_slot_bits = (indexes.clone().count() * 2).next_power_of_two().trailing_zeros().max(4);
        for slot_bits in first_slot_bits..=first_slot_bits + MAX_DOUBLINGS {
            if let Some(slots) = fill_slots(indexes.clone(), slot_bits, index_bits, &hash, last_wins, &is_same) {
                return Ok(Slots { slots: slots.into(), shift: 64 - slot_bits, index_bits });
            }
        }
        Err(Error::Spec("too many keys of a hash table have similar hashes; the vocabulary cannot be used".into()))
    }

    /// Returns the number of keys.
    pub fn count(&self) -> usize {
        self.slots.iter().filter(|&&slot| slot != EMPTY).count()
    }

    /// Returns the index that has this hash and that `is_match` accepts.
    #[inline]
    pub fn find(&self, hash: u64, mut is_match: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut at = (hash >> self.shift) as usize;
        for _ in 0..MAX_PROBES {
            let slot = *self.slots.get(at)?;
            if slot == EMPTY {
                return None;
            }
            if slot >> self.index_bits == tag(hash, self.index_bits) && is_match(slot & index_mask(self.index_bits)) {
                return Some(slot & index_mask(self.index_bits));
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        None
    }
}

/// Returns slots that contain all indexes, or `None` if an index needs too many probes.
fn fill_slots(
    indexes: impl Iterator<Item = u32>,
    slot_bits: u32,
    index_bits: u32,
    hash: impl Fn(u32) -> u64,
    last_wins: bool,
    is_same: impl Fn(u32, u32) -> bool,
) -> Option<Vec<u32>> {
    let mut slots = memory::filled(EMPTY, 1 << slot_bits);
    for index in indexes {
        let hash = hash(index);
        let tag = tag(hash, index_bits);
        let mut at = (hash >> (64 - slot_bits)) as usize;
        for probe in 0.. {
            if probe == MAX_PROBES {
                return None;
            }
            let slot = slots[at];
            let is_taken = slot != EMPTY;
            let is_same_key = is_taken && slot >> index_bits == tag && is_same(slot & index_mask(index_bits), index);
            if !is_taken || (is_same_key && last_wins) {
                slots[at] = tag << index_bits | index;
            }
            if !is_taken || is_same_key {
                break;
            }
            at = (at + 1) & (slots.len() - 1);
        }
    }
    Some(slots)
}

#[inline]
fn index_mask(index_bits: u32) -> u32 {
    (1 << index_bits) - 1
}

/// Returns the low bits of the hash. The high bits of the hash, which are not returned, select the first slot.
#[inline]
fn tag(hash: u64, index_bits: u32) -> u32 {
    hash as u32 & (u32::MAX >> index_bits)
}

impl Stored for Slots {
    fn write(&self, out: &mut PartWriter) {
        out.table("slots", &self.slots);
        out.table("place_bits", &[self.index_bits]);
    }

    fn read(part: &FilePart) -> Result<Slots> {
        let slots: Table<u32> = part.table("slots")?;
        let index_bits = part.number("place_bits")?;
        if !slots.len().is_power_of_two() || slots.len() < 2 || !(1..32).contains(&index_bits) {
            return Err(part.section_error("slots", "are not a hash table"));
        }
        let shift = 64 - slots.len().trailing_zeros();
        Ok(Slots { slots, shift, index_bits })
    }
}

/// Returns the hash of some bytes.
#[inline]
pub fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(bytes, seed)
}

/// Returns the hash of a number: multiplies it by a secret and folds the product.
#[inline]
pub fn hash_number(key: u64, seed: u64) -> u64 {
    let product = ((key ^ seed) as u128) * ((0x9E37_79B9_7F4A_7C15 ^ seed.rotate_left(32)) | 1) as u128;
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slots(keys: &[u64], last_wins: bool) -> Slots {
        let hash = |index: u32| hash_number(keys[index as usize], 7);
        let is_same = |a: u32, b: u32| keys[a as usize] == keys[b as usize];
        Slots::build(0..keys.len() as u32, keys.len(), hash, last_wins, is_same).unwrap()
    }

    proptest! {
        #[test]
        fn every_key_is_found(keys in prop::collection::vec(0u64..300, 0..300)) {
            for last_wins in [false, true] {
                let slots = slots(&keys, last_wins);
                for key in 0..320 {
                    let found = slots.find(hash_number(key, 7), |index| keys[index as usize] == key);
                    let is_key = |&other: &u64| other == key;
                    let index = if last_wins { keys.iter().rposition(is_key) } else { keys.iter().position(is_key) };
                    prop_assert_eq!(found.map(|index| index as usize), index);
                }
            }
        }
    }

    #[test]
    fn keys_that_collide_are_an_error() {
        assert!(Slots::build(0..5000, 5000, |_| 1, false, |_, _| false).is_err());
    }

    #[test]
    fn a_lookup_ends_in_a_table_without_an_empty_slot() {
        let slots = Slots { slots: vec![0; 4096].into(), shift: 52, index_bits: 4 };
        assert_eq!(slots.find(0, |_| false), None);
    }
}
