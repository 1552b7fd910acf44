//! Removes the pieces whose removal makes the texts least unlikely.
//!
//! Reference: the trainer's `prune_sentence_pieces`. The loss of a piece is estimated: all its occurrences in the best
//! segmentations are replaced by the best other segmentation of the piece itself.

use polytok_memory::{self as memory, Collect, Grow};

use super::Training;
use super::lattice::Lattice;
use crate::error::Result;

/// What happens to a piece.
enum Decision {
    Keep,
    Remove,
    /// Keep the pieces whose removal loses most.
    Compare(f64),
}

/// Returns the pieces that remain, with their scores: those that are not compared, then those with the greatest losses,
/// until there are `most_pieces` or the share that `shrinking_factor` keeps, whichever is more.
pub fn prune(training: &mut Training, most_pieces: usize) -> Result<Vec<(u32, f64)>> {
    let used = Usage::count(training)?;
    let pieces = &training.pieces;
    let mut lattice = Lattice::default();
    let (mut kept, mut compared): (Vec<u32>, Vec<(u32, f64)>) = (Vec::new(), Vec::new());
    for id in 0..pieces.len() {
        lattice.fill(pieces, pieces.text(id));
        match used.decide(id, lattice.alternative_to_whole()) {
            Decision::Keep => kept.checked_push(id as u32),
            Decision::Remove => (),
            Decision::Compare(loss) => compared.checked_push((id as u32, loss)),
        }
    }
    // The reference counts a piece for unknown text too.
    let share = (training.options.shrinking_factor * (pieces.len() + 1) as f64) as usize;
    let size = most_pieces.max(share.saturating_sub(1));
    memory::sort_stably(&mut compared, |(_, a), (_, b)| b.total_cmp(a));
    // If already more pieces are kept than requested, the reference keeps the others too.
    compared.truncate(size.checked_sub(kept.len()).unwrap_or(usize::MAX));
    kept.checked_extend(compared.iter().map(|&(id, _)| id));
    Ok(kept.into_iter().map(|id| (id, pieces.score(id as usize))).checked_collect())
}

/// How often pieces are used in the best segmentations of all words.
struct Usage {
    /// The counts of all pieces, and then that of characters that are not pieces.
    counts: Vec<f64>,
    /// The sum of the counts.
    sum: f64,
    /// The number of words.
    words: f64,
}

impl Usage {
    fn count(training: &mut Training) -> Result<Usage> {
        let add = |lattice: &mut Lattice, count, counts: &mut [f64]| lattice.for_each_best(|id| counts[id] += count);
        let counts = training.sum("pruning", add)?;
        let words = training.words.iter().map(|(_, count)| count as f64).sum();
        Ok(Usage { sum: counts.iter().sum(), counts, words })
    }

    /// Decides about a piece; `alternative` is the result of [`Lattice::alternative_to_whole`] for its text.
    fn decide(&self, id: usize, alternative: Option<Vec<usize>>) -> Decision {
        let count = self.counts[id];
        match alternative {
            Some(ids) if ids.is_empty() => Decision::Keep,
            Some(ids) if count > 0.0 => Decision::Compare(self.loss(count, &ids)),
            None if count > 0.0 => Decision::Keep,
            _ => Decision::Remove,
        }
    }

    /// Returns the loss of likelihood if other pieces replace a piece that is used `count` times. The reference adds
    /// `count` to the sum once for each piece of the vocabulary, not once for each of the others.
    fn loss(&self, count: f64, others: &[usize]) -> f64 {
        let log_probability = count.ln() - self.sum.ln();
        let pieces = self.counts.len() - 1;
        let log_sum = (self.sum + count * pieces as f64).ln();
        let alternative = others.iter().rev().fold(0.0, |sum, &id| sum + ((self.counts[id] + count).ln() - log_sum));
        count / self.words * (log_probability - alternative)
    }
}
