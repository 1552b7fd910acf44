//! The pieces that training starts from: all characters of the alphabet and the substrings that cover most of the corpus.
//!
//! Reference: the trainer's `MakeSeedSentencePieces`. A substring counts for its occurrences times its characters; only substrings that
//! are followed by two different things are looked at, for any other has a longer one that occurs as often. 0.2.1 breaks ties by the
//! order in which intervals close, 0.2.3 by length and text.
//!
//! Cost: that of `suffixes`; memory for a few times as many candidates as there will be seeds.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::error::Result;
use crate::spec::Line;
use crate::train::sentencepiece::options::Options;
use crate::train::sentencepiece::validity::Validity;
use crate::train::unigram::suffixes::{Depth, Fragments, Interval};
use crate::train::unigram::workers::Workers;
use crate::train::words::WordCounts;

/// A substring with what it is chosen by.
#[derive(Clone, Copy)]
struct Candidate {
    interval: Interval,
    /// Occurrences times characters, in single precision in 0.2.3, as bits that compare like the numbers.
    rank: u64,
}

/// Texts and scores of the seeds: the characters, and at most so many substrings.
pub fn found(
    characters: &[(char, u64)],
    mut fragments: Fragments,
    size: usize,
    options: &Options,
    workers: &mut Workers,
) -> Result<(WordCounts, Vec<f32>)> {
    let (line, longest) = (options.line, options.max_sentencepiece_length);
    let validity = Validity::new(options)?;
    let depth = Depth { limit: 4 * longest as u32 + 2, line };
    let found = fragments.intervals(depth, workers, |fragments, intervals| {
        let mut chars = Vec::new();
        let candidates = intervals.filter_map(|interval| {
            let text = std::str::from_utf8(fragments.text(&interval)).ok()?;
            chars.clear();
            chars.extend(text.chars());
            let fits = chars.len() >= 2 && interval.count >= 2 && validity.is_valid(&chars);
            fits.then(|| Candidate { interval, rank: rank(interval.count, chars.len(), line) })
        });
        best(fragments, candidates, size, line)
    })?;
    let best = best(&fragments, found.into_iter().flatten(), size, line);
    let mut texts = WordCounts::default();
    let mut scores = Vec::with_capacity(characters.len() + best.len());
    for &(char, count) in characters {
        texts.push(char.encode_utf8(&mut [0; 4]).as_bytes(), 0);
        scores.push(count as f32);
    }
    for candidate in &best {
        texts.push(fragments.text(&candidate.interval), 0);
        scores.push(score(candidate.rank, line));
    }
    to_logs(&mut scores, line);
    Ok((texts, scores))
}

/// Texts and scores of the seeds where the substrings are given with their counts: of these and the characters at most so many, the
/// best first. 0.2.1 takes the best; 0.2.3 takes all characters, then substrings as they come, each once.
pub fn given(
    characters: &[(char, u64)],
    substrings: &WordCounts,
    size: usize,
    options: &Options,
) -> Result<(WordCounts, Vec<f32>)> {
    let (line, validity) = (options.line, Validity::new(options)?);
    let singles = characters.iter().map(|&(char, count)| (char.to_string(), rank(count, 1, line)));
    let mut all: Vec<(String, u64)> = singles.collect();
    for (text, count) in substrings.iter() {
        let text = String::from_utf8_lossy(text).into_owned();
        let chars: Vec<char> = text.chars().collect();
        if !chars.is_empty() && validity.is_valid(&chars) {
            all.push((text, rank(count, chars.len(), line)));
        }
    }
    if line == Line::V0_2_3 {
        let mut seen = HashSet::new();
        all.retain(|(text, _)| seen.insert(text.clone()));
        all.truncate(size.max(characters.len()));
    }
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    if line == Line::V0_2_1 {
        all.truncate(size);
    }
    let mut texts = WordCounts::default();
    all.iter().for_each(|(text, _)| texts.push(text.as_bytes(), 0));
    let mut scores = all.iter().map(|&(_, rank)| score(rank, line)).collect::<Vec<f32>>();
    to_logs(&mut scores, line);
    Ok((texts, scores))
}

fn rank(count: u64, chars: usize, line: Line) -> u64 {
    match line {
        Line::V0_2_1 => count.saturating_mul(chars as u64),
        Line::V0_2_3 => (count as f32 * chars as f32).to_bits() as u64,
    }
}

fn score(rank: u64, line: Line) -> f32 {
    match line {
        Line::V0_2_1 => rank as f32,
        Line::V0_2_3 => f32::from_bits(rank as u32),
    }
}

/// The best candidates, best first.
fn best(fragments: &Fragments, candidates: impl Iterator<Item = Candidate>, size: usize, line: Line) -> Vec<Candidate> {
    let compare = |a: &(usize, Candidate), b: &(usize, Candidate)| order(fragments, a, b, line);
    let mut best: Vec<(usize, Candidate)> = Vec::new();
    for candidate in candidates.enumerate() {
        best.push(candidate);
        if best.len() > 4 * size.max(1 << 10) {
            best.select_nth_unstable_by(size, compare);
            best.truncate(size);
        }
    }
    best.sort_unstable_by(compare);
    best.truncate(size);
    best.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Candidates are numbered in the order in which their intervals closed.
fn order(fragments: &Fragments, a: &(usize, Candidate), b: &(usize, Candidate), line: Line) -> Ordering {
    let by_rank = b.1.rank.cmp(&a.1.rank);
    match line {
        Line::V0_2_1 => by_rank.then(a.0.cmp(&b.0)),
        Line::V0_2_3 => {
            let (x, y) = (&a.1.interval, &b.1.interval);
            by_rank.then(y.len.cmp(&x.len)).then_with(|| fragments.text(x).cmp(fragments.text(y)))
        }
    }
}

/// Scores to logarithms of their shares.
fn to_logs(scores: &mut [f32], line: Line) {
    match line {
        Line::V0_2_1 => {
            let sum = scores.iter().fold(0f32, |sum, score| sum + score);
            let log = (sum as f64).ln() as f32;
            scores.iter_mut().for_each(|score| *score = ((*score as f64).ln() - log as f64) as f32);
        }
        Line::V0_2_3 => {
            let log = scores.iter().fold(0f64, |sum, &score| sum + score as f64).ln();
            scores.iter_mut().for_each(|score| *score = ((*score as f64).ln() - log) as f32);
        }
    }
}
