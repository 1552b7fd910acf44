//! Pruning: which pieces the corpus misses least.
//!
//! Reference: the trainer's `PruneSentencePieces`. A piece that leaves is replaced wherever it stood by the second best segmentation of
//! its own text; the loss in likelihood is estimated from the counts of the best segmentations of all words. Pieces without another
//! segmentation stay; pieces that do not occur, or whose own best segmentation is another, leave at once. In 0.2.1 the loss is weighted
//! by the counts of the words in which a piece stands, summed in the order of the lanes; in 0.2.3 by the piece's own count.
//!
//! 0.2.3 ends with pieces that can never come out: those beaten by another segmentation of their own text.
//!
//! Cost: one lattice per word and one per piece.

use crate::error::Result;
use crate::spec::Line;
use crate::train::unigram::lanes::{Lane, in_lanes, total};
use crate::train::unigram::lattice::Lattice;
use crate::train::unigram::pieces::Pieces;
use crate::train::unigram::second::{Search, Without};
use crate::train::unigram::workers::Workers;

/// The best segmentations of all words, counted.
struct Counts {
    /// How often each piece stands in them.
    pieces: Vec<f32>,
    /// How much each piece counts in the estimate of the loss.
    weights: Vec<f32>,
}

/// The `target` pieces whose absence would cost most, and those that must stay.
pub fn prune(
    pieces: &Pieces,
    lanes: &[Lane],
    line: Line,
    target: usize,
    workers: &mut Workers,
) -> Result<Vec<(u32, f32)>> {
    let without = replacements(pieces, line, workers)?;
    let counts = match line {
        Line::V0_2_1 => counts_in_order(pieces, lanes, workers)?,
        Line::V0_2_3 => counts(pieces, lanes, workers)?,
    };
    let sum = counts.pieces.iter().fold(0f64, |sum, &count| sum + count as f64) as f32;
    let (mut kept, mut candidates) = (Vec::new(), Vec::new());
    for (id, without) in without.iter().enumerate().filter(|&(id, _)| counts.pieces[id] != 0.0) {
        match without {
            Without::Nothing => kept.push(id as u32),
            Without::Better => {}
            Without::Pieces(others) => {
                let weight = if line == Line::V0_2_1 { counts.weights[id] } else { counts.pieces[id] / sum };
                candidates.push((loss(&counts.pieces, sum, id, weight, others), id as u32));
            }
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let room = target.saturating_sub(kept.len());
    kept.extend(candidates.iter().take(room).map(|&(_, id)| id));
    Ok(kept.iter().map(|&id| (id, pieces.scores[id as usize])).collect())
}

/// The estimated loss if `others` took a piece's place.
fn loss(counts: &[f32], sum: f32, id: usize, weight: f32, others: &[u32]) -> f32 {
    let log = |x: f32| (x as f64).ln();
    let count = counts[id];
    let own = (log(count) - log(sum) as f32 as f64) as f32;
    let log_sum = log(sum + count * (others.len() as f32 - 1.0)) as f32;
    let mut alternative = 0f32;
    for &other in others {
        alternative = (alternative as f64 + (log(counts[other as usize] + count) - log_sum as f64)) as f32;
    }
    weight * (own - alternative)
}

/// The second best segmentation of each piece's text.
fn replacements(pieces: &Pieces, line: Line, workers: &mut Workers) -> Result<Vec<Without>> {
    let mut all: Vec<Without> = (0..pieces.len()).map(|_| Without::Nothing).collect();
    let chunks = all.chunks_mut(CHUNK).enumerate().collect();
    workers.run("pruning", chunks, |(chunk, places): (usize, &mut [Without])| {
        let mut search = Search::default();
        for (i, place) in places.iter_mut().enumerate() {
            *place = search.without(pieces, chunk * CHUNK + i, line);
        }
    })?;
    Ok(all)
}

/// So many pieces are looked at in one go.
const CHUNK: usize = 4096;

fn counts(pieces: &Pieces, lanes: &[Lane], workers: &mut Workers) -> Result<Counts> {
    let sums = in_lanes(lanes.len(), workers, "pruning", |lane| {
        let mut lattice = Lattice::default();
        let mut counts = vec![0f32; pieces.len()];
        lanes[lane].each(|count, chars, nodes| {
            lattice.load(pieces, chars, nodes);
            lattice.best(nodes, None).0.for_each(|node| counts[nodes[node].piece()] += count);
        });
        counts
    })?;
    Ok(Counts { pieces: total(sums), weights: Vec::new() })
}

/// The counts of 0.2.1, whose weights are sums over the lanes one after the other, so that one thread makes them.
fn counts_in_order(pieces: &Pieces, lanes: &[Lane], workers: &mut Workers) -> Result<Counts> {
    let mut lattice = Lattice::default();
    let mut sums = Vec::new();
    let mut weights = vec![0f32; pieces.len()];
    let mut all = 0f32;
    for (done, lane) in lanes.iter().enumerate() {
        let mut counts = vec![0f32; pieces.len()];
        let mut sum = 0f32;
        lane.each(|count, chars, nodes| {
            sum += count;
            lattice.load(pieces, chars, nodes);
            for node in lattice.best(nodes, None).0 {
                counts[nodes[node].piece()] += count;
                weights[nodes[node].piece()] += count;
            }
        });
        sums.push(counts);
        all += sum;
        workers.progress.report("pruning", done as u64 + 1, lanes.len() as u64)?;
    }
    weights.iter_mut().for_each(|weight| *weight /= all);
    Ok(Counts { pieces: total(sums), weights })
}

/// The pieces that are not beaten by another segmentation of their own text.
pub fn reachable(pieces: &Pieces) -> Vec<(u32, f32)> {
    let (mut lattice, mut nodes) = (Lattice::default(), Vec::new());
    let is_reachable = |&id: &u32| {
        lattice.fill(pieces, pieces.text(id as usize), &mut nodes);
        let own = nodes.iter().position(|node| node.chars() as usize == lattice.len());
        lattice.best(&nodes, own).1 <= pieces.score(id)
    };
    (0..pieces.len() as u32).filter(is_reachable).map(|id| (id, pieces.score(id))).collect()
}
