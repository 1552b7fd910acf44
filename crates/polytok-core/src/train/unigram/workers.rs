//! Work over several threads that can be watched and stopped.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::Result;
use crate::train::progress::Progress;

/// How many threads may work, and who is told how far they are.
pub struct Workers<'a> {
    pub threads: usize,
    pub progress: &'a mut dyn Progress,
}

impl Workers<'_> {
    /// Works off the items, each on whichever thread is free. The calling thread works too and reports after each of its items;
    /// once it is told to stop, no further item is begun.
    pub fn run<T: Send>(&mut self, stage: &'static str, items: Vec<T>, work: impl Fn(T) + Sync) -> Result<()> {
        let of = items.len() as u64;
        let (items, done, stopped) = (Mutex::new(items.into_iter()), AtomicUsize::new(0), AtomicBool::new(false));
        let step = || {
            let item = items
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .next()
                .filter(|_| !stopped.load(Ordering::Relaxed));
            item.map(&work).map(|()| done.fetch_add(1, Ordering::Relaxed) as u64 + 1)
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads {
                // A thread that cannot be had only leaves more to the others.
                let _ = std::thread::Builder::new().spawn_scoped(scope, || while step().is_some() {});
            }
            while let Some(done) = step() {
                let told = self.progress.report(stage, done, of);
                stopped.store(told.is_err(), Ordering::Relaxed);
                told?;
            }
            Ok(())
        })
    }
}
