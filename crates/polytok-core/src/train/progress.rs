//! How far a long work is, and the way to stop it.

use crate::error::Result;

/// Is told now and then how far a trainer is; an error from it (Ctrl-C) ends the work and comes out of the trainer.
pub trait Progress {
    /// `done` of `of` steps of a stage are done; `of` is 0 where nobody knows.
    fn report(&mut self, stage: &'static str, done: u64, of: u64) -> Result<()>;
}

/// Nobody is told.
pub struct Silent;

impl Progress for Silent {
    fn report(&mut self, _: &'static str, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}
