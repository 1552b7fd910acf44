use proptest::prelude::*;

use super::*;
use crate::native::tests::specs;
use crate::sink::{Spans, Token, Tokens};
use crate::spec::{
    Behavior, Kind, Normalize, Pattern, Replace, SentencePieceNormalize, Spec, SpecialToken, Split, Unknown,
};
use crate::token_id::TokenId;
use crate::tokenizer::{EncodeOptions, Tokenizer};

fn split(text: &str, behavior: Behavior) -> Vec<Split> {
    let pattern = Pattern { text: text.into(), is_regex: true, unicode: None };
    vec![Split::Pattern { pattern, behavior, invert: false }]
}

/// Returns tokenizers of all families, each with a twin that has no route and no spans by lengths.
fn variants() -> Vec<(Tokenizer, Tokenizer)> {
    let mut all = specs();
    let bytes = Spec { unknown: Unknown::Drop, ..all[0].clone() };
    all.push(Spec { split: split(r" ?\p{L}+|\s+|[^\s\p{L}]+", Behavior::Matches), ..bytes.clone() });
    all.push(Spec { split: split(r"[ab]+", Behavior::Matches), ..bytes.clone() });
    all.push(Spec { split: split(r"c", Behavior::Removed), ..bytes.clone() });
    let normalize = SentencePieceNormalize {
        add_dummy_prefix: true,
        remove_extra_whitespaces: true,
        escape_whitespaces: true,
        ..SentencePieceNormalize::default()
    };
    let escape = SentencePieceNormalize { remove_extra_whitespaces: false, ..normalize.clone() };
    let bare = SentencePieceNormalize { add_dummy_prefix: false, ..escape.clone() };
    let rewritten = vec![Normalize::SentencePiece(bare.clone())];
    all.push(Spec { split: vec![Split::PieceSpace], normalize: rewritten, ..bytes });
    for (kind, step) in [(1, &normalize), (3, &normalize), (1, &escape), (3, &escape), (1, &bare), (2, &bare)] {
        let normalize = vec![Normalize::SentencePiece(step.clone())];
        all.push(Spec { normalize: normalize.clone(), ..all[kind].clone() });
        all.push(Spec { normalize, ..with_bytes(&all[kind]) });
    }
    let spaces = Pattern { text: " ".into(), is_regex: false, unicode: None };
    let replace = Normalize::Replace(Replace { pattern: spaces, content: "\u{2581}".into() });
    for normalize in [vec![replace.clone()], vec![Normalize::PrefixSpace, replace]] {
        all.push(Spec { normalize, ..with_bytes(&all[1]) });
    }
    let special = |text: &str, id| SpecialToken { text: text.into(), id, always: true, ..SpecialToken::default() };
    all.iter_mut().for_each(|spec| spec.special = vec![special("[x]", TokenId(50))]);
    let general = |spec| {
        let mut tokenizer = Tokenizer::compile(spec).unwrap();
        (tokenizer.by_lengths, tokenizer.route) = (ByLengths::never(), None);
        tokenizer
    };
    all.into_iter().map(|spec| (Tokenizer::compile(spec.clone()).unwrap(), general(spec))).collect()
}

/// Adds an entry for each byte to the vocabulary, so that unknown characters are encoded as bytes.
fn with_bytes(spec: &Spec) -> Spec {
    let mut spec = Spec { unknown: Unknown::Bytes, ..spec.clone() };
    let columns = &mut spec.vocab;
    for byte in 0..=255u8 {
        columns.blob.extend_from_slice(format!("<0x{byte:02X}>").as_bytes());
        columns.offsets.push(columns.blob.len() as u32);
        columns.ids.push(columns.ids.len() as u32);
        columns.scores.push(0.0);
        columns.kinds.push(Kind::Byte);
    }
    spec
}

/// Builds the tables that are otherwise built after enough text.
fn warm_up(tokenizer: &Tokenizer) {
    if let Some(Route::SentencePieceBpe(route)) = &tokenizer.route {
        route.warm_up(&tokenizer.segmenter);
    }
    if let CompiledModel::Unigram(unigram) = &tokenizer.segmenter.model {
        unigram.words_now(&tokenizer.segmenter.vocab);
    }
}

/// Encodes a text to a sink; an error is returned as text.
fn encode_to<S: Sink>(tokenizer: &Tokenizer, text: &[u8], mut sink: S) -> std::result::Result<S, String> {
    let encode = |scratch: &mut Scratch| tokenizer.encode_plain(text, EncodeOptions::default(), scratch, &mut sink);
    tokenizer.with_scratch(encode).map_err(|error| error.to_string())?;
    Ok(sink)
}

proptest! {
    #[test]
    fn tokens_are_those_of_the_general_pipeline(
        parts in proptest::collection::vec(
            prop_oneof![
                6 => prop::sample::select(vec!["a", "b", "c", "ab", "abc", "\u{2581}", " ", "é", "caab"]),
                1 => prop::sample::select(vec!["<unk>", "<s>", "[x]", "z", "😀", "\n", "  "]),
            ],
            0..40,
        ),
        broken in proptest::option::of(0..60usize),
        has_tables: bool,
    ) {
        let mut text = parts.concat().into_bytes();
        if let Some(byte) = broken.and_then(|at| text.get_mut(at)) {
            *byte = 0xE9;
        }
        for (tokenizer, general) in variants().iter().inspect(|(tokenizer, _)| if has_tables { warm_up(tokenizer) }) {
            for words in [true, false] {
                let encoded = encode_to(tokenizer, &text, Tokens::new(words)).map(Tokens::finish);
                let expected = encode_to(general, &text, Tokens::new(words)).map(Tokens::finish);
                let columns = encode_to(tokenizer, &text, Spans::default());
                let rows = columns.map(|Spans { ids, starts, ends, .. }| ids.into_iter().zip(starts.into_iter().zip(ends)));
                let bare = |tokens: &Vec<Token>| tokens.iter().map(|token| (token.id.0, (token.start, token.end))).collect();
                prop_assert_eq!(rows.map(Vec::from_iter), expected.as_ref().map(bare).map_err(String::clone));
                prop_assert_eq!(encoded, expected);
            }
        }
    }
}
