//! Random segmentations under a Unigram model: subword regularization.
//!
//! Reference: SentencePiece's `SampleEncode`, `SampleEncodeAndScore` and `CalculateEntropy`. SentencePiece 0.2.3
//! removed the last two functions; polytok has all three for both releases. A segmentation has probability proportional
//! to exp(alpha × score). With replacement, a segmentation is drawn piece by piece from the end, each piece in
//! proportion to the forward sums (forward filtering, backward sampling). Without replacement, the A* search of `nbest`
//! runs on scores with added Gumbel noise, so that the first k paths of the search are k draws without replacement
//! (Kool, van Hoof and Welling, "Stochastic Beams and Where to Find Them", 2019).
//!
//! Cost: one pass over the lattice for each draw; one search for all draws without replacement.

use polytok_memory::{Collect, Grow};

use crate::error::{Error, Result};
use crate::model::unigram::lattice::{Lattice, START_NODE};
use crate::model::unigram::nbest::{Hypothesis, NodePath, ScoredSegmentation, SearchStrategy, search};
use crate::model::unigram::{Unigram, UnigramScratch};
use crate::rng::Rng;
use crate::segment::Segment;
use crate::spec::SentencePieceVersion;

/// The largest number of segmentations that one call draws, which limits the memory of the call.
const MAX_SAMPLES: usize = 1 << 16;

/// The largest number of best segmentations from which [`Unigram::sample`] draws.
const MAX_SAMPLED_NBEST: i32 = 512;

/// The options of [`Unigram::sample_with_score`].
#[derive(Clone, Copy, Debug)]
pub struct SampleOptions {
    /// The number of segmentations.
    pub num_samples: usize,
    /// The factor by which scores are multiplied: with 0 all segmentations are equally likely; a larger factor favours
    /// high scores.
    pub alpha: f32,
    /// True if no segmentation is drawn twice.
    pub without_replacement: bool,
    /// True if the first result is the best segmentation, with score 0; needs `without_replacement`.
    pub include_best: bool,
}

impl Unigram {
    /// Returns one random segmentation. A negative `nbest_size` draws from all segmentations, 2 to 512 draws from the
    /// `nbest_size` best, and 0 or 1 returns the best segmentation.
    pub fn sample(&self, norm: &[u8], nbest_size: i32, alpha: f32, rng: &mut Rng) -> Result<Vec<Segment>> {
        self.check_alpha(alpha)?;
        if nbest_size > MAX_SAMPLED_NBEST {
            return Err(Error::Argument(format!("nbest_size is {nbest_size}, the most is {MAX_SAMPLED_NBEST}")));
        }
        if nbest_size > 1 {
            let mut nbest = self.nbest(norm, nbest_size as usize)?;
            let log_weights: Vec<f64> = nbest.iter().map(|(_, score)| (alpha * score) as f64).checked_collect();
            return Ok(nbest.swap_remove(rng.draw(&log_weights)).0);
        }
        if nbest_size >= 0 || norm.is_empty() {
            let mut best = Vec::new();
            self.segment(norm, &mut UnigramScratch::default(), &mut |segment| {
                best.checked_push(segment);
                Ok(())
            })?;
            return Ok(best);
        }
        let lattice = Lattice::new(self, norm);
        let path = draw_path(&lattice, &lattice.forward(alpha), alpha, rng);
        Ok(lattice.segments(&path))
    }

    /// Returns random segmentations with scores; an empty text has no segmentations. With replacement, a score is the
    /// logarithm of the probability of the segmentation. Without replacement, a score is the logarithm of the
    /// probability that the segmentation is among the draws. The last draw only sets the threshold of the scores, so at
    /// least one segmentation of the text is never returned.
    pub fn sample_with_score(
        &self,
        norm: &[u8],
        options: SampleOptions,
        rng: &mut Rng,
    ) -> Result<Vec<ScoredSegmentation>> {
        self.check_alpha(options.alpha)?;
        if options.num_samples > MAX_SAMPLES {
            return Err(Error::Argument(format!("num_samples is {}, the most is {MAX_SAMPLES}", options.num_samples)));
        }
        if options.include_best && !options.without_replacement {
            return Err(Error::Argument("include_best needs sampling without replacement".into()));
        }
        if norm.is_empty() {
            return Ok(Vec::new());
        }
        let lattice = Lattice::new(self, norm);
        let sampler = PathSampler { lattice: &lattice, forward: lattice.forward(options.alpha), alpha: options.alpha };
        let paths = match options.without_replacement {
            true => sampler.draw_without_replacement(options, rng)?,
            false => sampler.draw_with_replacement(options.num_samples, rng),
        };
        Ok(paths.into_iter().map(|(path, score)| (lattice.segments(&path), score)).checked_collect())
    }

    /// Returns the entropy in nats of the segmentations of `norm`; -0 for an empty text, like the reference.
    pub fn entropy(&self, norm: &[u8], alpha: f32) -> Result<f32> {
        self.check_alpha(alpha)?;
        Ok(Lattice::new(self, norm).entropy(alpha))
    }

    fn check_alpha(&self, alpha: f32) -> Result<()> {
        if !alpha.is_finite() || (self.version == SentencePieceVersion::V0_2_3 && alpha < 0.0) {
            return Err(Error::Argument(format!("alpha is {alpha}; it must be finite and not negative")));
        }
        Ok(())
    }
}

/// Draws a path from the end, each piece in proportion to the sum of all paths through the piece. Returns the nodes
/// from left to right.
fn draw_path(lattice: &Lattice, forward: &[f32], alpha: f32, rng: &mut Rng) -> Vec<u32> {
    let mut path = Vec::new();
    let mut log_weights = Vec::new();
    let mut node = lattice.end();
    loop {
        let left_nodes = lattice.left_neighbours(node);
        log_weights.clear();
        log_weights.checked_extend(left_nodes.iter().map(|&left| {
            let log_weight = forward[left as usize] + alpha * lattice.nodes[left as usize].score;
            log_weight as f64
        }));
        node = left_nodes[rng.draw(&log_weights)];
        if node == START_NODE {
            break;
        }
        path.checked_push(node);
    }
    path.reverse();
    path
}

/// A lattice and the weights for drawing its paths.
struct PathSampler<'a> {
    lattice: &'a Lattice,
    forward: Vec<f32>,
    alpha: f32,
}

impl PathSampler<'_> {
    fn log_probability(&self, path: &[u32]) -> f32 {
        let score = path.iter().fold(0f32, |sum, &node| sum + self.alpha * self.lattice.nodes[node as usize].score);
        score - self.forward[self.lattice.end() as usize]
    }

    fn draw_with_replacement(&self, num_samples: usize, rng: &mut Rng) -> Vec<NodePath> {
        let draw = |_| {
            let path = draw_path(self.lattice, &self.forward, self.alpha, rng);
            let score = self.log_probability(&path);
            (path, score)
        };
        (0..num_samples).map(draw).checked_collect()
    }

    fn draw_without_replacement(&self, options: SampleOptions, rng: &mut Rng) -> Result<Vec<NodePath>> {
        let strategy = &mut PerturbedSearch { sampler: self, rng };
        // The search has the limits of SentencePiece 0.2.1, because 0.2.3 has no sampling without replacement.
        let paths =
            search(self.lattice, SentencePieceVersion::V0_2_1, options.num_samples.saturating_add(1), strategy)?;
        let mut drawn_paths = paths.unwrap_or_default();
        let mut samples = Vec::new();
        if options.include_best {
            let best = self.lattice.viterbi().path();
            match drawn_paths.iter().position(|(path, _)| *path == best) {
                Some(i) => Some(drawn_paths.remove(i)),
                None => drawn_paths.pop(),
            };
            samples.checked_push((best, 0.0));
        }
        if let Some((_, threshold)) = drawn_paths.pop() {
            samples.checked_extend(drawn_paths.into_iter().map(|(path, _)| {
                let log_probability = self.log_probability(&path);
                (path, log_inclusion_probability(log_probability, threshold))
            }));
        }
        Ok(samples)
    }
}

/// The logarithm of the probability that a path with `log_probability` gets a perturbed score above `threshold`.
fn log_inclusion_probability(log_probability: f32, threshold: f32) -> f32 {
    if log_probability == 0.0 {
        return 0.0; // the path is certain; the reference skips such a path too
    }
    let x = log_probability as f64 - threshold as f64;
    let y = x.exp();
    let log = if x <= -10.0 {
        x - y / 2.0 + y.powi(2) / 24.0 - y.powi(4) / 2880.0 // log(1 - exp(-y)) loses its digits here
    } else {
        (-(-y).exp_m1()).ln()
    };
    log as f32
}

/// Priorities are log probabilities with Gumbel noise; a hypothesis's largest child has the priority of its parent.
struct PerturbedSearch<'a> {
    sampler: &'a PathSampler<'a>,
    rng: &'a mut Rng,
}

impl PerturbedSearch<'_> {
    fn draw_gumbel(&mut self) -> f32 {
        let uniform = (self.rng.uniform() as f32).clamp(1e-7, 1.0 - 1e-7);
        -(-uniform.ln()).ln()
    }
}

impl SearchStrategy for PerturbedSearch<'_> {
    fn root(&mut self) -> (f32, f32) {
        (self.draw_gumbel(), 0.0)
    }

    fn expand(&mut self, parent: &Hypothesis, mut visit: impl FnMut(u32, f32, f32)) {
        let PathSampler { lattice, forward, alpha } = self.sampler;
        let before = lattice.left_neighbours(parent.node);
        let log_total = forward[parent.node as usize];
        let log_probability = |&left: &u32| {
            parent.score + forward[left as usize] + alpha * lattice.nodes[left as usize].score - log_total
        };
        let children: Vec<(f32, f32)> =
            before.iter().map(log_probability).map(|log| (log, log + self.draw_gumbel())).checked_collect();
        let max = children.iter().fold(-1e8f32, |max, &(_, perturbed)| max.max(perturbed));
        for (&left, &(log, perturbed)) in before.iter().zip(&children) {
            // Conditions the children's noise so that the highest child priority is the parent's priority, with the
            // paper's numerically stable formula.
            let v = parent.priority - perturbed + (-(perturbed - max).exp()).ln_1p();
            visit(left, parent.priority - v.max(0.0) - (-v.abs()).exp().ln_1p(), log);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::unigram::tests::{model, show};
    use std::collections::HashMap;

    const PIECES: &str = "a:-1 b:-2 ab:-2.5 ba:-1.5 aba:-3.5";
    const TEXT: &str = "ababa";
    const ALL_VERSIONS: [SentencePieceVersion; 2] = [SentencePieceVersion::V0_2_1, SentencePieceVersion::V0_2_3];

    const NO_SAMPLES: SampleOptions =
        SampleOptions { num_samples: 0, alpha: 0.0, without_replacement: false, include_best: false };

    /// Returns every segmentation with its probability.
    fn segmentation_probabilities(model: &Unigram, alpha: f32) -> HashMap<String, f64> {
        let segmentations = model.nbest(TEXT.as_bytes(), 100).unwrap();
        let weights = segmentations.iter().map(|(path, score)| (show(TEXT, path), (alpha * score).exp() as f64));
        let weights: HashMap<_, _> = weights.collect();
        let total: f64 = weights.values().sum();
        weights.into_iter().map(|(path, weight)| (path, weight / total)).collect()
    }

    #[test]
    fn samples_follow_the_probabilities() {
        const DRAWS: usize = 20_000;
        for (version, alpha, nbest_size) in
            ALL_VERSIONS.iter().flat_map(|&v| [(v, 0.0, -1), (v, 0.7, -1), (v, 0.7, 100)])
        {
            let (model, mut rng) = (model(PIECES, version), Rng::new(1));
            let mut counts = HashMap::new();
            for _ in 0..DRAWS {
                let path = model.sample(TEXT.as_bytes(), nbest_size, alpha, &mut rng).unwrap();
                *counts.entry(show(TEXT, &path)).or_insert(0) += 1;
            }
            for (path, probability) in segmentation_probabilities(&model, alpha) {
                let expected = DRAWS as f64 * probability;
                let deviation = (*counts.get(&path).unwrap_or(&0) as f64 - expected).abs();
                assert!(deviation < 5.0 * expected.sqrt() + 1.0, "{path} {alpha} {nbest_size}: {deviation}");
            }
        }
    }

    #[test]
    fn entropy_and_scores_agree_with_the_enumeration() {
        for version in ALL_VERSIONS {
            let (model, mut rng) = (model(PIECES, version), Rng::new(2));
            let exact_probabilities = segmentation_probabilities(&model, 0.5);
            let entropy: f64 = exact_probabilities.values().map(|p| -p * p.ln()).sum();
            assert!((model.entropy(TEXT.as_bytes(), 0.5).unwrap() as f64 - entropy).abs() < 1e-5);
            let options = SampleOptions { num_samples: 50, alpha: 0.5, ..NO_SAMPLES };
            for (path, score) in model.sample_with_score(TEXT.as_bytes(), options, &mut rng).unwrap() {
                assert!((score as f64 - exact_probabilities[&show(TEXT, &path)].ln()).abs() < 1e-5);
            }
        }
        assert!(model(PIECES, SentencePieceVersion::V0_2_1).entropy(b"", 1.0).unwrap().is_sign_negative());
    }

    #[test]
    fn draws_without_replacement_are_distinct_and_unbiased() {
        let (model, mut rng) = (model(PIECES, SentencePieceVersion::V0_2_1), Rng::new(3));
        let exact_probabilities = segmentation_probabilities(&model, 1.0);
        for include_best in [false, true] {
            let options = SampleOptions { num_samples: 3, alpha: 1.0, without_replacement: true, include_best };
            let mut total = 0.0;
            for _ in 0..4_000 {
                let drawn_paths = model.sample_with_score(TEXT.as_bytes(), options, &mut rng).unwrap();
                let mut paths: Vec<_> = drawn_paths.iter().map(|(path, _)| show(TEXT, path)).collect();
                total += paths
                    .iter()
                    .zip(&drawn_paths)
                    .map(|(p, (_, score))| exact_probabilities[p] / (*score as f64).exp())
                    .sum::<f64>();
                paths.sort();
                paths.dedup();
                assert_eq!(paths.len(), 3);
            }
            assert!((total / 4_000.0 - 1.0).abs() < 0.05, "{total}");
        }
        let draw_all_options =
            SampleOptions { num_samples: 1000, alpha: 1.0, without_replacement: true, include_best: false };
        let drawn_paths = model.sample_with_score(TEXT.as_bytes(), draw_all_options, &mut rng).unwrap();
        assert_eq!(drawn_paths.len(), exact_probabilities.len() - 1);
    }

    #[test]
    fn equal_seeds_draw_equal_samples() {
        let model = model(PIECES, SentencePieceVersion::V0_2_3);
        let draw = |seed| model.sample("ab".repeat(50).as_bytes(), -1, 0.1, &mut Rng::new(seed)).unwrap();
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }

    #[test]
    fn arguments_are_checked() {
        let (model_0_2_3, model_0_2_1, mut rng) =
            (model(PIECES, SentencePieceVersion::V0_2_3), model(PIECES, SentencePieceVersion::V0_2_1), Rng::new(0));
        assert!(model_0_2_3.sample(b"a", 513, 0.1, &mut rng).is_err());
        assert!(model_0_2_1.sample(b"a", 513, 0.1, &mut rng).is_err());
        assert!(model_0_2_3.sample(b"a", -1, -0.1, &mut rng).is_err());
        assert!(model_0_2_1.sample(b"a", -1, -0.1, &mut rng).is_ok());
        assert!(model_0_2_1.sample(b"a", -1, f32::NAN, &mut rng).is_err());
        assert_eq!(model_0_2_3.sample(b"aba", 0, 0.1, &mut rng).unwrap().len(), 2);
        let options = SampleOptions { num_samples: 2, alpha: 1.0, without_replacement: false, include_best: true };
        assert!(model_0_2_1.sample_with_score(b"a", options, &mut rng).is_err());
        let options = SampleOptions { without_replacement: true, ..options };
        assert_eq!(model_0_2_1.sample_with_score(b"", options, &mut rng).unwrap(), []);
        // The text has only one segmentation, the best one, so no other segmentation can be drawn.
        assert_eq!(model_0_2_1.sample_with_score(b"b", options, &mut rng).unwrap().len(), 1);
    }
}
