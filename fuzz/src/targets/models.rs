//! The models against their simplest form (naive.rs).

use std::collections::HashMap;

use polytok_core::spec::{Kind, Model, Priority, ScalarRules, Symbols, UnigramRules, Unknown, VocabColumns};
use polytok_core::tokenizer::{EncodeOptions, Tokenizer};

use super::encode::encoded;
use crate::choices::Choices;
use crate::naive::{self, Entries};
use crate::specs;

const MAX_TEXT_BYTES: usize = 300;

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let kind = choices.below(5);
    let has_bytes = kind < 3;
    let (columns, entries, scores) = vocabulary(&mut choices, has_bytes);
    let mut text = specs::text(&mut choices);
    text.truncate(MAX_TEXT_BYTES);
    match kind {
        0 => check_rank(columns, &entries, &text, false),
        1 => check_rank(columns, &entries, &text, true),
        2 => check_longest(columns, &entries, &text),
        3 => check_unigram(columns, &scores, &text),
        _ => check_wordpiece(columns, &entries, &text),
    }
}

/// Returns a vocabulary of different entries, with scores that are multiples of a quarter.
fn vocabulary(choices: &mut Choices, has_bytes: bool) -> (VocabColumns, Entries, HashMap<Vec<u8>, f32>) {
    let mut columns = VocabColumns { offsets: vec![0], ..VocabColumns::default() };
    let (mut entries, mut scores) = (Entries::new(), HashMap::new());
    let mut push = |piece: &[u8], score: f32| {
        let id = columns.ids.len() as u32;
        if piece.is_empty() || entries.contains_key(piece) {
            return;
        }
        entries.insert(piece.to_vec(), id);
        scores.insert(piece.to_vec(), score);
        columns.blob.extend_from_slice(piece);
        columns.offsets.push(columns.blob.len() as u32);
        columns.ids.push(id);
        columns.scores.push(score);
        columns.kinds.push(if id == 0 && !has_bytes { Kind::Unknown } else { Kind::Normal });
    };
    match has_bytes {
        true => (0..=255).for_each(|byte| push(&[byte], 0.0)),
        false => push(b"\x01unknown", 0.0),
    }
    for _ in 0..choices.below(48) {
        let score = -f32::from(choices.byte()) / 4.0;
        let piece = specs::joined(choices, 5);
        push(&piece, score);
    }
    scores.remove(&b"\x01unknown"[..]);
    entries.remove(&b"\x01unknown"[..]);
    (columns, entries, scores)
}

fn check_rank(columns: VocabColumns, entries: &Entries, text: &[u8], whole_piece_first: bool) {
    let (priority, symbols) = (Priority::Rank, Symbols::Bytes);
    let model = Model::Bpe { priority, symbols, whole_piece_first, reserved: false, scalars: ScalarRules::default() };
    let tokenizer = Tokenizer::compile(specs::plain_spec(columns, model, Unknown::Error)).unwrap();
    let expected = match entries.get(text).filter(|_| whole_piece_first) {
        Some(&id) => vec![id],
        None => {
            let symbols = naive::bpe(text.iter().map(|&byte| vec![byte]).collect(), |pair| entries.get(pair).copied());
            symbols.iter().map(|symbol| entries[symbol]).collect()
        }
    };
    assert_eq!(encoded(&tokenizer, text, EncodeOptions::default()), Ok(expected));
}

fn check_longest(columns: VocabColumns, entries: &Entries, text: &[u8]) {
    let tokenizer = Tokenizer::compile(specs::plain_spec(columns, Model::Longest, Unknown::Error)).unwrap();
    let expected = naive::longest(text, entries).unwrap();
    assert_eq!(encoded(&tokenizer, text, EncodeOptions::default()), Ok(expected));
}

/// Compares the sum of scores, because segmentations with the same sum are equally good.
fn check_unigram(columns: VocabColumns, scores: &HashMap<Vec<u8>, f32>, text: &[u8]) {
    let is_utf8 = std::str::from_utf8(text).is_ok() && scores.keys().all(|piece| std::str::from_utf8(piece).is_ok());
    let model = Model::Unigram(UnigramRules::SentencePiece);
    let Ok(tokenizer) = Tokenizer::compile(specs::plain_spec(columns, model, Unknown::Unk)) else { return };
    let ids = encoded(&tokenizer, text, EncodeOptions::default()).unwrap();
    let Some(best) = naive::best_score(text, scores).filter(|_| is_utf8) else { return };
    let unknown_score = scores.values().copied().fold(0.0, f32::min) - 10.0;
    if ids.contains(&0) {
        assert!(best <= unknown_score, "an unknown token, although entries have the sum {best}");
        return;
    }
    let pieces: Vec<&[u8]> = ids.iter().map(|&id| tokenizer.token_bytes(id).unwrap()).collect();
    assert_eq!(pieces.concat(), text);
    assert_eq!(pieces.iter().map(|&piece| scores[piece]).sum::<f32>(), best);
}

fn check_wordpiece(columns: VocabColumns, entries: &Entries, text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let model = Model::WordPiece { continuing_prefix: "##".into(), max_chars: None, phantom_space: false };
    let tokenizer = Tokenizer::compile(specs::plain_spec(columns, model, Unknown::Unk)).unwrap();
    let expected = naive::wordpiece(text, "##", entries).unwrap_or(vec![0]);
    assert_eq!(encoded(&tokenizer, text.as_bytes(), EncodeOptions::default()), Ok(expected));
}
