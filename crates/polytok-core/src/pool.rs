//! Keeps the scratches of threads from call to call, and limits the memory of the scratches' caches.
//!
//! No call waits for the pool's lock. If another thread holds the lock, or a fork has left the lock locked, a new
//! scratch is created.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cache::DEFAULT_LIMIT;
use crate::scratch::Scratch;

/// The scratches that no thread is using.
pub struct Pool {
    /// The scratches. Scratches are boxed, so that taking a scratch and returning it moves only a pointer.
    #[expect(clippy::vec_box, reason = "a Scratch is large, and moved twice a call")]
    free_scratches: Mutex<Vec<Box<Scratch>>>,
    /// The number of bytes that the cache of each thread can take.
    limit: AtomicUsize,
    /// The number of times that all caches were cleared. A scratch with a lower number has an outdated cache.
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
        let pooled = self.free_scratches.try_lock().ok().and_then(|mut free_scratches| free_scratches.pop());
        let mut scratch = pooled.unwrap_or_default();
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

    /// Returns the number of bytes that the cache of each thread can take.
    pub fn limit(&self) -> usize {
        self.limit.load(Ordering::Acquire)
    }

    /// Sets the memory limit of each thread's cache, and clears the caches; 0 means no caches.
    pub fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Release);
        self.clear();
    }

    /// Clears all caches: immediately if no thread uses them, otherwise when the thread is done.
    pub fn clear(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        if let Ok(mut free_scratches) = self.free_scratches.try_lock() {
            free_scratches.iter_mut().for_each(|scratch| self.renew(scratch));
        }
    }

    /// Returns the total size in bytes of the caches that no thread is using.
    pub fn cached(&self) -> usize {
        self.free_scratches
            .try_lock()
            .map_or(0, |free_scratches| free_scratches.iter().map(|scratch| scratch.cached()).sum())
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
        let insert = |scratch: &mut Scratch| {
            scratch.segmenter.cache.insert(b"a", PieceKey::new(b"a", 0, 1, false), &[TokenId(1)])
        };
        pool.with(insert);
        assert!(pool.cached() > 0);
        pool.clear();
        assert_eq!(pool.cached(), 0);
        pool.with(|scratch| {
            insert(scratch);
            pool.set_limit(0);
        });
        assert_eq!(pool.cached(), 0);
        pool.with(insert);
        assert_eq!((pool.cached(), pool.limit()), (0, 0));
        pool.set_limit(1 << 20);
        pool.with(insert);
        assert!((1..=1 << 20).contains(&pool.cached()));
    }
}
