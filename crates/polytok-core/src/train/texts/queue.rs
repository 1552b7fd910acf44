//! Runs jobs from one queue on several threads, each with its own counter.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use polytok_memory::{self as memory, Collect};

use super::rules::{TextRules, TextScratch};
use crate::error::Result;
use crate::train::counter::WordCounter;
use crate::train::progress::Progress;

/// The work that a thread takes from the queue at a time.
pub(super) enum CountingJob<'t> {
    /// Several whole texts. The ordinal of the first text is `base`.
    Texts { texts: &'t [&'t [u8]], base: u64 },
    /// The words of a text that begin before `to`; a word ends at `to`. The ordinal of the text is `base`.
    Part { text: &'t [u8], to: usize, base: u64 },
}

impl CountingJob<'_> {
    fn bytes(&self) -> u64 {
        match self {
            CountingJob::Texts { texts, .. } => texts.iter().map(|text| text.len() as u64).sum(),
            CountingJob::Part { to, .. } => *to as u64,
        }
    }

    fn run(self, rules: &TextRules, scratch: &mut TextScratch, counter: &mut WordCounter) -> Result<()> {
        match self {
            CountingJob::Texts { texts, mut base } => texts.iter().try_for_each(|text| {
                rules.count(text, text.len(), base, scratch, counter)?;
                base = rules.next_ordinal(base, text.len())?;
                Ok(())
            }),
            CountingJob::Part { text, to, base } => rules.count(text, to, base, scratch, counter),
        }
    }
}

/// Runs all jobs. The calling thread also works on jobs, and reports the progress.
pub(super) fn run_jobs(
    rules: &TextRules,
    jobs: Vec<CountingJob>,
    counters: &mut [WordCounter],
    progress: &mut dyn Progress,
) -> Result<()> {
    let total: u64 = jobs.iter().map(CountingJob::bytes).sum();
    let threads = counters.len().min(jobs.len());
    let queue = Mutex::new(jobs.into_iter());
    let is_stopped = AtomicBool::new(false);
    let work = |counter: &mut WordCounter, report: &mut dyn FnMut(u64) -> Result<()>| {
        let mut scratch = TextScratch::default();
        let mut jobs_done = 0;
        while !is_stopped.load(Ordering::Relaxed) {
            let Some(job) = queue.lock().unwrap_or_else(PoisonError::into_inner).next() else { break };
            jobs_done += job.bytes();
            let run = || job.run(rules, &mut scratch, counter);
            let outcome = memory::catch(run).and_then(|()| report(jobs_done));
            if outcome.is_err() {
                is_stopped.store(true, Ordering::Relaxed);
                return outcome;
            }
        }
        Ok(())
    };
    let Some((own, others)) = counters[..threads].split_first_mut() else { return Ok(()) };
    std::thread::scope(|scope| {
        let spawn = |counter| std::thread::Builder::new().spawn_scoped(scope, || work(counter, &mut |_| Ok(())));
        // If a thread cannot start, the other threads do its work.
        let threads: Vec<_> = others.iter_mut().flat_map(spawn).checked_collect();
        let mut outcome = work(own, &mut |jobs_done| progress.report("counting", jobs_done, total));
        for thread in threads {
            outcome = outcome.and(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        outcome
    })
}
