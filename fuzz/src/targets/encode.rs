//! All ways to encode a text have the same result, for random Specs.

use polytok_core::batch::{BatchOptions, count_batch, encode_batch};
use polytok_core::native::{Image, Tables};
use polytok_core::spec::{Spec, VocabColumns};
use polytok_core::tokenizer::{EncodeOptions, Tokenizer, Trusted};

use crate::choices::Choices;
use crate::specs;

type Ids = Result<Vec<u32>, String>;

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let spec = specs::spec(&mut choices);
    let Ok(tokenizer) = Tokenizer::compile(spec.clone()) else { return };
    let (add_special, uses_special, is_parted) = (choices.flag(), choices.flag(), choices.below(4) == 0);
    let (from, to) = (choices.byte(), choices.byte());
    let (compares_native, compares_warm) = (choices.below(8) == 0, choices.below(4) == 0);
    let text = specs::text(&mut choices);
    let special = if uses_special { tokenizer.special_set(|_| true).unwrap_or_default() } else { None };
    let place = |at: u8| (usize::from(at) * text.len() / 256) as u32;
    let run = (place(from.min(to)), place(from.max(to)));
    let runs = if run.0 < run.1 { vec![run] } else { Vec::new() };
    let trusted = is_parted.then(|| Trusted::of_text(&runs, text.len()));
    let options = EncodeOptions { add_special, special: special.as_ref(), reject: None, trusted, is_strict: false };
    let expected = check(&tokenizer, &text, options);
    if compares_warm {
        tokenizer.warm_up();
        assert_eq!(encoded(&tokenizer, &text, options), expected, "after warm_up");
    }
    tokenizer.pool().set_limit(0);
    assert_eq!(encoded(&tokenizer, &text, options), expected, "without a cache");
    if trusted.is_none() {
        check_batch(&tokenizer, &text, options, &expected);
    }
    if compares_native {
        assert_eq!(encoded(&reloaded(&spec), &text, options), expected, "from a native file");
    }
}

pub fn encoded(tokenizer: &Tokenizer, text: &[u8], options: EncodeOptions) -> Ids {
    let mut ids = Vec::new();
    tokenizer.encode(text, options, &mut ids).map(|()| ids).map_err(|error| error.to_string())
}

/// Compares all outputs for one text.
fn check(tokenizer: &Tokenizer, text: &[u8], options: EncodeOptions) -> Ids {
    let ids = encoded(tokenizer, text, options);
    assert_eq!(encoded(tokenizer, text, options), ids, "the second time");
    let count = tokenizer.count(text, options).map_err(|error| error.to_string());
    assert_eq!(count, ids.clone().map(|ids| ids.len()), "count");
    let tokens = tokenizer.tokens(text, options).map_err(|error| error.to_string());
    let token_ids = tokens.clone().map(|tokens| tokens.iter().map(|token| token.id.0).collect::<Vec<_>>());
    assert_eq!(token_ids, ids, "tokens");
    let spans = tokenizer.spans(text, options).map_err(|error| error.to_string());
    assert_eq!(spans.as_ref().map(|spans| &spans.ids), ids.as_ref(), "spans");
    if let (Ok(tokens), Ok(spans)) = (tokens, spans) {
        let token_spans: Vec<_> = tokens.iter().map(|token| (token.start, token.end)).collect();
        let columns: Vec<_> = spans.starts.into_iter().zip(spans.ends).collect();
        assert_eq!(columns, token_spans, "the spans of spans and of tokens");
        assert!(token_spans.iter().all(|span| span.0 <= span.1 && span.1 as usize <= text.len()), "{token_spans:?}");
    }
    if let Ok(ids) = &ids {
        let has_entry = |id: &u32| tokenizer.token_bytes(*id).is_some();
        assert!(ids.iter().all(has_entry), "an id without an entry: {ids:?}");
        let _ = tokenizer.decode(ids, false);
    }
    ids
}

fn check_batch(tokenizer: &Tokenizer, text: &[u8], options: EncodeOptions, expected: &Ids) {
    let (left, right) = text.split_at(text.len() / 2);
    let texts = [Some(left), None, Some(text), Some(right)];
    let batch_options = BatchOptions { encode: options, threads: 1, ..BatchOptions::default() };
    let parts =
        [encoded(tokenizer, left, options), Ok(Vec::new()), expected.clone(), encoded(tokenizer, right, options)];
    let all: Result<Vec<Vec<u32>>, String> = parts.into_iter().collect();
    let batch = encode_batch::<u32>(tokenizer, &texts, &batch_options).map_err(|(_, error)| error.to_string());
    assert_eq!(batch.map(|batch| batch.ids), all.clone().map(|rows| rows.concat()), "encode_batch");
    let counts = count_batch(tokenizer, &texts, options, 1).map_err(|(_, error)| error.to_string());
    assert_eq!(counts, all.map(|rows| rows.iter().map(|row| row.len() as i64).collect()), "count_batch");
}

/// Returns the tokenizer of a native file that is written from a Spec.
fn reloaded(spec: &Spec) -> Tokenizer {
    let mut tables = Tables::with_sections();
    Tokenizer::compile_with(spec.clone(), &mut tables).unwrap();
    let image = Image::copy(&tables.finish().finish([0; 16])).unwrap();
    let outline = Spec { vocab: VocabColumns::default(), ..spec.clone() };
    Tokenizer::compile_with(outline, &mut Tables::from_image(image)).unwrap()
}
