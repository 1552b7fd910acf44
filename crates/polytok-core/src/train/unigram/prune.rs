//! Prunes the pieces: removes those whose absence lowers the likelihood of the corpus least.
//!
//! Reference: the trainer's `PruneSentencePieces`. A removed piece is replaced in the corpus by the second best
//! segmentation of its own text. The loss in likelihood is estimated from the counts of the best segmentations of all
//! words. A piece whose text has no other segmentation is kept. A piece is always removed if it does not occur, or if
//! the best segmentation of its own text has several pieces. Version 0.2.1 weighs the loss by the counts of the words
//! that contain the piece, summed in the order of the lanes; version 0.2.3 weighs it by the piece's own count.
//!
//! At the end of training, 0.2.3 removes the pieces that encoding can never produce, because their own text has a
//! better segmentation.
//!
//! Cost: one lattice per word and one per piece.

use polytok_memory::{self as memory, Collect, Grow};

use crate::error::Result;
use crate::spec::SentencePieceVersion;
use crate::train::unigram::lanes::{WordLane, add_up_lanes, run_in_lanes};
use crate::train::unigram::lattice::WordLattice;
use crate::train::unigram::pieces::ScoredPieces;
use crate::train::unigram::replacement::{Replacement, ReplacementSearch};
use crate::train::unigram::workers::Workers;

/// The counts of pieces in the best segmentations of all words.
struct BestPieceCounts {
    /// For each piece the number of its occurrences.
    pieces: Vec<f32>,
    /// For each piece, the weight of its loss in likelihood (0.2.1 only).
    weights: Vec<f32>,
}

/// Returns the pieces to keep: the `target_size` pieces whose removal would cost most, and the pieces that cannot be
/// removed.
pub fn prune(
    pieces: &ScoredPieces,
    lanes: &[WordLane],
    version: SentencePieceVersion,
    target_size: usize,
    workers: &mut Workers,
) -> Result<Vec<(u32, f32)>> {
    let replacements = find_replacements(pieces, version, workers)?;
    let counts = match version {
        SentencePieceVersion::V0_2_1 => best_counts_in_order(pieces, lanes, workers)?,
        SentencePieceVersion::V0_2_3 => best_counts(pieces, lanes, workers)?,
    };
    let sum = counts.pieces.iter().fold(0f64, |sum, &count| sum + count as f64) as f32;
    let (mut kept_ids, mut candidates) = (Vec::new(), Vec::new());
    for (id, replacement) in replacements.iter().enumerate().filter(|&(id, _)| counts.pieces[id] != 0.0) {
        match replacement {
            Replacement::Impossible => kept_ids.checked_push(id as u32),
            Replacement::AlreadyBetter => {}
            Replacement::Pieces(replacement_pieces) => {
                let weight =
                    if version == SentencePieceVersion::V0_2_1 { counts.weights[id] } else { counts.pieces[id] / sum };
                candidates
                    .checked_push((estimate_loss(&counts.pieces, sum, id, weight, replacement_pieces), id as u32));
            }
        }
    }
    candidates.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let remaining_size = target_size.saturating_sub(kept_ids.len());
    kept_ids.checked_extend(candidates.iter().take(remaining_size).map(|&(_, id)| id));
    Ok(kept_ids.iter().map(|&id| (id, pieces.scores[id as usize])).checked_collect())
}

/// Estimates the loss in likelihood if `replacement_pieces` replace a piece.
fn estimate_loss(counts: &[f32], sum: f32, id: usize, weight: f32, replacement_pieces: &[u32]) -> f32 {
    let log = |x: f32| (x as f64).ln();
    let count = counts[id];
    let own = (log(count) - log(sum) as f32 as f64) as f32;
    let log_sum = log(sum + count * (replacement_pieces.len() as f32 - 1.0)) as f32;
    let mut replacement_log = 0f32;
    for &other in replacement_pieces {
        replacement_log = (replacement_log as f64 + (log(counts[other as usize] + count) - log_sum as f64)) as f32;
    }
    weight * (own - replacement_log)
}

/// Finds the replacement of each piece.
fn find_replacements(
    pieces: &ScoredPieces,
    version: SentencePieceVersion,
    workers: &mut Workers,
) -> Result<Vec<Replacement>> {
    let mut all: Vec<Replacement> = (0..pieces.len()).map(|_| Replacement::Impossible).checked_collect();
    let items = all.chunks_mut(PIECES_PER_ITEM).enumerate().checked_collect();
    workers.run("pruning", items, |(item, slots): (usize, &mut [Replacement])| {
        let mut search = ReplacementSearch::default();
        for (i, slot) in slots.iter_mut().enumerate() {
            *slot = search.replacement(pieces, item * PIECES_PER_ITEM + i, version);
        }
    })?;
    Ok(all)
}

/// The number of pieces that a thread processes as one item of work.
const PIECES_PER_ITEM: usize = 4096;

fn best_counts(pieces: &ScoredPieces, lanes: &[WordLane], workers: &mut Workers) -> Result<BestPieceCounts> {
    let sums = run_in_lanes(lanes.len(), workers, "pruning", |lane| {
        let mut lattice = WordLattice::default();
        let mut counts = memory::zeroed::<f32>(pieces.len());
        lanes[lane].each(|count, chars, nodes| {
            lattice.load(pieces, chars, nodes);
            lattice.best(nodes, None).0.for_each(|node| counts[nodes[node].piece()] += count);
        });
        counts
    })?;
    Ok(BestPieceCounts { pieces: add_up_lanes(sums), weights: Vec::new() })
}

/// Counts pieces as 0.2.1 does. The weights are added up in the order of the lanes, so one thread computes all of them.
fn best_counts_in_order(pieces: &ScoredPieces, lanes: &[WordLane], workers: &mut Workers) -> Result<BestPieceCounts> {
    let mut lattice = WordLattice::default();
    let mut sums = Vec::new();
    let mut weights = memory::zeroed::<f32>(pieces.len());
    let mut weight_sum = 0f32;
    for (done, lane) in lanes.iter().enumerate() {
        let mut counts = memory::zeroed::<f32>(pieces.len());
        let mut sum = 0f32;
        lane.each(|count, chars, nodes| {
            sum += count;
            lattice.load(pieces, chars, nodes);
            for node in lattice.best(nodes, None).0 {
                counts[nodes[node].piece()] += count;
                weights[nodes[node].piece()] += count;
            }
        });
        sums.checked_push(counts);
        weight_sum += sum;
        workers.progress.report("pruning", done as u64 + 1, lanes.len() as u64)?;
    }
    weights.iter_mut().for_each(|weight| *weight /= weight_sum);
    Ok(BestPieceCounts { pieces: add_up_lanes(sums), weights })
}

/// Returns the pieces whose own text has no better segmentation.
pub fn reachable(pieces: &ScoredPieces) -> Vec<(u32, f32)> {
    let (mut lattice, mut nodes) = (WordLattice::default(), Vec::new());
    let is_reachable = |&id: &u32| {
        lattice.fill(pieces, pieces.text(id as usize), &mut nodes);
        let own_node = nodes.iter().position(|node| node.chars() as usize == lattice.len());
        lattice.best(&nodes, own_node).1 <= pieces.score(id)
    };
    (0..pieces.len() as u32).filter(is_reachable).map(|id| (id, pieces.score(id))).checked_collect()
}
