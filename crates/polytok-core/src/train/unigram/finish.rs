//! Builds the final vocabulary: the whole alphabet, then the best pieces.
//!
//! Reference: the trainer's `FinalizeSentencePieces`. Training can remove characters. Each of these characters gets the
//! lowest score of all pieces plus a small step; each rarer character gets one more step, so that no two scores are
//! equal.

use std::cmp::Ordering;
use std::collections::HashMap;

use polytok_memory::{self as memory, Collect, Copied, GrowMap};

use crate::train::sentencepiece::ScoredPiece;
use crate::train::sentencepiece::alphabet::Alphabet;
use crate::train::unigram::pieces::ScoredPieces;

/// The difference between the scores of two characters that training has removed.
const LOST_CHAR_STEP: f32 = 0.0001;

/// Returns the best `size` pieces, or all characters of the alphabet if there are more than `size`. The best piece
/// comes first.
pub fn finish(pieces: &ScoredPieces, alphabet: &Alphabet, size: usize) -> Vec<ScoredPiece> {
    let mut trained: Vec<(&[u8], f32)> =
        (0..pieces.len()).map(|id| (pieces.text(id), pieces.scores[id])).checked_collect();
    let scores: HashMap<&[u8], f32> = memory::map(trained.iter().copied());
    let (lowest_score, mut offset) = (pieces.min_score(), 0f32);
    let mut scores_by_text: HashMap<Vec<u8>, f32> = HashMap::new();
    for (char, _) in &alphabet.chars {
        let text = char.to_string().into_bytes();
        let score = scores.get(&text[..]).copied().unwrap_or_else(|| {
            let score = lowest_score + offset;
            offset += LOST_CHAR_STEP;
            score
        });
        scores_by_text.checked_insert(text, score);
    }
    memory::sort_stably(&mut trained, |a, b| compare_by_score(*a, *b));
    for (text, score) in trained {
        if scores_by_text.len() == size {
            break;
        }
        scores_by_text.reserve_entry();
        scores_by_text.entry(text.checked_to_vec()).or_insert(score);
    }
    let mut all: Vec<ScoredPiece> = scores_by_text.into_iter().checked_collect();
    memory::sort_stably(&mut all, |a, b| compare_by_score((&a.0, a.1), (&b.0, b.1)));
    all
}

fn compare_by_score(a: (&[u8], f32), b: (&[u8], f32)) -> Ordering {
    b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0))
}
