use proptest::prelude::*;

use super::*;
use crate::native::tests::specs;
use crate::sink::{Spans, Token, Tokens};
use crate::spec::{
    Behavior, Kind, Normalize, Pattern, Replace, SentencePieceNormalize, Spec, SpecialToken, Split, Unknown,
};
use crate::token_id::TokenId;
use crate::tokenizer::{EncodeOptions, Tokenizer};

pub(crate) fn pattern_split(text: &str, behavior: Behavior) -> Vec<Split> {
    let pattern = Pattern { text: text.into(), is_regex: true, unicode: None };
    vec![Split::Pattern { pattern, behavior, invert: false }]
}

/// Returns tokenizers of all families. Each has a twin that uses no route and does not compute spans from lengths.
pub(crate) fn tokenizers_with_twins() -> Vec<(Tokenizer, Tokenizer)> {
    let mut specs = specs();
    let bytes = Spec { unknown: Unknown::Drop, ..specs[0].clone() };
    specs.push(Spec { split: pattern_split(r" ?\p{L}+|\s+|[^\s\p{L}]+", Behavior::Matches), ..bytes.clone() });
    specs.push(Spec { split: pattern_split(r"[ab]+", Behavior::Matches), ..bytes.clone() });
    specs.push(Spec { split: pattern_split(r"c", Behavior::Removed), ..bytes.clone() });
    let normalize = SentencePieceNormalize {
        add_dummy_prefix: true,
        remove_extra_whitespaces: true,
        escape_whitespaces: true,
        ..SentencePieceNormalize::default()
    };
    let keeping_spaces = SentencePieceNormalize { remove_extra_whitespaces: false, ..normalize.clone() };
    let without_prefix = SentencePieceNormalize { add_dummy_prefix: false, ..keeping_spaces.clone() };
    let replacing_steps = vec![Normalize::SentencePiece(without_prefix.clone())];
    specs.push(Spec { split: vec![Split::PieceSpace], normalize: replacing_steps, ..bytes });
    for (kind, step) in [
        (1, &normalize),
        (3, &normalize),
        (1, &keeping_spaces),
        (3, &keeping_spaces),
        (1, &without_prefix),
        (2, &without_prefix),
    ] {
        let normalize = vec![Normalize::SentencePiece(step.clone())];
        specs.push(Spec { normalize: normalize.clone(), ..specs[kind].clone() });
        specs.push(Spec { normalize: normalize.clone(), ..make_user_defined(&specs[kind], b"ab") });
        specs.push(Spec { normalize, ..add_byte_entries(&specs[kind]) });
    }
    let space_pattern = Pattern { text: " ".into(), is_regex: false, unicode: None };
    let replace_step = Normalize::Replace(Replace { pattern: space_pattern, content: "\u{2581}".into() });
    for normalize in [vec![replace_step.clone()], vec![Normalize::PrefixSpace, replace_step]] {
        specs.push(Spec { normalize, ..add_byte_entries(&specs[1]) });
    }
    let special_token =
        |text: &str, id| SpecialToken { text: text.into(), id, always: true, ..SpecialToken::default() };
    specs.iter_mut().for_each(|spec| spec.special = vec![special_token("[x]", TokenId(50))]);
    let compile_twin = |spec| {
        let mut tokenizer = Tokenizer::compile(spec).unwrap();
        (tokenizer.by_lengths, tokenizer.route) = (ByLengths::disabled(), None);
        tokenizer
    };
    specs.into_iter().map(|spec| (Tokenizer::compile(spec.clone()).unwrap(), compile_twin(spec))).collect()
}

/// Changes the kind of an entry to user-defined.
fn make_user_defined(spec: &Spec, piece: &[u8]) -> Spec {
    let mut spec = spec.clone();
    let columns = &mut spec.vocab;
    let row = columns.offsets.windows(2).position(|ends| &columns.blob[ends[0] as usize..ends[1] as usize] == piece);
    columns.kinds[row.unwrap()] = Kind::UserDefined;
    spec
}

/// Adds an entry for each byte to the vocabulary, so that unknown characters are encoded as bytes.
fn add_byte_entries(spec: &Spec) -> Spec {
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

/// Encodes a text to a sink; an error is returned as text.
fn encode_to<S: Sink>(tokenizer: &Tokenizer, text: &[u8], mut sink: S) -> std::result::Result<S, String> {
    let encode = |scratch: &mut Scratch| tokenizer.encode_to(text, EncodeOptions::default(), scratch, &mut sink);
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
        broken_at in proptest::option::of(0..60usize),
        has_tables: bool,
    ) {
        let mut text = parts.concat().into_bytes();
        if let Some(text_byte) = broken_at.and_then(|at| text.get_mut(at)) {
            *text_byte = 0xE9;
        }
        for (tokenizer, twin) in tokenizers_with_twins().iter().inspect(|(tokenizer, _)| if has_tables { tokenizer.warm_up() }) {
            for has_words in [true, false] {
                let tokens = encode_to(tokenizer, &text, Tokens::new(has_words)).map(Tokens::finish);
                let expected = encode_to(twin, &text, Tokens::new(has_words)).map(Tokens::finish);
                let columns = encode_to(tokenizer, &text, Spans::default());
                let spans = columns.map(|Spans { ids, starts, ends, .. }| ids.into_iter().zip(starts.into_iter().zip(ends)));
                let ids_and_spans = |tokens: &Vec<Token>| tokens.iter().map(|token| (token.id.0, (token.start, token.end))).collect();
                prop_assert_eq!(spans.map(Vec::from_iter), expected.as_ref().map(ids_and_spans).map_err(String::clone));
                prop_assert_eq!(tokens, expected);
            }
        }
    }
}
