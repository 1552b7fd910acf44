//! Observes a merge run, for splitting Unused rows again and for dropout.

use hashbrown::HashMap;
use polytok_memory::GrowMap;

use super::merge::Watch;
use super::symbol::Symbol;
use crate::rng::Rng;

/// The two symbols from which a symbol was merged.
#[derive(Clone, Copy)]
pub(super) struct Halves {
    pub(super) left: Symbol,
    pub(super) right: Symbol,
    /// The number of bytes of the left symbol.
    pub(super) left_len: u32,
}

/// The halves of the last candidate for each merged symbol.
pub(super) type SplitsOfSymbols = HashMap<Symbol, Halves>;

/// Records the halves of candidates, with which Unused rows are split again, and drops merges at random.
pub(super) struct Watcher<'a> {
    pub(super) splits: SplitsOfSymbols,
    pub(super) dropout: Option<(f32, &'a mut Rng)>,
}

impl Watch for Watcher<'_> {
    fn on_candidate(&mut self, merged: Symbol, left: Symbol, right: Symbol, left_len: u32) {
        self.splits.checked_insert(merged, Halves { left, right, left_len });
    }

    fn accepts_candidate(&mut self) -> bool {
        match &mut self.dropout {
            None => true,
            Some((probability, rng)) => {
                *probability <= 0.0 || (*probability < 1.0 && rng.uniform() >= *probability as f64)
            }
        }
    }
}
