//! A flat hash table from hidden keys to places: what lookups by bytes and by pairs share, and what a file can hold.
//!
//! Open addressing over four-byte slots, at a load of at most one half. A slot holds the place of an entry in some other
//! array, and with the bits that are left a part of the hash, so that most lookups that fail touch nothing else. Keys are hashed
//! under a seed that is itself a hash of all of them, so that no file can be made of keys that collide; the same keys always give
//! the same table. A lookup looks at no more than `MOST_PROBES` slots, so that no table, however it was forged, can be slow.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Error, Result};
use crate::native::{FilePart, PartWriter, Stored};
use crate::table::Table;

/// A slot without an entry; no place has all its bits set.
const EMPTY: u32 = u32::MAX;

/// Slots that a lookup looks at. At a load of one half a million keys need about 70; if some need more, the table is doubled.
const MOST_PROBES: usize = 128;

/// How often building tries twice as many slots.
const MOST_DOUBLINGS: u32 = 4;

/// The table.
#[derive(Debug)]
pub struct Slots {
    slots: Table<u32>,
    /// Bits of the hash that are not the first slot.
    shift: u32,
    /// Bits of a slot that are the place.
    place_bits: u32,
}

impl Slots {
    /// Inserts these places, which are below `limit`, under their hashes. Where `is_same(earlier, place)` says that two have
    /// one key, the earlier stays unless `last_wins`.
    pub fn build(
        places: impl Iterator<Item = u32> + Clone,
        limit: usize,
        hash: impl Fn(u32) -> u64,
        last_wins: bool,
        is_same: impl Fn(u32, u32) -> bool,
    ) -> Result<Slots> {
        let place_bits = (limit + 1).next_power_of_two().trailing_zeros().max(1);
        if place_bits > 31 {
            return Err(Error::Spec(format!("{limit} entries are too many")));
        }
        let first = (places.clone().count() * 2).next_power_of_two().trailing_zeros().max(4);
        for bits in first..=first + MOST_DOUBLINGS {
            if let Some(slots) = fill(places.clone(), bits, place_bits, &hash, last_wins, &is_same) {
                return Ok(Slots { slots: slots.into(), shift: 64 - bits, place_bits });
            }
        }
        Err(Error::Spec("the keys of a table collide".into()))
    }

    /// The place for which `is_it` holds, of those under this hash.
    #[inline]
    pub fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut at = (hash >> self.shift) as usize;
        for _ in 0..MOST_PROBES {
            let slot = *self.slots.get(at)?;
            if slot == EMPTY {
                return None;
            }
            if slot >> self.place_bits == tag(hash, self.place_bits) && is_it(slot & mask(self.place_bits)) {
                return Some(slot & mask(self.place_bits));
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        None
    }
}

/// The slots with all places in them, unless one needs too many probes.
fn fill(
    places: impl Iterator<Item = u32>,
    bits: u32,
    place_bits: u32,
    hash: impl Fn(u32) -> u64,
    last_wins: bool,
    is_same: impl Fn(u32, u32) -> bool,
) -> Option<Vec<u32>> {
    let mut slots = vec![EMPTY; 1 << bits];
    for place in places {
        let hash = hash(place);
        let tag = tag(hash, place_bits);
        let mut at = (hash >> (64 - bits)) as usize;
        for probe in 0.. {
            if probe == MOST_PROBES {
                return None;
            }
            let slot = slots[at];
            let is_taken = slot != EMPTY;
            let is_known = is_taken && slot >> place_bits == tag && is_same(slot & mask(place_bits), place);
            if !is_taken || (is_known && last_wins) {
                slots[at] = tag << place_bits | place;
            }
            if !is_taken || is_known {
                break;
            }
            at = (at + 1) & (slots.len() - 1);
        }
    }
    Some(slots)
}

#[inline]
fn mask(place_bits: u32) -> u32 {
    (1 << place_bits) - 1
}

/// The low bits of the hash: the high ones are the first slot.
#[inline]
fn tag(hash: u64, place_bits: u32) -> u32 {
    hash as u32 & (u32::MAX >> place_bits)
}

impl Stored for Slots {
    fn write(&self, out: &mut PartWriter) {
        out.table("slots", &self.slots);
        out.table("place_bits", &[self.place_bits]);
    }

    fn read(part: &FilePart) -> Result<Slots> {
        let slots: Table<u32> = part.table("slots")?;
        let place_bits = part.number("place_bits")?;
        if !slots.len().is_power_of_two() || slots.len() < 2 || !(1..32).contains(&place_bits) {
            return Err(part.wrong("slots", "are not a table's"));
        }
        let shift = 64 - slots.len().trailing_zeros();
        Ok(Slots { slots, shift, place_bits })
    }
}

/// The hash of some bytes.
#[inline]
pub fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(bytes, seed)
}

/// The hash of a number: multiply by a secret and fold.
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
        let hash = |place: u32| hash_number(keys[place as usize], 7);
        let is_same = |a: u32, b: u32| keys[a as usize] == keys[b as usize];
        Slots::build(0..keys.len() as u32, keys.len(), hash, last_wins, is_same).unwrap()
    }

    proptest! {
        #[test]
        fn every_key_is_found(keys in prop::collection::vec(0u64..300, 0..300)) {
            for last_wins in [false, true] {
                let slots = slots(&keys, last_wins);
                for key in 0..320 {
                    let found = slots.find(hash_number(key, 7), |place| keys[place as usize] == key);
                    let is_key = |&other: &u64| other == key;
                    let place = if last_wins { keys.iter().rposition(is_key) } else { keys.iter().position(is_key) };
                    prop_assert_eq!(found.map(|place| place as usize), place);
                }
            }
        }
    }

    #[test]
    fn keys_that_collide_are_an_error_and_not_slow() {
        assert!(Slots::build(0..5000, 5000, |_| 1, false, |_, _| false).is_err());
    }

    #[test]
    fn a_table_without_an_empty_slot_ends_the_search() {
        let slots = Slots { slots: vec![0; 4096].into(), shift: 52, place_bits: 4 };
        assert_eq!(slots.find(0, |_| false), None);
    }
}
