//! Computes alternative segmentations of a text, as SentencePiece does: the n best, random samples, samples with
//! scores, and the entropy of all segmentations.

use polytok_memory::{self as memory, Grow, TryCollect};

use crate::error::{Error, Result};
use crate::model::CompiledModel;
use crate::model::unigram::sample::SampleOptions;
use crate::post::Out;
use crate::rng::Rng;
use crate::segment::Segment;
use crate::tokenizer::Tokenizer;

/// The largest `nbest_size` that SentencePiece accepts.
const MAX_NBEST: i32 = 512;

impl Tokenizer {
    /// Returns the `n` best segmentations and their scores, the best first (Unigram only).
    pub fn nbest(&self, text: &[u8], n: usize) -> Result<Vec<(Vec<u32>, f32)>> {
        memory::catch(|| {
            let normalized = self.normalized(text)?;
            let segmentations = self.segmenter.model.unigram("nbest")?.nbest(&normalized, n)?;
            segmentations
                .into_iter()
                .map(|scored| Ok((self.ids_of(&normalized, &scored.0)?, scored.1)))
                .checked_try_collect()
        })
    }

    /// Returns one random segmentation. Unigram draws from the `nbest_size` best segmentations, or from all
    /// segmentations if `nbest_size` is negative; the probability of a segmentation is proportional to exp(alpha ·
    /// score). BPE drops each merge with probability `alpha`.
    pub fn sample(&self, text: &[u8], nbest_size: i32, alpha: f32, seed: u64) -> Result<Vec<u32>> {
        memory::catch(|| {
            let normalized = self.normalized(text)?;
            let mut rng = Rng::new(seed);
            let mut segments = Vec::new();
            match &self.segmenter.model {
                CompiledModel::Unigram(unigram) => {
                    segments = unigram.sample(&normalized, nbest_size, alpha, &mut rng)?
                }
                CompiledModel::Bpe(bpe) if self.segmenter.splits.is_empty() => {
                    check_dropout(nbest_size, alpha)?;
                    self.with_scratch(|scratch| {
                        bpe.segment_whole(
                            &normalized,
                            Some((alpha, &mut rng)),
                            &mut scratch.segmenter.model.bpe,
                            &mut |segment| {
                                segments.checked_push(segment);
                                Ok(())
                            },
                        )
                    })?;
                }
                CompiledModel::Bpe(..) => {
                    return Err(wrong_model_error("sample", "Unigram and for BPE without a split pattern"));
                }
                _ => return Err(wrong_model_error("sample", "Unigram and BPE")),
            }
            self.ids_of(&normalized, &segments)
        })
    }

    /// Returns random segmentations with their log probabilities (Unigram only).
    pub fn sample_with_score(&self, text: &[u8], options: SampleOptions, seed: u64) -> Result<Vec<(Vec<u32>, f32)>> {
        memory::catch(|| {
            let normalized = self.normalized(text)?;
            let segmentations = self.segmenter.model.unigram("sample_with_score")?.sample_with_score(
                &normalized,
                options,
                &mut Rng::new(seed),
            )?;
            segmentations
                .into_iter()
                .map(|scored| Ok((self.ids_of(&normalized, &scored.0)?, scored.1)))
                .checked_try_collect()
        })
    }

    /// Returns the entropy of the segmentations in nats (Unigram only).
    pub fn entropy(&self, text: &[u8], alpha: f32) -> Result<f32> {
        memory::catch(|| self.segmenter.model.unigram("entropy")?.entropy(&self.normalized(text)?, alpha))
    }

    fn ids_of(&self, normalized: &[u8], segments: &[Segment]) -> Result<Vec<u32>> {
        let mut ids: Vec<u32> = memory::with_capacity(segments.len());
        let mut out = Out::new(&self.segmenter.fallback, &mut ids);
        segments.iter().try_for_each(|&segment| out.write_segment(normalized, 0, segment))?;
        Ok(ids)
    }
}

fn wrong_model_error(method: &str, models: &str) -> Error {
    Error::Argument(format!("{method} is defined for {models} models only"))
}

fn check_dropout(nbest_size: i32, alpha: f32) -> Result<()> {
    if nbest_size > MAX_NBEST {
        return Err(Error::Argument(format!("nbest_size is {nbest_size}, the most is {MAX_NBEST}")));
    }
    if !alpha.is_finite() {
        return Err(Error::Argument(format!("alpha is {alpha}, which is no probability")));
    }
    Ok(())
}
