//! The progress of long work, and the way to stop it.

use crate::error::Result;

/// Receives the progress of a trainer from time to time. If it returns an error (Ctrl-C), the trainer stops and returns
/// that error.
pub trait Progress {
    /// `done` of `of` steps of a stage are done; `of` is 0 if the total is unknown.
    fn report(&mut self, stage: &'static str, done: u64, of: u64) -> Result<()>;
}

/// Ignores all reports.
pub struct NoProgress;

impl Progress for NoProgress {
    fn report(&mut self, _: &'static str, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}
