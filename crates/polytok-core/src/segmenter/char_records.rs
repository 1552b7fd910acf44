//! The records of characters: whether a character can join its neighbours, and the ids of the part of a piece that
//! consists of the character alone. Most parts of Chinese and Japanese pieces are single characters, and reading a
//! record is faster than a cache lookup.
//!
//! A record is a number of 64 bits:
//!
//! ```text
//! bit   63        56 55          54 53     36 35     18 17      0
//!       | flags     | number of ids | id 2   | id 1    | id 0    |
//! ```
//!
//! The flags are those of `Boundary::for_each_part`. The lower 56 bits are 0 if the ids are not yet known, and 1 if they
//! do not fit. Records are written when their characters are first encoded, by any thread; all threads write the same
//! record. Only characters of three bytes have ids. The memory of all records is zero at first, so the system provides
//! only the pages whose characters occur in texts.

use std::sync::atomic::{AtomicU64, Ordering};

use polytok_memory::zeroed_box;

use crate::boundary::Boundary;
use crate::token_id::TokenId;

const FLAG_BITS: u32 = 8;
const ID_BITS: u32 = 18;
const MAX_IDS: usize = 3;
const COUNT_SHIFT: u32 = MAX_IDS as u32 * ID_BITS;
const ID_MASK: u64 = (1 << ID_BITS) - 1;

/// The number of code points of the basic plane, which contains all characters of three bytes.
const RECORDS: usize = 0x1_0000;

/// The records of the characters of the basic plane.
pub(crate) struct CharRecords(Box<[AtomicU64; RECORDS]>);

/// The record of a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CharRecord(pub u64);

impl CharRecord {
    /// The record of a character without flags, whose ids are known not to be in the record.
    pub const WITHOUT_IDS: CharRecord = CharRecord(1);

    /// Returns the record without its flags.
    #[inline]
    pub fn without_flags(self) -> CharRecord {
        CharRecord(self.0 << FLAG_BITS >> FLAG_BITS)
    }

    /// Returns the number of ids of a record without flags.
    #[inline]
    pub fn id_count(self) -> usize {
        (self.0 >> COUNT_SHIFT) as usize
    }

    /// Writes the ids of a record without flags, and possibly other numbers after the last id. Returns the number of
    /// ids.
    #[inline]
    pub fn write_ids(self, ids: &mut [TokenId; 4]) -> usize {
        let id = |at: u32| TokenId((self.0 >> (ID_BITS * at) & ID_MASK) as u32);
        *ids = [id(0), id(1), id(2), TokenId(0)];
        self.id_count()
    }

    /// Returns the record with these ids, or `WITHOUT_IDS` if the list is empty or the ids do not fit.
    fn with_ids(self, ids: &[TokenId]) -> CharRecord {
        let fits = ids.len() <= MAX_IDS && ids.iter().all(|id| id.0 as u64 <= ID_MASK);
        let lower_bits = match ids {
            [_, ..] if fits => {
                ids.iter().rev().fold(0, |bits, id| bits << ID_BITS | id.0 as u64) | (ids.len() as u64) << COUNT_SHIFT
            }
            _ => CharRecord::WITHOUT_IDS.0,
        };
        CharRecord(self.0 | lower_bits)
    }
}

impl CharRecords {
    /// Returns records without ids.
    pub fn new() -> CharRecords {
        CharRecords(zeroed_box())
    }

    /// Returns the record of a code point.
    #[inline]
    pub fn get(&self, code_point: usize, boundary: &Boundary) -> u64 {
        match self.0.get(code_point).map_or(0, |record| record.load(Ordering::Relaxed)) {
            0 => boundary.record_of(code_point),
            record => record,
        }
    }

    /// Adds the ids of a character to its record, and returns the new record. An empty list means that the ids cannot
    /// be in a record.
    pub fn insert(&self, code_point: usize, record: CharRecord, ids: &[TokenId]) -> CharRecord {
        let record = record.with_ids(ids);
        if let Some(slot) = self.0.get(code_point) {
            slot.store(record.0, Ordering::Relaxed);
        }
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_have_the_ids_that_fit(numbers in prop::collection::vec(0u32..1 << 19, 0..5), flags in 0u64..256) {
            let ids: Vec<TokenId> = numbers.iter().map(|&number| TokenId(number)).collect();
            let record = CharRecords::new().insert(0x4E16, CharRecord(flags << 56), &ids);
            let mut slots = [TokenId(0); 4];
            let count = record.without_flags().write_ids(&mut slots);
            let fits = numbers.len() <= MAX_IDS && numbers.iter().all(|&number| number < 1 << ID_BITS);
            prop_assert_eq!(&slots[..count], if fits { &ids[..] } else { &[] });
            prop_assert_eq!(record.0 >> 56, flags);
            prop_assert!(record.without_flags() != CharRecord::default());
        }
    }
}
