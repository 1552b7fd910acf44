//! What a merge run is watched for: re-segmentation and dropout.

use hashbrown::HashMap;

use crate::model::bpe::merge::Watch;
use crate::rng::Rng;

/// Merged symbol → the halves of the last candidate considered for it, and the length of the left one.
pub(super) type Splits = HashMap<u32, (u32, u32, u32)>;

/// What re-segmentation and dropout need to know of a run.
pub(super) struct Watcher<'a> {
    pub(super) splits: Splits,
    pub(super) dropout: Option<(f32, &'a mut Rng)>,
}

impl Watch for Watcher<'_> {
    fn considered(&mut self, merged: u32, left: u32, right: u32, left_len: u32) {
        self.splits.insert(merged, (left, right, left_len));
    }

    fn keeps(&mut self) -> bool {
        match &mut self.dropout {
            None => true,
            Some((probability, rng)) => {
                *probability <= 0.0 || (*probability < 1.0 && rng.uniform() >= *probability as f64)
            }
        }
    }
}
