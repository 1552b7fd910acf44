//! Keeps scratches (the buffers and caches of a thread) from call to call, and limits the memory of their caches.
//!
//! Each slot of the pool holds a scratch that no thread is using, or nothing. A call takes the first scratch, and returns
//! it to the first empty slot, so calls that are not at the same time use the same, warm scratch. A slot has no lock:
//! one atomic operation takes a scratch or puts it back, so no call waits, and a fork cannot copy a lock that nobody
//! will open.

use std::ptr;

use crate::cache::DEFAULT_LIMIT;
use crate::scratch::Scratch;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering};

/// The number of slots. If more calls are at the same time, the scratches of the others are freed when they end.
const SLOTS: usize = if cfg!(all(test, loom)) { 2 } else { 64 };

/// The scratches that no thread is using.
pub struct Pool {
    slots: [Slot; SLOTS],
    /// The largest number of bytes of the cache of each thread.
    limit: AtomicUsize,
    /// The number of times that all caches were cleared. A scratch whose `epoch` is lower has an outdated cache.
    epoch: AtomicUsize,
}

impl Default for Pool {
    fn default() -> Pool {
        let slots = std::array::from_fn(|_| Slot(AtomicPtr::new(ptr::null_mut())));
        Pool { slots, limit: AtomicUsize::new(DEFAULT_LIMIT), epoch: AtomicUsize::new(1) }
    }
}

impl Pool {
    /// Calls `run` with a scratch whose cache is not outdated.
    #[inline]
    pub fn with<T>(&self, run: impl FnOnce(&mut Scratch) -> T) -> T {
        let full_slots = self.slots.iter().filter(|slot| !slot.is_empty());
        let mut scratch = full_slots.filter_map(Slot::take).next().unwrap_or_default();
        self.renew(&mut scratch);
        let result = run(&mut scratch);
        scratch.release();
        self.put(scratch);
        result
    }

    /// Puts a scratch into the first empty slot, and clears its cache if it is outdated.
    ///
    /// The cache is compared with `epoch` after the scratch is in the slot. If `clear` takes from the slot later, it finds
    /// the scratch there. If it has done so before, the exchange in `Slot::put` comes after its exchange, so this thread
    /// reads the new `epoch`. Either way, the cache is cleared.
    #[inline]
    fn put(&self, mut scratch: Box<Scratch>) {
        let epoch = scratch.epoch;
        for slot in self.slots.iter().filter(|slot| slot.is_empty()) {
            match slot.put(scratch) {
                Ok(()) if self.epoch.load(Ordering::Acquire) == epoch => return,
                Ok(()) => return self.renew_slot(slot),
                Err(same) => scratch = same,
            }
        }
    }

    /// Clears the cache in a slot if it is outdated.
    #[cold]
    fn renew_slot(&self, slot: &Slot) {
        if let Some(mut scratch) = slot.take() {
            self.renew(&mut scratch);
            self.put(scratch);
        }
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
        for slot in &self.slots {
            self.renew_slot(slot);
        }
    }

    /// Returns the total size in bytes of the caches that no thread is using.
    pub fn cache_bytes(&self) -> usize {
        let bytes_in = |slot: &Slot| {
            let scratch = slot.take()?;
            let bytes = scratch.cache_bytes();
            self.put(scratch);
            Some(bytes)
        };
        self.slots.iter().filter_map(bytes_in).sum()
    }
}

/// A place for a scratch: its address, or null.
struct Slot(AtomicPtr<Scratch>);

/// A scratch that one thread puts in, another one takes out.
const _: () = {
    const fn assert_send<T: Send>() {}
    assert_send::<Scratch>();
};

impl Slot {
    /// Returns whether the slot is empty; other threads can change that at any time.
    #[inline]
    fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed).is_null()
    }

    /// Takes the scratch out. The exchange writes to an empty slot, too: that is what `Pool::put` relies on.
    #[inline]
    fn take(&self) -> Option<Box<Scratch>> {
        let scratch = self.0.swap(ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: an address in a slot is that of a box which `put` has given up, and the exchange gives it to this
        // thread alone.
        (!scratch.is_null()).then(|| unsafe { Box::from_raw(scratch) })
    }

    /// Puts a scratch in; returns it if the slot has one.
    #[inline]
    fn put(&self, scratch: Box<Scratch>) -> Result<(), Box<Scratch>> {
        let scratch = Box::into_raw(scratch);
        match self.0.compare_exchange(ptr::null_mut(), scratch, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            // SAFETY: the slot has not taken the address, which is that of the box above.
            Err(_) => Err(unsafe { Box::from_raw(scratch) }),
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.take();
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
        assert_eq!(full_slots(&pool), 2);
    }

    #[test]
    fn scratches_beyond_the_slots_are_freed() {
        let pool = Pool::default();
        nest(&pool, SLOTS + 1);
        assert_eq!(full_slots(&pool), SLOTS);
    }

    fn full_slots(pool: &Pool) -> usize {
        pool.slots.iter().filter(|slot| !slot.is_empty()).count()
    }

    fn nest(pool: &Pool, depth: usize) {
        if depth > 0 {
            pool.with(|_| nest(pool, depth - 1));
        }
    }
}

/// Runs calls and changes of the limit in every order.
#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::cache::PieceKey;
    use crate::token_id::TokenId;

    fn insert_piece(scratch: &mut Scratch) {
        scratch.segmenter.cache.insert(b"a", PieceKey::new(b"a", 0, 1, false), &[TokenId(1)]);
    }

    /// Sets the limit to 0 at the same time as another thread uses a pool with one cache. No cache may be left.
    fn assert_no_cache_outlives_a_change_of_the_limit(use_pool: fn(&Pool)) {
        loom::model(move || {
            let pool = Arc::new(Pool::default());
            pool.with(insert_piece);
            let used_pool = Arc::clone(&pool);
            let user = thread::spawn(move || use_pool(&used_pool));
            pool.set_limit(0);
            user.join().unwrap();
            assert_eq!(pool.cache_bytes(), 0);
        });
    }

    #[test]
    fn no_cache_outlives_a_change_of_the_limit_during_a_call() {
        assert_no_cache_outlives_a_change_of_the_limit(|pool| pool.with(insert_piece));
    }

    #[test]
    fn no_cache_outlives_a_change_of_the_limit_while_the_caches_are_counted() {
        assert_no_cache_outlives_a_change_of_the_limit(|pool| _ = pool.cache_bytes());
    }

    #[test]
    fn two_calls_never_use_one_scratch() {
        loom::model(|| {
            let pool = Arc::new(Pool::default());
            let calls = Arc::clone(&pool);
            let used_scratch = |scratch: &mut Scratch| std::ptr::from_mut(scratch).addr();
            let caller = thread::spawn(move || calls.with(used_scratch));
            let (outer, inner) = pool.with(|scratch| (used_scratch(scratch), pool.with(used_scratch)));
            assert_ne!(outer, inner);
            caller.join().unwrap();
        });
    }
}
