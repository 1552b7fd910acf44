//! Stores the counted words in memory. Short words are stored in the slots of a hash table. The bytes of long words are
//! stored in one buffer.
//!
//! A short word has 1 to 15 bytes. Its slot of 32 bytes holds the word and its count, so that the usual lookup touches
//! one cache line. Each table has its own hash seeds, so an attacker cannot prepare a text whose words collide. The
//! order of words never depends on the seeds, because words are sorted before they are removed from the table.

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use polytok_memory::{self as memory, Grow};

use super::CountVisitor;
use super::entry::{EntryVisitor, Order, WordEntry};
use crate::cache::{MAX_KEY_BYTES, PieceKey};
use crate::error::{Error, Result};
use crate::hash::hash_bytes;
use crate::huge;
use crate::prefetch::prefetch;

/// The minimum number of slots of a table that contains short words.
const MIN_SLOTS: usize = 1 << 10;

/// A short word. A slot whose key is 0 is free.
#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
struct ShortWord {
    key: PieceKey,
    count: u64,
    ordinal: u64,
}

/// A long word: the range of its bytes, and its entry.
struct LongWord {
    start: usize,
    end: usize,
    count: u64,
    ordinal: u64,
}

pub(super) struct WordTable {
    seeds: (u64, u64),
    /// The slots of short words. The number of slots is a power of two, or 0.
    slots: Vec<ShortWord>,
    short_count: usize,
    long_words: Vec<LongWord>,
    long_word_index: HashTable<u32>,
    bytes: Vec<u8>,
}

/// Creates empty slots.
fn free_slots(count: usize) -> Vec<ShortWord> {
    let mut slots = huge::with_capacity(count);
    slots.checked_resize(count, ShortWord::default());
    slots
}

impl Default for WordTable {
    fn default() -> WordTable {
        let random = RandomState::new();
        let seeds = (random.hash_one(1), random.hash_one(2));
        let (long_word_index, bytes) = (HashTable::new(), Vec::new());
        WordTable { seeds, slots: Vec::new(), short_count: 0, long_words: Vec::new(), long_word_index, bytes }
    }
}

impl ShortWord {
    fn entry(&self) -> WordEntry {
        WordEntry { count: self.count, ordinal: self.ordinal }
    }
}

impl LongWord {
    fn entry(&self) -> WordEntry {
        WordEntry { count: self.count, ordinal: self.ordinal }
    }
}

impl WordTable {
    /// Returns the hash of a word that has this key.
    #[inline]
    pub(super) fn hash(&self, key: PieceKey, word: &[u8]) -> u64 {
        if !key.is_short() {
            return hash_bytes(word, self.seeds.0);
        }
        let (low, high) = key.halves();
        let product = (low ^ self.seeds.0) as u128 * (high ^ self.seeds.1) as u128;
        product as u64 ^ (product >> 64) as u64
    }

    /// Prefetches the slot of a hash.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.slots, hash as usize & self.slots.len().wrapping_sub(1));
    }

    /// Returns the count and the ordinal of a word, if the table contains the word.
    #[inline]
    pub(super) fn find(&mut self, key: PieceKey, hash: u64, word: &[u8]) -> Option<(&mut u64, &mut u64)> {
        if key.is_short() {
            let slot_index = self.slot_index(key, hash)?;
            let slot = &mut self.slots[slot_index];
            return (slot.key == key).then_some((&mut slot.count, &mut slot.ordinal));
        }
        let (long_words, bytes) = (&self.long_words, &self.bytes);
        let is_equal = |&at: &u32| &bytes[long_words[at as usize].start..long_words[at as usize].end] == word;
        let at = *self.long_word_index.find(hash, is_equal)?;
        let long = &mut self.long_words[at as usize];
        Some((&mut long.count, &mut long.ordinal))
    }

    /// Returns the slot of a short word, or the free slot for the word; `None` if the table has no slots.
    #[inline]
    fn slot_index(&self, key: PieceKey, hash: u64) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot_index = hash as usize & mask;
        // The loop ends because at least a quarter of the slots is free.
        while self.slots[slot_index].key != key && self.slots[slot_index].key != PieceKey::default() {
            slot_index = (slot_index + 1) & mask;
        }
        Some(slot_index)
    }

    /// Inserts a word that is not in the table.
    pub(super) fn insert(
        &mut self,
        word: &[u8],
        key: PieceKey,
        hash: u64,
        WordEntry { count, ordinal }: WordEntry,
    ) -> Result<()> {
        if key.is_short() {
            if self.is_crowded() {
                self.resize(self.slots_after_growth());
            }
            self.set_slot(hash, ShortWord { key, count, ordinal });
            self.short_count += 1;
            return Ok(());
        }
        let at = u32::try_from(self.long_words.len())
            .map_err(|_| Error::Argument("the texts have more than 2^32 distinct long words; set max_memory".into()))?;
        let start = self.bytes.len();
        self.bytes.checked_extend_from_slice(word);
        self.long_words.checked_push(LongWord { start, end: self.bytes.len(), count, ordinal });
        let (long_words, bytes, seed) = (&self.long_words, &self.bytes, self.seeds.0);
        let rehash = |&at: &u32| hash_bytes(&bytes[long_words[at as usize].start..long_words[at as usize].end], seed);
        memory::reserve_slot(&mut self.long_word_index, rehash);
        self.long_word_index.insert_unique(hash, at, rehash);
        Ok(())
    }

    fn set_slot(&mut self, hash: u64, short: ShortWord) {
        if let Some(slot_index) = self.slot_index(short.key, hash) {
            self.slots[slot_index] = short;
        }
    }

    fn is_crowded(&self) -> bool {
        (self.short_count + 1) * 4 > self.slots.len() * 3
    }

    fn slots_after_growth(&self) -> usize {
        (self.slots.len() * 2).max(MIN_SLOTS)
    }

    fn resize(&mut self, count: usize) {
        for short in std::mem::replace(&mut self.slots, free_slots(count)) {
            if short.key != PieceKey::default() {
                self.set_slot(self.hash(short.key, &[]), short);
            }
        }
    }

    /// Reports whether the table has no words.
    pub(super) fn is_empty(&self) -> bool {
        self.short_count == 0 && self.long_words.is_empty()
    }

    /// Returns the number of words, and an upper bound of their total bytes.
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.short_count + self.long_words.len(), self.short_count * MAX_KEY_BYTES + self.bytes.len())
    }

    /// Returns the number of bytes of memory.
    pub(super) fn memory(&self) -> usize {
        let words_bytes =
            self.slots.capacity() * size_of::<ShortWord>() + self.long_words.capacity() * size_of::<LongWord>();
        words_bytes + self.bytes.capacity() + self.long_word_index.allocation_size()
    }

    /// Returns the peak number of bytes in use while a word is inserted. If a buffer must grow, the old and the new
    /// buffer exist at the same time.
    pub(super) fn peak_bytes(&self, key: PieceKey, word: &[u8]) -> usize {
        let grown_capacity = |len: usize, growth: usize, capacity: usize| {
            if len + growth > capacity { (capacity * 2).max(len + growth) } else { 0 }
        };
        let growth = match key.is_short() {
            true if self.is_crowded() => self.slots_after_growth() * size_of::<ShortWord>(),
            true => 0,
            false => {
                let long_words =
                    grown_capacity(self.long_words.len(), 1, self.long_words.capacity()) * size_of::<LongWord>();
                let index_bytes =
                    grown_capacity(self.long_words.len(), 1, self.long_word_index.capacity()) * 2 * size_of::<u32>();
                long_words + index_bytes + grown_capacity(self.bytes.len(), word.len(), self.bytes.capacity())
            }
        };
        self.memory() + growth
    }

    /// Adds slots to an empty table, as far as the limit allows.
    pub(super) fn grow_within(&mut self, limit: usize) {
        let count = self.slots_after_growth();
        let others = self.memory() - self.slots.capacity() * size_of::<ShortWord>();
        // Half of the limit remains for long words.
        if self.is_empty() && others + count * size_of::<ShortWord>() <= limit / 2 {
            self.slots = Vec::new();
            self.slots = free_slots(count);
        }
    }

    /// Calls `each` for all words in the given order, then removes all words. The words are sorted in place, without
    /// additional memory.
    pub(super) fn drain(&mut self, order: Order, each: EntryVisitor) -> Result<()> {
        let slots = self.slots.len();
        self.sort(order);
        self.each(order, each)?;
        self.slots.clear();
        self.slots.checked_resize(slots, ShortWord::default());
        self.short_count = 0;
        self.long_words.clear();
        self.long_word_index.clear();
        self.bytes.clear();
        Ok(())
    }

    /// Calls `each` for all words in the given order. The table still has all words afterwards.
    pub(super) fn visit(&mut self, order: Order, each: EntryVisitor) -> Result<()> {
        let slots = self.slots.len();
        self.sort(order);
        let result = self.each(order, each);
        self.resize(slots);
        self.index();
        result
    }

    /// Calls `each` for all words with their counts, in any order.
    pub(super) fn each_unordered(&self, each: CountVisitor) -> Result<()> {
        for short in self.slots.iter().filter(|short| short.key != PieceKey::default()) {
            let (bytes, len) = short.key.bytes_and_len();
            each(&bytes[..len], short.count)?;
        }
        self.long_words.iter().try_for_each(|long| each(&self.bytes[long.start..long.end], long.count))
    }

    /// Sorts the short words and the long words in place. Lookups do not work until the words are indexed again.
    fn sort(&mut self, order: Order) {
        self.slots.retain(|short| short.key != PieceKey::default());
        self.slots.sort_unstable_by(|one, other| {
            order.compare((one.key.sort_key(), one.entry()), (other.key.sort_key(), other.entry()))
        });
        let bytes = &self.bytes;
        let word = |long: &LongWord| &bytes[long.start..long.end];
        self.long_words
            .sort_unstable_by(|one, other| order.compare((word(one), one.entry()), (word(other), other.entry())));
    }

    /// Merges the sorted short words and the sorted long words, and calls `each` for every word.
    fn each(&self, order: Order, each: EntryVisitor) -> Result<()> {
        let word = |long: &LongWord| &self.bytes[long.start..long.end];
        let (mut short_words, mut long_words) = (self.slots.iter().peekable(), self.long_words.iter().peekable());
        loop {
            let spelled = short_words.peek().map(|short| (short.key.bytes_and_len(), short.entry()));
            let other = long_words.peek().map(|long| (word(long), long.entry()));
            match (&spelled, other) {
                (None, None) => break,
                (Some(((bytes, len), entry)), other)
                    if other.is_none_or(|other| order.compare((&bytes[..*len], *entry), other) == Ordering::Less) =>
                {
                    each(&bytes[..*len], *entry)?;
                    short_words.next();
                }
                (_, Some((word, entry))) => {
                    each(word, entry)?;
                    long_words.next();
                }
                (Some(_), None) => unreachable!("a short word comes first if there is no long one"),
            }
        }
        Ok(())
    }

    /// Rebuilds the index of the long words.
    fn index(&mut self) {
        self.long_word_index.clear();
        let (long_words, bytes, seed) = (&self.long_words, &self.bytes, self.seeds.0);
        let hash = |at: u32| hash_bytes(&bytes[long_words[at as usize].start..long_words[at as usize].end], seed);
        for at in 0..long_words.len() as u32 {
            memory::reserve_slot(&mut self.long_word_index, |&at| hash(at));
            self.long_word_index.insert_unique(hash(at), at, |&at| hash(at));
        }
    }
}
