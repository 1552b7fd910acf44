//! Expectation and maximization: how often each piece is expected, over all segmentations of all words, and the scores that follow.
//!
//! Reference: the trainer's `RunEStep` and `RunMStep`. Sums are in single precision, and their order shows in the last bits. The
//! reference's `num_threads` threads each take every so manieth word; here they are *lanes*: as many sums as it has threads (16 unless
//! told otherwise), worked off by as many threads as there are. So the result is that of the reference with this number of threads, on
//! any machine.
//!
//! Cost: one lattice per word; four bytes for each piece and lane.

use crate::error::Result;
use crate::spec::Line;
use crate::train::unigram::lattice::Lattice;
use crate::train::unigram::numeric::digamma;
use crate::train::unigram::pieces::Pieces;
use crate::train::unigram::workers::Workers;
use crate::train::words::Words;

/// Pieces that are expected less often leave.
const LEAST_EXPECTED: f32 = 0.5;

/// How often each piece is expected.
pub fn expect(pieces: &Pieces, words: &Words, lanes: usize, line: Line, workers: &mut Workers) -> Result<Vec<f32>> {
    let sums = in_lanes(lanes, workers, "expectation", |lane| {
        let mut lattice = Lattice::default();
        let mut expected = vec![0f32; pieces.len()];
        for index in (lane..words.len()).step_by(lanes) {
            let count = words.count(index) as f32 as f64;
            lattice.fill(pieces, words.word(index));
            lattice.marginals(line, |id, probability| {
                let sum = &mut expected[id as usize];
                *sum = (*sum as f64 + count * probability) as f32;
            });
        }
        expected
    })?;
    Ok(total(sums))
}

/// What `work` makes of each lane.
pub fn in_lanes<T: Send>(
    lanes: usize,
    workers: &mut Workers,
    stage: &'static str,
    work: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>> {
    let mut results: Vec<Option<T>> = (0..lanes).map(|_| None).collect();
    workers.run(stage, results.iter_mut().enumerate().collect(), |(lane, result)| *result = Some(work(lane)))?;
    Ok(results.into_iter().flatten().collect())
}

/// The lanes' sums, added in their order.
pub fn total(sums: Vec<Vec<f32>>) -> Vec<f32> {
    let mut sums = sums.into_iter();
    let mut total = sums.next().unwrap_or_default();
    for lane in sums {
        total.iter_mut().zip(&lane).for_each(|(sum, one)| *sum += one);
    }
    total
}

/// The pieces that are expected often enough, with their new scores: the digamma function in place of the logarithm, a prior that
/// favours few pieces.
pub fn maximize(expected: &[f32]) -> Vec<(u32, f32)> {
    let kept = || expected.iter().enumerate().filter(|&(_, &expected)| expected >= LEAST_EXPECTED);
    let sum = kept().fold(0f32, |sum, (_, expected)| sum + expected);
    let log = digamma(sum as f64) as f32;
    kept().map(|(id, &expected)| (id as u32, (digamma(expected as f64) - log as f64) as f32)).collect()
}
