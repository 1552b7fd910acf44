//! Distributes work over several threads, reports the progress, and stops on request.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use polytok_memory as memory;

use crate::error::{Error, Result};
use crate::train::progress::Progress;

/// The number of threads, and the receiver of progress reports.
pub struct Workers<'a> {
    pub threads: usize,
    pub progress: &'a mut dyn Progress,
}

impl Workers<'_> {
    /// Processes the items on several threads. The calling thread works too, and reports progress after each of its
    /// items. If a report returns an error, no further item is started.
    pub fn run<T: Send>(&mut self, stage: &'static str, items: Vec<T>, work: impl Fn(T) + Sync) -> Result<()> {
        let total = items.len() as u64;
        let refused = OnceLock::<memory::Refused>::new();
        let (items, done, is_stopped) = (Mutex::new(items.into_iter()), AtomicUsize::new(0), AtomicBool::new(false));
        let step = || {
            let item = items
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .next()
                .filter(|_| !is_stopped.load(Ordering::Relaxed));
            match memory::run_caught(|| item.map(&work)) {
                Ok(finished) => finished.map(|()| done.fetch_add(1, Ordering::Relaxed) as u64 + 1),
                Err(memory) => {
                    let _ = refused.set(memory);
                    is_stopped.store(true, Ordering::Relaxed);
                    None
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads {
                // If a thread cannot be started, the other threads process its items.
                let _ = std::thread::Builder::new().spawn_scoped(scope, || while step().is_some() {});
            }
            while let Some(done) = step() {
                let outcome = self.progress.report(stage, done, total);
                is_stopped.store(outcome.is_err(), Ordering::Relaxed);
                outcome?;
            }
            Ok::<(), Error>(())
        })?;
        refused.get().map_or(Ok(()), |&memory| Err(memory.into()))
    }
}
