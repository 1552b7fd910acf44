//! Tests that the segmenter, with its cache and blocks, agrees with the model piece by piece.

use crate::error::Result;
use crate::model::bpe::BpeScratch;
use crate::model::{CompiledModel, ModelScratch};
use crate::post::Out;
use crate::sink::{Spans, Token, Tokens};
use crate::spec::{
    Behavior, Decode, Kind, Matching, Model, Normalize, Pattern, Priority, ScalarRules, SentencePieceVersion, Spec,
    Split, Symbols, TemplatePart, TrimOffsets, UnigramRules, Unknown, VocabColumns,
};
use crate::tokenizer::{EncodeOptions, Tokenizer};
use crate::utf8::only_char;
use proptest::prelude::*;

/// Returns a vocabulary of single bytes, or of `<unk>` and single characters, and these entries.
fn vocab<E: AsRef<[u8]>>(unknown: Unknown, entries: &[E]) -> VocabColumns {
    let mut columns = VocabColumns { offsets: vec![0], ..VocabColumns::default() };
    let mut push = |piece: &[u8], kind: Kind| {
        let row = columns.ids.len() as u32;
        columns.blob.extend_from_slice(piece);
        columns.offsets.push(columns.blob.len() as u32);
        columns.ids.push(row);
        columns.scores.push(-(row as f32));
        columns.kinds.push(kind);
    };
    match unknown {
        Unknown::Unk => {
            push(b"<unk>", Kind::Unknown);
            ["a", "b", " ", "é"].iter().for_each(|text| push(text.as_bytes(), Kind::Normal));
        }
        _ => (0..=255).for_each(|byte| push(&[byte], Kind::Normal)),
    }
    let is_single = |entry: &[u8]| match unknown {
        Unknown::Unk => only_char(entry).is_some(),
        _ => entry.len() < 2,
    };
    let mut sorted: Vec<&[u8]> = entries.iter().map(AsRef::as_ref).filter(|&entry| !is_single(entry)).collect();
    sorted.sort_by_key(|entry| (entry.len(), *entry));
    sorted.dedup();
    sorted.iter().for_each(|entry| push(entry, Kind::Normal));
    columns
}

fn split(text: &str, behavior: Behavior) -> Split {
    let pattern = Pattern { text: text.into(), is_regex: true, unicode: None };
    Split::Pattern { pattern, behavior, invert: false }
}

fn tokenizer<E: AsRef<[u8]>>(model: Model, unknown: Unknown, pattern: Option<&str>, entries: &[E]) -> Tokenizer {
    let split = pattern.into_iter().map(|text| split(text, Behavior::Isolated)).collect();
    compile_tokenizer(model, unknown, Vec::new(), split, entries)
}

fn compile_tokenizer<E: AsRef<[u8]>>(
    model: Model,
    unknown: Unknown,
    normalize: Vec<Normalize>,
    split: Vec<Split>,
    entries: &[E],
) -> Tokenizer {
    let spec = Spec {
        vocab: vocab(unknown, entries),
        special: Vec::new(),
        matching: Matching::Longest,
        normalize,
        split,
        model,
        unknown,
        single: vec![TemplatePart::Slot],
        trim: TrimOffsets::Nothing,
        decode: Decode::Bytes { skips_unknown: false },
        sentencepiece_version: SentencePieceVersion::default(),
    };
    Tokenizer::compile(spec).unwrap()
}

fn bpe(priority: Priority, symbols: Symbols, whole_piece_first: bool) -> Model {
    Model::Bpe { priority, symbols, whole_piece_first, reserved: false, scalars: ScalarRules::default() }
}

/// Returns Hugging Face's BPE with a suffix at the end of each word, as in CLIP.
fn scalars_with_suffix() -> Model {
    let scalars = ScalarRules { word_suffix: "a".into(), ..ScalarRules::default() };
    let symbols = Symbols::Scalars;
    Model::Bpe { priority: Priority::Rank, symbols, whole_piece_first: false, reserved: false, scalars }
}

/// Returns tokenizers of all model families, with and without a split.
fn tokenizers(entries: &[String]) -> Vec<Tokenizer> {
    let wordpiece = Model::WordPiece { continuing_prefix: "a".into(), max_chars: None, phantom_space: false };
    let words = Some(r" ?[^ ]+| +");
    vec![
        tokenizer(bpe(Priority::Rank, Symbols::Bytes, false), Unknown::Error, words, entries),
        tokenizer(bpe(Priority::Rank, Symbols::Bytes, true), Unknown::Error, words, entries),
        tokenizer(bpe(Priority::Rank, Symbols::Bytes, false), Unknown::Error, None, entries),
        tokenizer(bpe(Priority::Score, Symbols::Chars, false), Unknown::Unk, None, entries),
        tokenizer(bpe(Priority::Score, Symbols::Groups, false), Unknown::Unk, None, entries),
        tokenizer(Model::Unigram(UnigramRules::SentencePiece), Unknown::Unk, None, entries),
        tokenizer(Model::Unigram(UnigramRules::HuggingFace { byte_fallback: false }), Unknown::Unk, words, entries),
        tokenizer(wordpiece, Unknown::Unk, words, entries),
        tokenizer(scalars_with_suffix(), Unknown::Unk, words, entries),
        tokenizer(scalars_with_suffix(), Unknown::Drop, words, entries),
        tokenizer(Model::WordLevel, Unknown::Unk, words, entries),
        tokenizer(Model::Longest, Unknown::Error, None, entries),
    ]
}

/// Encodes a text to tokens without the cache: each piece of the split, or the whole text, by the model.
fn encode_by_model(tokenizer: &Tokenizer, text: &str) -> Result<Vec<Token>> {
    let (mut tokens, mut scratch) = (Tokens::default(), ModelScratch::default());
    let mut out = Out::new(&tokenizer.segmenter.fallback, &mut tokens);
    match &tokenizer.segmenter.model {
        CompiledModel::Bpe(bpe) if tokenizer.segmenter.splits.is_empty() => {
            bpe.segment_whole(text.as_bytes(), None, &mut BpeScratch::default(), &mut |segment| {
                out.write_segment(text.as_bytes(), 0, segment)
            })?;
        }
        model if tokenizer.segmenter.splits.is_empty() => {
            model.segment(text.as_bytes(), 0, false, &mut scratch, &mut |segment| {
                out.write_segment(text.as_bytes(), 0, segment)
            })?;
        }
        model => {
            let mut pieces = Vec::new();
            tokenizer.segmenter.splits.split(text, |start, end| pieces.push((start, end)))?;
            for (start, end) in pieces {
                let take = &mut |segment| out.write_segment(text.as_bytes(), start, segment);
                model.segment(&text.as_bytes()[start..end], start, false, &mut scratch, take)?;
            }
        }
    }
    Ok(tokens.finish())
}

fn ids_of(tokens: &[Token]) -> Vec<u32> {
    tokens.iter().map(|token| token.id.0).collect()
}

fn check(tokenizer: &Tokenizer, text: &str) {
    let mut ids = Vec::new();
    let encoded = tokenizer.encode(text.as_bytes(), EncodeOptions::default(), &mut ids).map(|()| ids);
    match (encode_by_model(tokenizer, text), encoded) {
        (Ok(expected), Ok(ids)) => {
            let count = tokenizer.count(text.as_bytes(), EncodeOptions::default()).unwrap();
            assert_eq!(ids, ids_of(&expected), "{text:?}");
            assert_eq!(count, ids.len(), "{text:?}");
            let tokens = tokenizer.plain_tokens(text.as_bytes(), EncodeOptions::default()).unwrap();
            assert_eq!(tokens, expected, "{text:?}");
            let Spans { ids, starts, ends, .. } = tokenizer.spans(text.as_bytes(), EncodeOptions::default()).unwrap();
            let spans: Vec<_> = tokens.iter().map(|token| (token.id.0, (token.start, token.end))).collect();
            assert_eq!(ids.into_iter().zip(starts.into_iter().zip(ends)).collect::<Vec<_>>(), spans, "{text:?}");
        }
        (expected, encoded) => {
            let expected = expected.map(|tokens| ids_of(&tokens)).map_err(|error| error.to_string());
            assert_eq!(expected, encoded.map_err(|error| error.to_string()));
        }
    }
}

/// Returns text of words whose lengths are near the length limits of cache keys. Most words repeat; some have unknown
/// characters.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => "[ab]{1,4}",
        2 => "(ab|é){7,8}",
        2 => "[ab]{14,18}",
        2 => "[aé]{15,17}",
        2 => "[ab]{31,34}",
        1 => "[ab世é]{1,12}",
        1 => " {0,40}",
    ];
    prop::collection::vec(word, 0..150).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_segmenter_agrees_with_the_model(
        entries in prop::collection::btree_set("[ab é]{2,6}|[ab]{15,17}", 0..24),
        texts in prop::collection::vec(text(), 3),
        limit in prop::sample::select(vec![0usize, 256, 2048, 1 << 20]),
    ) {
        for tokenizer in tokenizers(&Vec::from_iter(entries)) {
            tokenizer.pool().set_limit(limit);
            texts.iter().for_each(|text| check(&tokenizer, text));
            check(&tokenizer, &texts[0]);
            tokenizer.pool().clear();
            texts.iter().for_each(|text| check(&tokenizer, text));
        }
    }
}

/// Returns entries of byte-level vocabularies, which can start and end inside of a character.
fn byte_entries() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let clip = |(word, head, tail): (String, usize, usize)| {
        let end = word.len().saturating_sub(tail).max(1);
        word.as_bytes()[head.min(end - 1)..end].to_vec()
    };
    let words = prop_oneof!["[a世界、ー]{1,3}", "[世界]{1,4}", "[aé世😀]{1,4}"];
    prop::collection::vec((words, 0usize..4, 0usize..4).prop_map(clip), 0..30)
}

/// Returns words of scripts without spaces: short ones, sentences, and pieces with more parts than a batch.
fn words_without_spaces() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[世界、ー]{1,12}",
        2 => "[a世界é😀]{1,40}",
        1 => "[世界]{126,130}",
        1 => "(世界|ー世){63,66}",
    ];
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn parts_of_pieces_have_the_ids_of_the_model(
        entries in byte_entries(), texts in prop::collection::vec(words_without_spaces(), 2), whole_piece_first: bool,
    ) {
        let model = bpe(Priority::Rank, Symbols::Bytes, whole_piece_first);
        let tokenizer = tokenizer(model, Unknown::Error, Some(r" ?[^ ]+| +"), &entries);
        (0..2).for_each(|_| texts.iter().for_each(|text| check(&tokenizer, text)));
        tokenizer.pool().clear();
        texts.iter().for_each(|text| check(&tokenizer, text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn ids_of_a_text_are_those_of_the_cleaned_text(
        entries in prop::collection::btree_set("[abé世]{1,3}", 0..24),
        text in prop::collection::vec("[ab]{1,9}( [ab]{1,9}){0,9}|[ \n\u{3000}]|[世é!]{1,9}|[\u{0}\u{301}\u{2060}ÀＡ豈]", 0..80),
        flags in 0u8..16,
    ) {
        let flag = |bit: u8| flags >> bit & 1 == 1;
        let cleaning_step = Normalize::Bert {
            clean_text: flag(0),
            handle_chinese_chars: flag(1),
            strip_accents: flag(2),
            lowercase: flag(3),
        };
        let split = vec![split(r"\s", Behavior::Removed), split(r"[\x{21}-\x{2F}]", Behavior::Isolated)];
        let wordpiece = Model::WordPiece { continuing_prefix: "a".into(), max_chars: Some(9), phantom_space: false };
        for model in [wordpiece, Model::WordLevel] {
            let entries = Vec::from_iter(entries.clone());
            let tokenizer = compile_tokenizer(model, Unknown::Unk, vec![cleaning_step.clone()], split.clone(), &entries);
            let (text, mut ids) = (text.concat(), Vec::new());
            let cleaned_text = String::from_utf8(tokenizer.normalized(text.as_bytes()).unwrap()).unwrap();
            tokenizer.encode(text.as_bytes(), EncodeOptions::default(), &mut ids).unwrap();
            prop_assert_eq!(ids, ids_of(&encode_by_model(&tokenizer, &cleaned_text).unwrap()), "{:?}", text);
        }
    }
}

#[test]
fn pieces_end_where_the_text_ends() {
    let entries = ["ab", " ab", "abab"].map(String::from);
    for tokenizer in tokenizers(&entries) {
        for len in 0..70 {
            let text = "ab ".repeat(30)[..len].to_owned() + &"b".repeat(len % 40);
            (0..2).for_each(|_| check(&tokenizer, &text));
        }
    }
}

proptest! {
    #[test]
    fn byte_level_pieces_have_the_ids_of_all_steps(
        entries in prop::collection::btree_set("[abÃ©ä¸<|Ġ]{1,4}", 0..24),
        texts in prop::collection::vec("([ab']{1,4}|[é世]{1,6}| |\n|<|<\\|ab\\|>|[ab<]{120,140}| a){0,160}", 3),
    ) {
        let pattern = Pattern { text: r"<\|ab\|>|[ab]+|[é世]|[^\s\p{L}\p{N}]+".into(), is_regex: true, unicode: None };
        let gpt2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
        let steps = vec![
            Split::Pattern { pattern, behavior: Behavior::Removed, invert: true },
            split(gpt2, Behavior::Isolated),
            Split::ByteLevel,
        ];
        let entries = Vec::from_iter(entries);
        let tokenizer = compile_tokenizer(scalars_with_suffix(), Unknown::Unk, Vec::new(), steps, &entries);
        for text in &texts {
            let mut ids = Vec::new();
            tokenizer.encode(text.as_bytes(), EncodeOptions::default(), &mut ids).unwrap();
            // Tokens with spans are found by the steps in turn.
            let tokens = tokenizer.plain_tokens(text.as_bytes(), EncodeOptions::default()).unwrap();
            prop_assert_eq!(ids, ids_of(&tokens));
            let can_skip = tokenizer.segmenter.splits.byte_level_pattern(text).is_some();
            prop_assert_eq!(can_skip, !text.contains("<|ab|>"));
        }
    }
}
