//! Reports the progress of long work, and lets a user stop it.

use crate::error::Result;

/// Receives the progress of a trainer from time to time. If [`Progress::report`] returns an error, for example after
/// Ctrl-C, the trainer stops and returns that error.
pub trait Progress {
    /// Reports that `done` of `total` steps of a stage are done; `total` is 0 if it is unknown.
    fn report(&mut self, stage: &'static str, done: u64, total: u64) -> Result<()>;
}

/// Ignores all reports.
pub struct NoProgress;

impl Progress for NoProgress {
    fn report(&mut self, _: &'static str, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}
