use proptest::prelude::*;

use crate::by_lengths::ByLengths;
use crate::post::Sink;
use crate::routes::Route;
use crate::scratch::Scratch;
use crate::sink::{Spans, Token, Tokens};
use crate::spec::{
    Decode, Kind, Matching, Model, Normalize, Pattern, Priority, Replace, ScalarRules, SentencePieceNormalize,
    SentencePieceVersion, Spec, Symbols, TemplatePart, TrimOffsets, Unknown, VocabColumns,
};
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// Returns a SentencePiece model with these pieces, and a piece for each byte.
fn spec(pieces: &[(String, bool)], unknown: Unknown, has_prefix: bool, is_llama_cpp: bool) -> Spec {
    let mut columns = VocabColumns { offsets: vec![0], ..VocabColumns::default() };
    let mut add = |piece: &[u8], kind: Kind| {
        columns.blob.extend_from_slice(piece);
        columns.offsets.push(columns.blob.len() as u32);
        columns.ids.push(columns.ids.len() as u32);
        columns.scores.push(-(columns.scores.len() as f32));
        columns.kinds.push(kind);
    };
    add(b"<unk>", Kind::Unknown);
    (0..=255).for_each(|byte: u8| add(format!("<0x{byte:02X}>").as_bytes(), Kind::Byte));
    add("\u{2581}".as_bytes(), Kind::Normal);
    let mut seen_pieces = std::collections::HashSet::from(["\u{2581}"]);
    for (piece, is_user_defined) in pieces.iter().filter(|(piece, _)| !piece.is_empty()) {
        if seen_pieces.insert(piece) {
            add(piece.as_bytes(), if *is_user_defined { Kind::UserDefined } else { Kind::Normal });
        }
    }
    let escape = Normalize::Replace(Replace {
        pattern: Pattern { text: " ".into(), is_regex: false, unicode: None },
        content: "\u{2581}".into(),
    });
    let sentencepiece = Normalize::SentencePiece(SentencePieceNormalize {
        charsmap: Vec::new(),
        add_dummy_prefix: has_prefix,
        remove_extra_whitespaces: false,
        escape_whitespaces: true,
        whitespace_as_suffix: false,
    });
    let normalize = match (is_llama_cpp, has_prefix) {
        (true, true) => vec![Normalize::PrefixSpace, escape],
        (true, false) => vec![escape],
        (false, _) => vec![sentencepiece],
    };
    Spec {
        vocab: columns,
        special: Vec::new(),
        matching: Matching::Longest,
        normalize,
        split: Vec::new(),
        model: Model::Bpe {
            priority: Priority::Score,
            symbols: Symbols::Chars,
            whole_piece_first: false,
            reserved: is_llama_cpp,
            scalars: ScalarRules::default(),
        },
        unknown,
        single: vec![TemplatePart::Slot],
        trim: TrimOffsets::Nothing,
        decode: Decode::Bytes { skips_unknown: false },
        sentencepiece_version: SentencePieceVersion::V0_2_3,
    }
}

/// Returns a spec of a model with these pieces in Hugging Face's form: all pairs of entries whose concatenation is an
/// entry are listed as merges, in the order of the merged entries.
fn listed_spec(pieces: &[(String, bool)]) -> Spec {
    let spec = spec(pieces, Unknown::Bytes, true, true);
    let entry = |id: usize| {
        let [start, end] = [id, id + 1].map(|at| spec.vocab.offsets[at] as usize);
        std::str::from_utf8(&spec.vocab.blob[start..end]).unwrap()
    };
    let ids: std::collections::HashMap<&str, u32> =
        (0..spec.vocab.ids.len()).map(|id| (entry(id), id as u32)).collect();
    // The first 257 entries are the unknown entry and the bytes.
    let merges = (257..spec.vocab.ids.len()).flat_map(|id| {
        let (text, ids) = (entry(id), &ids);
        let split_pairs = text.char_indices().skip(1).map(move |(at, _)| text.split_at(at));
        split_pairs.filter_map(move |(left, right)| Some([*ids.get(left)?, *ids.get(right)?, id as u32]))
    });
    let priority = Priority::Merges(merges.collect());
    let scalars = ScalarRules { byte_fallback: true, fuse_unknown: true, ..ScalarRules::default() };
    let model = Model::Bpe { priority, symbols: Symbols::Scalars, whole_piece_first: false, reserved: false, scalars };
    let [_, escape] = &spec.normalize[..] else { unreachable!("a prefix and spaces") };
    let normalize = vec![Normalize::Prepend("\u{2581}".into()), escape.clone()];
    Spec { model, normalize, unknown: Unknown::Unk, ..spec }
}

fn encode(tokenizer: &Tokenizer, text: &[u8]) -> Vec<u32> {
    let mut ids = Vec::new();
    tokenizer.encode(text, EncodeOptions::default(), &mut ids).unwrap();
    ids
}

/// Builds the tables of the route. Returns false if the route has no tables.
fn warm_up(tokenizer: &Tokenizer) -> bool {
    matches!(&tokenizer.route, Some(Route::SentencePieceBpe(route)) if route.warm_up(&tokenizer.segmenter))
}

fn encode_to<S: Sink>(tokenizer: &Tokenizer, text: &[u8], mut sink: S) -> S {
    let run = |scratch: &mut Scratch| tokenizer.encode_to(text, EncodeOptions::default(), scratch, &mut sink);
    tokenizer.with_scratch(run).unwrap();
    sink
}

/// Returns the ids, spans and words of the tokens, which are equal in both forms of the result.
fn tokens(tokenizer: &Tokenizer, text: &[u8]) -> Vec<Token> {
    let (tokens, columns) =
        (encode_to(tokenizer, text, Tokens::new(true)), encode_to(tokenizer, text, Spans::default()));
    let tokens = tokens.finish();
    let spans: Vec<_> = tokens.iter().map(|token| (token.id.0, token.start, token.end)).collect();
    let columns = columns.ids.iter().zip(&columns.starts).zip(&columns.ends);
    assert!(columns.map(|((&id, &start), &end)| (id, start, end)).eq(spans), "{:?}", String::from_utf8_lossy(text));
    tokens
}

/// Checks that the route has the tokens of the pipeline without a route: before and after the tables are built, with an
/// empty and a filled cache.
fn check_tokens(spec: Spec, texts: &[Vec<u8>]) {
    let fast_tokenizer = Tokenizer::compile(spec.clone()).unwrap();
    let mut slow_tokenizer = Tokenizer::compile(spec).unwrap();
    (slow_tokenizer.route, slow_tokenizer.by_lengths) = (None, ByLengths::disabled());
    for round in 0..3 {
        for text in texts {
            assert_eq!(
                encode(&fast_tokenizer, text),
                encode(&slow_tokenizer, text),
                "{:?}, {round}",
                String::from_utf8_lossy(text)
            );
            let [fast_tokens, slow_tokens] =
                [&fast_tokenizer, &slow_tokenizer].map(|tokenizer| tokens(tokenizer, text));
            assert_eq!(fast_tokens, slow_tokens, "{:?}, {round}", String::from_utf8_lossy(text));
        }
        warm_up(&fast_tokenizer);
    }
}

fn pieces() -> impl Strategy<Value = Vec<(String, bool)>> {
    let piece = prop_oneof![
        4 => ("[ab▁]{1,4}", Just(false)),
        4 => ("[ab▁é世界\u{FFFD}]{1,3}", Just(false)),
        2 => ("▁[ab]{1,20}", Just(false)),
        1 => ("[ab1\n世 ]{1,2}", Just(true)),
        2 => (" {1,4}", Just(true)),
        2 => ("▁{2,3}b?", Just(false)),
    ];
    prop::collection::vec(piece, 0..24)
}

fn texts() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let part = prop_oneof![
        6 => "[ab ]{1,6}".prop_map(String::into_bytes),
        2 => " {2,9}".prop_map(String::into_bytes),
        3 => "[ab▁é世界\u{FFFD}😀 1\n]{1,4}".prop_map(String::into_bytes),
        1 => "[ab ]{50,80}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 1..4),
        1 => prop::sample::select(vec![&b"\xE4\xB8"[..], b"\xED\xA0\x80", b"\xF0\x9F\x98", b"\xC0\x80", b"\xE2\x96"])
            .prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat()), 1..4)
}

proptest! {
    #[test]
    fn tokens_are_those_of_the_normalized_text(pieces in pieces(), texts in texts(), unknown in 0..3usize,
                                            has_prefix in any::<bool>(), is_llama_cpp in any::<bool>()) {
        let unknown = [Unknown::Unk, Unknown::Bytes, Unknown::Drop][unknown];
        check_tokens(spec(&pieces, unknown, has_prefix, is_llama_cpp), &texts);
        let texts: Vec<Vec<u8>> = texts.iter().map(|text| String::from_utf8_lossy(text).into_owned().into()).collect();
        check_tokens(listed_spec(&pieces), &texts);
    }
}

#[test]
fn the_route_is_used_if_its_ids_are_exact() {
    let piece = |text: &str, is_user_defined| (text.to_owned(), is_user_defined);
    let has_tables =
        |pieces: &[(String, bool)], unknown| warm_up(&Tokenizer::compile(spec(pieces, unknown, true, false)).unwrap());
    assert!(has_tables(&[piece("a", false), piece("a b", true)], Unknown::Bytes));
    assert!(has_tables(&[piece("a\u{FFFD}", false), piece("\u{FFFD}", false)], Unknown::Unk));
    assert!(warm_up(&Tokenizer::compile(listed_spec(&[piece("a", false), piece("\u{2581}a", false)])).unwrap()));
    // These three have no route. First: U+FFFD occurs in a piece but has no id. Second: the error for unknown text has
    // an offset in the normalized text. Third: a user-defined piece contains U+2581.
    assert!(!has_tables(&[piece("a\u{FFFD}", false)], Unknown::Bytes));
    assert!(!has_tables(&[], Unknown::Error));
    assert!(!has_tables(&[piece("\u{2581}a", true)], Unknown::Bytes));
}

/// Tests texts whose parts end at the ends of ASCII blocks and of batches.
#[test]
fn block_and_batch_ends() {
    let pieces: Vec<(String, bool)> =
        ["a", "b", "ab", "\u{2581}a", "世", "é", "aé"].iter().map(|piece| (piece.to_string(), false)).collect();
    let patterns = ["ab ", "a", " ", "世", "abé", "a世", "b\n", "\u{2581}a", "a\u{FFFD}b"];
    let texts: Vec<Vec<u8>> = patterns
        .iter()
        .flat_map(|pattern| [62, 63, 64, 65, 66, 127, 129, 700].map(|count| pattern.repeat(count).into()))
        .collect();
    check_tokens(spec(&pieces, Unknown::Bytes, true, false), &texts);
    let shifted_texts = (60..70)
        .map(|count| [&b"a".repeat(count)[..], "世 ab\u{2581}".as_bytes(), &b"ab ".repeat(40)[..count]].concat());
    check_tokens(spec(&pieces, Unknown::Unk, false, false), &shifted_texts.collect::<Vec<_>>());
}
