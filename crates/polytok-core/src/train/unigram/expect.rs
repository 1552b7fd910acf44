//! One step of expectation-maximization: computes the expected count of each piece over all segmentations of all words,
//! then new scores from the expected counts.
//!
//! Reference: the trainer's `RunEStep` and `RunMStep`. All sums have single precision, and are computed separately for
//! each lane (see `lanes`).
//!
//! Cost: one lattice per word; four bytes for each piece and lane.

use polytok_memory::Collect;

use crate::error::Result;
use crate::train::unigram::lanes::{WordLane, add_up_lanes, run_in_lanes};
use crate::train::unigram::numeric::{ApproximationTables, digamma};
use crate::train::unigram::pieces::ScoredPieces;
use crate::train::unigram::sums::{WordBlock, create_slots};
use crate::train::unigram::workers::Workers;

/// Pieces with a lower expected count are removed.
const MIN_EXPECTED_COUNT: f32 = 0.5;

/// Returns the expected count of each piece.
pub fn expect(
    pieces: &ScoredPieces,
    lanes: &[WordLane],
    tables: &ApproximationTables,
    workers: &mut Workers,
) -> Result<Vec<f32>> {
    let sums = run_in_lanes(lanes.len(), workers, "expectation", |lane| {
        let (mut slots, mut block) = (create_slots(pieces), WordBlock::default());
        lanes[lane].each(|count, chars, nodes| block.push(count, chars, nodes, &mut slots, tables));
        block.finish(&mut slots, tables);
        slots[..pieces.len()].iter().map(|slot| slot.expected).checked_collect()
    })?;
    Ok(add_up_lanes(sums))
}

/// Returns the pieces whose expected count is high enough, with their new scores. The scores use the digamma function
/// instead of the logarithm, which is equivalent to a prior that favours few pieces.
pub fn compute_new_scores(expected: &[f32]) -> Vec<(u32, f32)> {
    let kept = || expected.iter().enumerate().filter(|&(_, &expected)| expected >= MIN_EXPECTED_COUNT);
    let sum = kept().fold(0f32, |sum, (_, expected)| sum + expected);
    let log = digamma(sum as f64) as f32;
    kept().map(|(id, &expected)| (id as u32, (digamma(expected as f64) - log as f64) as f32)).checked_collect()
}
