//! Parts of texts, worked off by threads that each have a counter.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::rules::{Room, TextRules};
use crate::error::Result;
use crate::train::counter::WordCounter;
use crate::train::progress::Progress;

/// What a thread takes at once.
pub(super) enum Job<'t> {
    /// Whole texts, the first of which begins at an ordinal.
    Texts { texts: &'t [&'t [u8]], base: u64 },
    /// The words of a text that begin before `to`, where one ends; the text begins at an ordinal.
    Part { text: &'t [u8], to: usize, base: u64 },
}

impl Job<'_> {
    fn bytes(&self) -> u64 {
        match self {
            Job::Texts { texts, .. } => texts.iter().map(|text| text.len() as u64).sum(),
            Job::Part { to, .. } => *to as u64,
        }
    }

    fn run(self, rules: &TextRules, room: &mut Room, counter: &mut WordCounter) -> Result<()> {
        match self {
            Job::Texts { texts, mut base } => texts.iter().try_for_each(|text| {
                rules.count(text, text.len(), base, room, counter)?;
                base = rules.behind(base, text.len())?;
                Ok(())
            }),
            Job::Part { text, to, base } => rules.count(text, to, base, room, counter),
        }
    }
}

/// Works off all jobs. The calling thread works too and tells the progress.
pub(super) fn work_off(
    rules: &TextRules,
    jobs: Vec<Job>,
    counters: &mut [WordCounter],
    progress: &mut dyn Progress,
) -> Result<()> {
    let of: u64 = jobs.iter().map(Job::bytes).sum();
    let threads = counters.len().min(jobs.len());
    let queue = Mutex::new(jobs.into_iter());
    let stop = AtomicBool::new(false);
    let work = |counter: &mut WordCounter, told: &mut dyn FnMut(u64) -> Result<()>| {
        let mut room = Room::default();
        let mut done = 0;
        while !stop.load(Ordering::Relaxed) {
            let Some(job) = queue.lock().unwrap_or_else(PoisonError::into_inner).next() else { break };
            done += job.bytes();
            let outcome = job.run(rules, &mut room, counter).and_then(|()| told(done));
            if outcome.is_err() {
                stop.store(true, Ordering::Relaxed);
                return outcome;
            }
        }
        Ok(())
    };
    let Some((own, others)) = counters[..threads].split_first_mut() else { return Ok(()) };
    std::thread::scope(|scope| {
        let spawn = |counter| std::thread::Builder::new().spawn_scoped(scope, || work(counter, &mut |_| Ok(())));
        // A thread that cannot be had only leaves more to the others.
        let threads: Vec<_> = others.iter_mut().flat_map(spawn).collect();
        let mut outcome = work(own, &mut |done| progress.report("counting", done, of));
        for thread in threads {
            outcome = outcome.and(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        outcome
    })
}
