//! Chooses the seeds, the pieces that training starts from: all characters of the alphabet, and the substrings that
//! cover most of the corpus.
//!
//! Reference: the trainer's `MakeSeedSentencePieces`. A substring's rank is the number of its occurrences times the
//! number of its characters. A substring is a candidate only if its occurrences are followed by different characters,
//! because otherwise a longer substring occurs equally often. Of candidates with equal ranks, 0.2.1 prefers the one
//! whose interval (see `suffixes`) closes first. 0.2.3 prefers longer substrings, then compares texts.
//!
//! Cost: that of `suffixes`, and memory for up to four candidates for each seed.

use std::cmp::Ordering;
use std::collections::HashSet;

use polytok_memory::{self as memory, Collect, Grow, GrowSet};

use crate::error::Result;
use crate::spec::SentencePieceVersion;
use crate::train::sentencepiece::options::SentencePieceOptions;
use crate::train::sentencepiece::validity::Validity;
use crate::train::unigram::suffixes::{Fragments, Interval, IntervalRules};
use crate::train::unigram::workers::Workers;
use crate::train::words::WordCounts;

/// A substring with its rank.
#[derive(Clone, Copy)]
struct SeedCandidate {
    interval: Interval,
    /// The number of occurrences times the number of characters, encoded as bits that compare like the products. In
    /// 0.2.3 the product has single precision.
    rank: u64,
}

/// Returns the texts and scores of the seeds: all characters, and at most `size` substrings of the fragments.
pub fn find_seeds(
    characters: &[(char, u64)],
    mut fragments: Fragments,
    size: usize,
    options: &SentencePieceOptions,
    workers: &mut Workers,
) -> Result<(WordCounts, Vec<f32>)> {
    let (version, max_chars) = (options.version, options.max_sentencepiece_length);
    let validity = Validity::new(options)?;
    let rules = IntervalRules { limit: 4 * max_chars as u32 + 2, version };
    let candidates = fragments.intervals(rules, workers, |fragments, intervals| {
        let mut chars = Vec::new();
        let candidates = intervals.filter_map(|interval| {
            let text = std::str::from_utf8(fragments.text(&interval)).ok()?;
            chars.clear();
            chars.checked_extend(text.chars());
            let fits = chars.len() >= 2 && interval.count >= 2 && validity.is_valid(&chars);
            fits.then(|| SeedCandidate { interval, rank: rank(interval.count, chars.len(), version) })
        });
        best_candidates(fragments, candidates, size, version)
    })?;
    let best = best_candidates(&fragments, candidates.into_iter().flatten(), size, version);
    let mut texts = WordCounts::default();
    let mut scores = memory::with_capacity(characters.len() + best.len());
    for &(char, count) in characters {
        texts.push(char.encode_utf8(&mut [0; 4]).as_bytes(), 0);
        scores.checked_push(count as f32);
    }
    for candidate in &best {
        texts.push(fragments.text(&candidate.interval), 0);
        scores.checked_push(score(candidate.rank, version));
    }
    convert_to_logs(&mut scores, version);
    Ok((texts, scores))
}

/// Returns the texts and scores of the seeds from a list of substrings with their counts. Version 0.2.1 takes the best
/// `size` characters and substrings. Version 0.2.3 takes all characters, then distinct substrings in the order of the
/// list, up to `size` seeds.
pub fn seeds_from_list(
    characters: &[(char, u64)],
    substrings: &WordCounts,
    size: usize,
    options: &SentencePieceOptions,
) -> Result<(WordCounts, Vec<f32>)> {
    let (version, validity) = (options.version, Validity::new(options)?);
    let single_chars = characters.iter().map(|&(char, count)| (char.to_string(), rank(count, 1, version)));
    let mut seeds: Vec<(String, u64)> = single_chars.checked_collect();
    for (text, count) in substrings.iter() {
        let text = String::from_utf8_lossy(text).into_owned();
        let chars: Vec<char> = text.chars().checked_collect();
        if !chars.is_empty() && validity.is_valid(&chars) {
            seeds.checked_push((text, rank(count, chars.len(), version)));
        }
    }
    if version == SentencePieceVersion::V0_2_3 {
        let mut seen_texts = HashSet::new();
        seeds.retain(|(text, _)| seen_texts.checked_insert(text.clone()));
        seeds.truncate(size.max(characters.len()));
    }
    seeds.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    if version == SentencePieceVersion::V0_2_1 {
        seeds.truncate(size);
    }
    let mut texts = WordCounts::default();
    seeds.iter().for_each(|(text, _)| texts.push(text.as_bytes(), 0));
    let mut scores = seeds.iter().map(|&(_, rank)| score(rank, version)).checked_collect();
    convert_to_logs(&mut scores, version);
    Ok((texts, scores))
}

fn rank(count: u64, chars: usize, version: SentencePieceVersion) -> u64 {
    match version {
        SentencePieceVersion::V0_2_1 => count.saturating_mul(chars as u64),
        SentencePieceVersion::V0_2_3 => (count as f32 * chars as f32).to_bits() as u64,
    }
}

fn score(rank: u64, version: SentencePieceVersion) -> f32 {
    match version {
        SentencePieceVersion::V0_2_1 => rank as f32,
        SentencePieceVersion::V0_2_3 => f32::from_bits(rank as u32),
    }
}

/// Returns the best `size` candidates, the best first.
fn best_candidates(
    fragments: &Fragments,
    candidates: impl Iterator<Item = SeedCandidate>,
    size: usize,
    version: SentencePieceVersion,
) -> Vec<SeedCandidate> {
    let compare = |a: &(usize, SeedCandidate), b: &(usize, SeedCandidate)| compare_candidates(fragments, a, b, version);
    let mut best_candidates: Vec<(usize, SeedCandidate)> = Vec::new();
    for candidate in candidates.enumerate() {
        best_candidates.checked_push(candidate);
        if best_candidates.len() > 4 * size.max(1 << 10) {
            best_candidates.select_nth_unstable_by(size, compare);
            best_candidates.truncate(size);
        }
    }
    best_candidates.sort_unstable_by(compare);
    best_candidates.truncate(size);
    best_candidates.into_iter().map(|(_, candidate)| candidate).checked_collect()
}

/// Compares two candidates. Each comes with the number of its interval; intervals are numbered in the order in which
/// they close.
fn compare_candidates(
    fragments: &Fragments,
    a: &(usize, SeedCandidate),
    b: &(usize, SeedCandidate),
    version: SentencePieceVersion,
) -> Ordering {
    let by_rank = b.1.rank.cmp(&a.1.rank);
    match version {
        SentencePieceVersion::V0_2_1 => by_rank.then(a.0.cmp(&b.0)),
        SentencePieceVersion::V0_2_3 => {
            let (x, y) = (&a.1.interval, &b.1.interval);
            by_rank.then(y.len.cmp(&x.len)).then_with(|| fragments.text(x).cmp(fragments.text(y)))
        }
    }
}

/// Divides scores by their sum, and replaces them by the logarithms.
fn convert_to_logs(scores: &mut [f32], version: SentencePieceVersion) {
    match version {
        SentencePieceVersion::V0_2_1 => {
            let sum = scores.iter().fold(0f32, |sum, score| sum + score);
            let log = (sum as f64).ln() as f32;
            scores.iter_mut().for_each(|score| *score = ((*score as f64).ln() - log as f64) as f32);
        }
        SentencePieceVersion::V0_2_3 => {
            let log = scores.iter().fold(0f64, |sum, &score| sum + score as f64).ln();
            scores.iter_mut().for_each(|score| *score = ((*score as f64).ln() - log) as f32);
        }
    }
}
