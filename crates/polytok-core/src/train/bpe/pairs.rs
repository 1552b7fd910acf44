//! The counts of pairs of symbols, in a hash table with open addressing: 16 bytes for a key and a count, a load of at
//! most one half.

use crate::prefetch::prefetch;

/// The key of an empty slot: no pair has all its bits set.
const EMPTY: u64 = u64::MAX;

/// Two symbols as one number, ordered by the left symbol first.
#[inline]
pub fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The symbols of a key.
#[inline]
pub fn symbols(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

/// The counts.
pub struct PairCounts {
    slots: Vec<(u64, i64)>,
    taken: usize,
    shift: u32,
}

impl PairCounts {
    /// An empty table for `pairs` pairs.
    pub fn with_capacity(pairs: usize) -> PairCounts {
        let bits = (pairs * 2).next_power_of_two().trailing_zeros().max(4);
        PairCounts { slots: vec![(EMPTY, 0); 1 << bits], taken: 0, shift: 64 - bits }
    }

    #[inline]
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (hash(key) >> self.shift) as usize;
        while self.slots[at].0 != key && self.slots[at].0 != EMPTY {
            at = (at + 1) & mask;
        }
        at
    }

    /// Prefetches the count of a pair.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        prefetch(&self.slots, (hash(key) >> self.shift) as usize);
    }

    /// The count of a pair.
    #[inline]
    pub fn get(&self, key: u64) -> i64 {
        self.slots[self.slot(key)].1
    }

    /// Whether the table has a pair, whatever its count.
    pub fn contains(&self, key: u64) -> bool {
        self.slots[self.slot(key)].0 == key
    }

    /// Adds to the count of a pair and returns the sum.
    #[inline]
    pub fn add(&mut self, key: u64, change: i64) -> i64 {
        let at = self.slot(key);
        let slot = &mut self.slots[at];
        slot.1 += change;
        let sum = slot.1;
        if slot.0 == EMPTY {
            slot.0 = key;
            self.taken += 1;
            if self.taken * 2 > self.slots.len() {
                self.grow();
            }
        }
        sum
    }

    /// Subtracts from the count of a pair, if the table has it.
    #[inline]
    pub fn lose(&mut self, key: u64, lost: i64) {
        let at = self.slot(key);
        if self.slots[at].0 == key {
            self.slots[at].1 -= lost;
        }
    }

    /// Bytes of memory taken.
    pub fn memory(&self) -> usize {
        self.slots.len() * size_of::<(u64, i64)>()
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = PairCounts::with_capacity(self.slots.len());
        for &(key, count) in self.slots.iter().filter(|slot| slot.0 != EMPTY) {
            let at = larger.slot(key);
            larger.slots[at] = (key, count);
        }
        larger.taken = self.taken;
        *self = larger;
    }
}

/// Combines both halves of the product, so that every bit of the key reaches the high bits.
#[inline]
pub fn hash(key: u64) -> u64 {
    let wide = u128::from(key ^ 0xF39C_C060_5CED_C835) * 0x9E37_79B9_7F4A_7C15;
    (wide >> 64) as u64 ^ wide as u64
}

/// The most symbols whose pairs have a plain table.
const FEW: usize = 1024;

/// Numbers distinct pairs by their first occurrence.
pub enum PairIndex {
    /// The number plus one, at the index left × symbols + right.
    Few(usize, Vec<u32>),
    /// The number plus one.
    Many(PairCounts),
}

impl PairIndex {
    /// For symbols below `symbols`.
    pub fn new(symbols: usize) -> PairIndex {
        match symbols {
            0..=FEW => PairIndex::Few(symbols, vec![0; symbols * symbols]),
            _ => PairIndex::Many(PairCounts::with_capacity(1 << 16)),
        }
    }

    /// The number of a pair; `next` if it is new.
    #[inline]
    pub fn of(&mut self, left: u32, right: u32, next: u32) -> u32 {
        match self {
            PairIndex::Few(symbols, numbers) => {
                let number = &mut numbers[left as usize * *symbols + right as usize];
                if *number == 0 {
                    *number = next + 1;
                }
                *number - 1
            }
            PairIndex::Many(numbers) => match numbers.get(key(left, right)) {
                0 => {
                    numbers.add(key(left, right), i64::from(next) + 1);
                    next
                }
                number => number as u32 - 1,
            },
        }
    }
}
