//! Keeps scratches (the buffers and caches of a thread) from call to call, and limits the memory of their caches.
//!
//! Each slot of the pool holds a scratch that no thread is using, or nothing. A call takes the first scratch, and returns
//! it to the first empty slot, so calls that are not at the same time use the same, warm scratch. No call waits for the
//! lock of a slot: if the lock is taken, by another thread or because a fork has copied it in this state, the call
//! continues with the next slot.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::cache::DEFAULT_LIMIT;
use crate::scratch::Scratch;

/// The number of slots. If more calls are at the same time, the scratches of the others are freed when they end.
const SLOTS: usize = 64;

/// The scratches that no thread is using.
pub struct Pool {
    /// The scratches, in boxes, so that a call moves only a pointer when it takes or returns a scratch.
    slots: [Mutex<Option<Box<Scratch>>>; SLOTS],
    /// The largest number of bytes of the cache of each thread.
    limit: AtomicUsize,
    /// The number of times that all caches were cleared. A scratch whose `epoch` is lower has an outdated cache.
    epoch: AtomicUsize,
}

impl Default for Pool {
    fn default() -> Pool {
        let slots = std::array::from_fn(|_| Mutex::default());
        Pool { slots, limit: DEFAULT_LIMIT.into(), epoch: 1.into() }
    }
}

impl Pool {
    /// Calls `run` with a scratch whose cache is not outdated.
    #[inline]
    pub fn with<T>(&self, run: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch = self.unlocked_slots().find_map(|mut slot| slot.take()).unwrap_or_default();
        self.renew(&mut scratch);
        let result = run(&mut scratch);
        scratch.release();
        self.renew(&mut scratch);
        if let Some(mut empty_slot) = self.unlocked_slots().find(|slot| slot.is_none()) {
            *empty_slot = Some(scratch);
        }
        result
    }

    /// Returns each slot that no other thread has locked.
    #[inline]
    fn unlocked_slots(&self) -> impl Iterator<Item = MutexGuard<'_, Option<Box<Scratch>>>> {
        self.slots.iter().filter_map(|slot| slot.try_lock().ok())
    }

    /// Clears the scratch's cache if it is outdated.
    #[inline]
    fn renew(&self, scratch: &mut Scratch) {
        let epoch = self.epoch.load(Ordering::Acquire);
        if scratch.epoch != epoch {
            scratch.epoch = epoch;
            scratch.renew(self.limit());
        }
    }

    /// Returns the largest number of bytes of the cache of each thread.
    pub fn limit(&self) -> usize {
        self.limit.load(Ordering::Acquire)
    }

    /// Sets the memory limit of each thread's cache, and clears the caches; 0 means no caches.
    pub fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Release);
        self.clear();
    }

    /// Clears all caches. The cache of a scratch that a thread is using is cleared at the end of the thread's call.
    pub fn clear(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        for mut slot in self.unlocked_slots() {
            if let Some(scratch) = slot.as_deref_mut() {
                self.renew(scratch);
            }
        }
    }

    /// Returns the total size in bytes of the caches that no thread is using.
    pub fn cache_bytes(&self) -> usize {
        self.unlocked_slots().filter_map(|slot| slot.as_deref().map(Scratch::cache_bytes)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::PieceKey;
    use crate::token_id::TokenId;

    #[test]
    fn caches_are_cleared_and_limited() {
        let pool = Pool::default();
        let insert_piece = |scratch: &mut Scratch| {
            scratch.segmenter.cache.insert(b"a", PieceKey::new(b"a", 0, 1, false), &[TokenId(1)])
        };
        pool.with(insert_piece);
        assert!(pool.cache_bytes() > 0);
        pool.clear();
        assert_eq!(pool.cache_bytes(), 0);
        pool.with(|scratch| {
            insert_piece(scratch);
            pool.set_limit(0);
        });
        assert_eq!(pool.cache_bytes(), 0);
        pool.with(insert_piece);
        assert_eq!((pool.cache_bytes(), pool.limit()), (0, 0));
        pool.set_limit(1 << 20);
        pool.with(insert_piece);
        assert!((1..=1 << 20).contains(&pool.cache_bytes()));
    }

    #[test]
    fn calls_that_are_not_at_the_same_time_use_one_scratch() {
        let pool = Pool::default();
        let used_scratch = |scratch: &mut Scratch| std::ptr::from_ref(scratch).addr();
        let (first, inner) = pool.with(|scratch| (used_scratch(scratch), pool.with(used_scratch)));
        assert_ne!(first, inner);
        let from_other_thread = std::thread::scope(|scope| scope.spawn(|| pool.with(used_scratch)).join().unwrap());
        assert!([first, inner].contains(&from_other_thread));
        assert_eq!(pool.with(used_scratch), from_other_thread);
        assert_eq!(pool.unlocked_slots().filter(|slot| slot.is_some()).count(), 2);
    }

    #[test]
    fn a_locked_slot_is_skipped_and_scratches_beyond_the_slots_are_freed() {
        let pool = Pool::default();
        let locked = pool.slots[0].lock().unwrap();
        pool.with(|_| ());
        assert!(pool.slots[1].lock().unwrap().is_some());
        drop(locked);
        nest(&pool, SLOTS + 1);
        assert_eq!(pool.unlocked_slots().filter(|slot| slot.is_some()).count(), SLOTS);
    }

    fn nest(pool: &Pool, depth: usize) {
        if depth > 0 {
            pool.with(|_| nest(pool, depth - 1));
        }
    }
}
