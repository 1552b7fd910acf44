//! Chooses the seeds: all characters, and the substrings that cover most of the distinct words.
//!
//! Reference: the trainer's `make_seed_sentence_pieces`. A substring's rank is the number of its occurrences in distinct
//! words times the number of its characters; of equal ranks, the greater text comes first. A substring is a candidate
//! only if its occurrences are followed by different characters, where every end of a word is the same character.
//!
//! Cost: that of `unigram::suffixes`, and 24 bytes for each candidate.

use std::collections::HashMap;

use polytok_memory::{self as memory, Collect, Grow};

use super::HuggingFaceUnigramOptions;
use crate::error::{Error, Result};
use crate::spec::SentencePieceVersion;
use crate::train::unigram::suffixes::{Fragments, Interval, IntervalRules};
use crate::train::unigram::workers::Workers;
use crate::train::words::WordCounts;

/// The end of a word in the text whose suffixes are sorted. Words that contain it are divided by it.
const WORD_END: u8 = 0;

/// The maximum of `max_piece_length` for words that are longer than this number.
const LONGEST_PIECE: usize = 1024;

/// Returns the texts and scores of the seeds.
pub fn find_seeds(
    words: &WordCounts,
    options: &HuggingFaceUnigramOptions,
    workers: &mut Workers,
) -> Result<(WordCounts, Vec<f64>)> {
    let characters = characters(words);
    let longest_piece = longest_piece(words, options.max_piece_length)?;
    let mut fragments = Fragments::default();
    for (word, _) in words.iter() {
        let parts = word.split(|&byte| byte == WORD_END).filter(|part| !part.is_empty());
        parts.into_iter().try_for_each(|part| fragments.push(part, &[WORD_END], 1))?;
    }
    let rules = IntervalRules { limit: 4 * longest_piece as u32 + 2, version: SentencePieceVersion::V0_2_1 };
    let candidates = fragments.intervals(rules, workers, |fragments, intervals| {
        intervals.filter_map(|interval| rank(fragments, interval, longest_piece)).checked_collect()
    })?;
    let mut candidates: Vec<(u64, Interval)> = candidates.into_iter().flatten().checked_collect();
    memory::sort_stably(&mut candidates, |a, b| (b.0, fragments.text(&b.1)).cmp(&(a.0, fragments.text(&a.1))));
    // The reference compares the number of seeds with the limit after it has added a substring.
    candidates.truncate(options.seed_size.saturating_sub(characters.len()).max(1));
    let mut texts = WordCounts::default();
    let mut counts = memory::with_capacity(characters.len() + candidates.len());
    for (char, count) in characters {
        texts.push(char.encode_utf8(&mut [0; 4]).as_bytes(), 0);
        counts.checked_push(count as f64);
    }
    for (rank, interval) in &candidates {
        texts.push(fragments.text(interval), 0);
        counts.checked_push(*rank as f64);
    }
    let log = counts.iter().sum::<f64>().ln();
    Ok((texts, counts.iter().map(|count| count.ln() - log).checked_collect()))
}

/// Returns the characters with their counts, the most frequent first.
fn characters(words: &WordCounts) -> Vec<(char, u64)> {
    let mut counts: HashMap<char, u64> = HashMap::new();
    for (word, times) in words.iter() {
        for char in String::from_utf8_lossy(word).chars().filter(|&char| char != WORD_END as char) {
            let count = counts.entry(char).or_default();
            *count = count.saturating_add(times);
        }
    }
    let mut characters: Vec<(char, u64)> = counts.into_iter().checked_collect();
    memory::sort_stably(&mut characters, |a, b| (b.1, b.0).cmp(&(a.1, a.0)));
    characters
}

/// Returns the maximum number of characters of a piece, which is at most that of a word.
fn longest_piece(words: &WordCounts, max_piece_length: usize) -> Result<usize> {
    let longest_word = words.iter().map(|(word, _)| word.len()).max().unwrap_or(0);
    let longest_piece = max_piece_length.min(longest_word);
    if longest_piece > LONGEST_PIECE {
        return Err(Error::Argument(format!(
            "max_piece_length is {max_piece_length}, and a word has {longest_word} bytes; set max_piece_length to at \
             most {LONGEST_PIECE}, or split the texts into shorter words with a pre-tokenizer"
        )));
    }
    Ok(longest_piece)
}

/// Returns the rank of a substring, or `None` if it cannot be a seed.
fn rank(fragments: &Fragments, interval: Interval, longest_piece: usize) -> Option<(u64, Interval)> {
    let text = std::str::from_utf8(fragments.text(&interval)).ok()?;
    let chars = text.chars().count();
    let is_candidate = (2..=longest_piece).contains(&chars) && interval.count >= 2 && !text.contains(WORD_END as char);
    is_candidate.then(|| (interval.count * chars as u64, interval))
}
