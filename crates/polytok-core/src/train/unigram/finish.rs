//! The final vocabulary: the whole alphabet, then the best pieces.
//!
//! Reference: the trainer's `FinalizeSentencePieces`. A character that training has lost gets the least score of all pieces and a little
//! more, the more the rarer it is, so that no two are alike.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::train::sentencepiece::Scored;
use crate::train::sentencepiece::alphabet::Alphabet;
use crate::train::unigram::pieces::Pieces;

/// By how much the scores of lost characters differ.
const STEP: f32 = 0.0001;

/// So many pieces, or the alphabet if it is larger; the best first.
pub fn finish(pieces: &Pieces, alphabet: &Alphabet, size: usize) -> Vec<Scored> {
    let mut trained: Vec<(&[u8], f32)> = (0..pieces.len()).map(|id| (pieces.text(id), pieces.scores[id])).collect();
    let scores: HashMap<&[u8], f32> = trained.iter().copied().collect();
    let (least, mut more) = (pieces.min_score(), 0f32);
    let mut chosen: HashMap<Vec<u8>, f32> = HashMap::new();
    for (char, _) in &alphabet.chars {
        let text = char.to_string().into_bytes();
        let score = scores.get(&text[..]).copied().unwrap_or_else(|| {
            let score = least + more;
            more += STEP;
            score
        });
        chosen.insert(text, score);
    }
    trained.sort_unstable_by(|a, b| best_first(*a, *b));
    for (text, score) in trained {
        if chosen.len() == size {
            break;
        }
        chosen.entry(text.to_vec()).or_insert(score);
    }
    let mut all: Vec<Scored> = chosen.into_iter().collect();
    all.sort_unstable_by(|a, b| best_first((&a.0, a.1), (&b.0, b.1)));
    all
}

fn best_first(a: (&[u8], f32), b: (&[u8], f32)) -> Ordering {
    b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0))
}
