//! Keeps scratches (the buffers and caches of a thread) from call to call, and limits the memory of their caches.
//!
//! No call waits for the lock of the pool. If the lock is taken, by another thread or because a fork has copied it in
//! this state, the call creates a new scratch.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cache::DEFAULT_LIMIT;
use crate::scratch::Scratch;

/// The scratches that no thread is using.
pub struct Pool {
    /// The scratches, in boxes, so that a call moves only a pointer when it takes or returns a scratch.
    #[expect(clippy::vec_box, reason = "a Scratch is large, and each call moves it twice")]
    free_scratches: Mutex<Vec<Box<Scratch>>>,
    /// The largest number of bytes of the cache of each thread.
    limit: AtomicUsize,
    /// The number of times that all caches were cleared. A scratch whose `epoch` is lower has an outdated cache.
    epoch: AtomicUsize,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool { free_scratches: Mutex::default(), limit: DEFAULT_LIMIT.into(), epoch: 1.into() }
    }
}

impl Pool {
    /// Calls `run` with a scratch whose cache is not outdated.
    #[inline]
    pub fn with<T>(&self, run: impl FnOnce(&mut Scratch) -> T) -> T {
        let free_scratch = self.free_scratches.try_lock().ok().and_then(|mut free_scratches| free_scratches.pop());
        let mut scratch = free_scratch.unwrap_or_default();
        self.renew(&mut scratch);
        let result = run(&mut scratch);
        scratch.release();
        self.renew(&mut scratch);
        if let Ok(mut free_scratches) = self.free_scratches.try_lock() {
            free_scratches.push(scratch);
        }
        result
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
        if let Ok(mut free_scratches) = self.free_scratches.try_lock() {
            free_scratches.iter_mut().for_each(|scratch| self.renew(scratch));
        }
    }

    /// Returns the total size in bytes of the caches that no thread is using.
    pub fn cache_bytes(&self) -> usize {
        self.free_scratches
            .try_lock()
            .map_or(0, |free_scratches| free_scratches.iter().map(|scratch| scratch.cache_bytes()).sum())
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
}
