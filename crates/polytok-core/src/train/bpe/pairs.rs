//! How often each pair of symbols occurs: open addressing, a key and a count in 16 bytes, at a load of one half at most.

use crate::prefetch::prefetch;

/// A slot without a pair: no pair has all its bits set.
const EMPTY: u64 = u64::MAX;

/// Two symbols as one number, which orders them by the left one first.
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
    /// Room for so many pairs.
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

    /// Asks for the memory of a pair's count.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        prefetch(&self.slots, (hash(key) >> self.shift) as usize);
    }

    /// The count of a pair.
    #[inline]
    pub fn get(&self, key: u64) -> i64 {
        self.slots[self.slot(key)].1
    }

    /// Whether a pair was counted, whatever its count is now.
    pub fn contains(&self, key: u64) -> bool {
        self.slots[self.slot(key)].0 == key
    }

    /// Adds to the count of a pair and tells the sum.
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

    /// Takes from the count of a pair, if it was counted.
    #[inline]
    pub fn lose(&mut self, key: u64, lost: i64) {
        let at = self.slot(key);
        if self.slots[at].0 == key {
            self.slots[at].1 -= lost;
        }
    }

    /// Bytes taken.
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

/// Both halves of the product, so that every bit of the key reaches the high bits.
#[inline]
pub fn hash(key: u64) -> u64 {
    let wide = u128::from(key ^ 0xF39C_C060_5CED_C835) * 0x9E37_79B9_7F4A_7C15;
    (wide >> 64) as u64 ^ wide as u64
}

/// Most symbols whose pairs are looked up by a plain table.
const FEW: usize = 1024;

/// Numbers distinct pairs, in the order in which they come.
pub enum PairIndex {
    /// By left times the number of symbols plus right; one more than the number.
    Few(usize, Vec<u32>),
    /// One more than the number.
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
