//! Counts pairs of symbols in a hash table with open addressing: 16 bytes for a key and a count. At most half of the
//! slots are in use.

use polytok_memory as memory;

use crate::prefetch::prefetch;

/// The key of an empty slot. No pair has this key.
const EMPTY: u64 = u64::MAX;

/// Combines two symbols in one number. Numbers are ordered by the left symbol, then by the right symbol.
#[inline]
pub fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// Returns the symbols of a key.
#[inline]
pub fn symbols(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

/// The counts of pairs.
pub struct PairCounts {
    slots: Vec<(u64, i64)>,
    used_slots: usize,
    shift: u32,
}

impl PairCounts {
    /// Creates an empty table for `pairs` pairs.
    pub fn with_capacity(pairs: usize) -> PairCounts {
        let bits = (pairs * 2).next_power_of_two().trailing_zeros().max(4);
        PairCounts { slots: memory::filled((EMPTY, 0), 1 << bits), used_slots: 0, shift: 64 - bits }
    }

    #[inline]
    fn slot_index(&self, key: u64) -> usize {
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

    /// Returns the count of a pair.
    #[inline]
    pub fn get(&self, key: u64) -> i64 {
        self.slots[self.slot_index(key)].1
    }

    /// Reports whether the table has an entry for a pair, even if its count is 0.
    pub fn contains(&self, key: u64) -> bool {
        self.slots[self.slot_index(key)].0 == key
    }

    /// Adds to the count of a pair. Returns the sum.
    #[inline]
    pub fn add(&mut self, key: u64, change: i64) -> i64 {
        let at = self.slot_index(key);
        let slot = &mut self.slots[at];
        slot.1 += change;
        let sum = slot.1;
        if slot.0 == EMPTY {
            slot.0 = key;
            self.used_slots += 1;
            if self.used_slots * 2 > self.slots.len() {
                self.grow();
            }
        }
        sum
    }

    /// Subtracts from the count of a pair, if the table has the pair.
    #[inline]
    pub fn subtract(&mut self, key: u64, lost: i64) {
        let at = self.slot_index(key);
        if self.slots[at].0 == key {
            self.slots[at].1 -= lost;
        }
    }

    /// Returns the number of bytes of memory.
    pub fn memory(&self) -> usize {
        self.slots.len() * size_of::<(u64, i64)>()
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger_table = PairCounts::with_capacity(self.slots.len());
        for &(key, count) in self.slots.iter().filter(|slot| slot.0 != EMPTY) {
            let at = larger_table.slot_index(key);
            larger_table.slots[at] = (key, count);
        }
        larger_table.used_slots = self.used_slots;
        *self = larger_table;
    }
}

/// Hashes a key. Combines both halves of the product, so that every bit of the key affects the high bits.
#[inline]
pub fn hash(key: u64) -> u64 {
    let product = u128::from(key ^ 0xF39C_C060_5CED_C835) * 0x9E37_79B9_7F4A_7C15;
    (product >> 64) as u64 ^ product as u64
}

/// The maximum number of symbols for which pairs are numbered in an array instead of a hash table.
const MAX_ARRAY_SYMBOLS: usize = 1024;

/// Assigns numbers to the distinct pairs, in the order of first occurrence.
pub enum PairIndex {
    /// An array that holds, at the index left × symbols + right, the number of the pair plus one.
    Array(usize, Vec<u32>),
    /// A hash table that holds the number of each pair plus one.
    Hashed(PairCounts),
}

impl PairIndex {
    /// Creates an index of pairs whose symbols are below `symbols`.
    pub fn new(symbols: usize) -> PairIndex {
        match symbols {
            0..=MAX_ARRAY_SYMBOLS => PairIndex::Array(symbols, memory::zeroed(symbols * symbols)),
            _ => PairIndex::Hashed(PairCounts::with_capacity(1 << 16)),
        }
    }

    /// Returns the number of a pair. A new pair gets the number `next`.
    #[inline]
    pub fn number_of(&mut self, left: u32, right: u32, next: u32) -> u32 {
        match self {
            PairIndex::Array(symbols, numbers) => {
                let number = &mut numbers[left as usize * *symbols + right as usize];
                if *number == 0 {
                    *number = next + 1;
                }
                *number - 1
            }
            PairIndex::Hashed(numbers) => match numbers.get(key(left, right)) {
                0 => {
                    numbers.add(key(left, right), i64::from(next) + 1);
                    next
                }
                number => number as u32 - 1,
            },
        }
    }
}
