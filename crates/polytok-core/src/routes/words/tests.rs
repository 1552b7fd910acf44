use proptest::prelude::*;

use crate::normalize::charsmap::tests::blob;
use crate::routes::Route;
use crate::sink::Token;
use crate::spec::{
    Behavior, Decode, Form, Kind, Matching, Model, Normalize, Pattern, Replace, Scheme, SentencePieceVersion, Spec,
    Split, TemplatePart, TrimOffsets, UnigramRules, Unknown, VocabColumns,
};
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// Returns a vocabulary of an unknown entry and these entries.
fn vocab_columns(entries: &[String]) -> VocabColumns {
    let mut columns = VocabColumns { offsets: vec![0], ..VocabColumns::default() };
    let entries = entries.iter().collect::<std::collections::BTreeSet<_>>();
    for (id, entry) in std::iter::once("<unk>").chain(entries.into_iter().map(String::as_str)).enumerate() {
        columns.blob.extend_from_slice(entry.as_bytes());
        columns.offsets.push(columns.blob.len() as u32);
        columns.ids.push(id as u32);
        columns.scores.push(-((id * 7 % 5) as f32));
        columns.kinds.push(if id == 0 { Kind::Unknown } else { Kind::Normal });
    }
    columns
}

fn spec(entries: &[String], normalize: Vec<Normalize>, split: Vec<Split>, model: Model) -> Spec {
    Spec {
        vocab: vocab_columns(entries),
        special: Vec::new(),
        matching: Matching::Longest,
        normalize,
        split,
        model,
        unknown: Unknown::Unk,
        single: vec![TemplatePart::Slot],
        trim: TrimOffsets::Nothing,
        decode: Decode::Bytes { skips_unknown: false },
        sentencepiece_version: SentencePieceVersion::V0_2_3,
    }
}

fn pattern(text: &str, is_regex: bool) -> Pattern {
    Pattern { text: text.into(), is_regex, unicode: None }
}

fn pattern_split(text: &str, is_regex: bool, behavior: Behavior) -> Split {
    Split::Pattern { pattern: pattern(text, is_regex), behavior, invert: false }
}

/// Returns a spec of Hugging Face's BERT.
fn bert_spec(entries: &[String], flags: u8) -> Spec {
    let flag = |bit: u8| flags >> bit & 1 == 1;
    let bert = Normalize::Bert {
        clean_text: flag(0),
        handle_chinese_chars: flag(1),
        strip_accents: flag(2),
        lowercase: flag(3),
    };
    let split =
        vec![pattern_split(r"\s", true, Behavior::Removed), pattern_split(r"[!-/\x{3002}]", true, Behavior::Isolated)];
    let model = Model::WordPiece { continuing_prefix: "##".into(), max_chars: Some(6), phantom_space: false };
    spec(entries, vec![Normalize::ReplaceInvalid { lenient: false }, bert], split, model)
}

/// Returns a spec of llama.cpp's BERT.
fn wpm_spec(entries: &[String], flags: u8) -> Spec {
    let steps = vec![
        Normalize::ReplaceInvalid { lenient: true },
        Normalize::Wpm { lowercase: flags & 1 == 0, strip_accents: flags & 2 == 0 },
    ];
    let model = Model::WordPiece { continuing_prefix: String::new(), max_chars: None, phantom_space: true };
    spec(entries, steps, vec![pattern_split("\0", false, Behavior::Removed)], model)
}

/// Returns a spec of Hugging Face's Unigram. `flags` selects the omitted normalization steps.
fn unigram_spec(entries: &[String], flags: u8) -> Spec {
    let replace = |text: &str, content: &str| {
        Normalize::Replace(Replace { pattern: pattern(text, false), content: content.into() })
    };
    let forms = [Form::Nfkd, Form::Nfc, Form::Nfkc, Form::Nfd];
    let rules = [("\n", " "), ("\t", "_"), ("a\u{301}", "b"), (" \u{301}", "c"), ("\u{600}", "a"), ("\u{3000}", " ")];
    // A deleted character after a character that is replaced by several has spans of its own.
    let mut rules = [&rules[..], &[("ﬁ", "fi"), ("\u{200B}", ""), ("\u{FFFD}", "\u{2581}a")]].concat();
    rules.sort_unstable();
    let steps = [
        Normalize::ReplaceInvalid { lenient: false },
        replace("``", "\""),
        replace("''", "\u{301}\u{600}"),
        Normalize::Unicode(forms[flags as usize % 4]),
        Normalize::StripAccents,
        Normalize::Lowercase,
        Normalize::Precompiled(blob(&rules)),
    ];
    let steps = steps.into_iter().enumerate().filter(|(at, _)| flags >> at & 1 == 0).map(|(_, step)| step);
    let metaspace = Split::Metaspace { replacement: "\u{2581}".into(), prepend: Scheme::Always, split: true };
    let split = vec![pattern_split(r"\s", true, Behavior::Removed), metaspace];
    let model = Model::Unigram(UnigramRules::HuggingFace { byte_fallback: false });
    spec(entries, steps.collect(), split, model)
}

fn encode(tokenizer: &Tokenizer, text: &[u8]) -> Result<Vec<u32>, String> {
    let mut ids = Vec::new();
    let result = tokenizer.encode(text, EncodeOptions::default(), &mut ids);
    result.map(|()| ids).map_err(|error| error.to_string())
}

/// Returns the tokens of a text with spans and words.
fn tokens(tokenizer: &Tokenizer, text: &[u8]) -> Result<Vec<Token>, String> {
    let tokens = tokenizer.window_tokens(text, EncodeOptions::default());
    tokens.map(|(tokens, _)| tokens).map_err(|error| error.to_string())
}

/// Returns the ids and spans of the columns of a text.
fn columns(tokenizer: &Tokenizer, text: &[u8]) -> Result<Vec<(u32, u32, u32)>, String> {
    let spans = tokenizer.spans(text, EncodeOptions::default()).map_err(|error| error.to_string())?;
    Ok(spans.ids.into_iter().zip(spans.starts).zip(spans.ends).map(|((id, start), end)| (id, start, end)).collect())
}

/// Checks that the route has the ids and tokens of the pipeline without a route, with an empty and a filled cache.
fn check_ids(spec: Spec, texts: &[Vec<u8>]) {
    let with_route = Tokenizer::compile(spec.clone()).unwrap();
    let mut without_route = Tokenizer::compile(spec).unwrap();
    without_route.route = None;
    for round in 0..2 {
        for text in texts {
            assert_eq!(
                encode(&with_route, text),
                encode(&without_route, text),
                "{:?}, {round}",
                String::from_utf8_lossy(text)
            );
            let expected = tokens(&without_route, text);
            assert_eq!(tokens(&with_route, text), expected, "{:?}, {round}", String::from_utf8_lossy(text));
            let ids_and_spans = expected.map(|tokens| tokens.iter().map(|t| (t.id.0, t.start, t.end)).collect());
            assert_eq!(columns(&with_route, text), ids_and_spans, "{:?}, {round}", String::from_utf8_lossy(text));
        }
    }
}

fn entries() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("(##|\u{2581})?[abAB',世\u{301}\u{2581}]{1,4}", 1..24)
}

fn texts() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let part = prop_oneof![
        6 => "[ab ]{1,9}".prop_map(String::into_bytes),
        3 => "[abAB ,!'`]{60,90}".prop_map(String::into_bytes),
        3 => "[abAB ,'`\t\n\r世界。é\u{301}\u{327}\u{600}\u{2581}\u{3000}\u{FFFD}\u{200B}İΣﬁ한\0]{1,6}"
            .prop_map(String::into_bytes),
        2 => prop::sample::select(vec!["''", "``", "a''", " '' ", "a \u{301}", "b\r\n \u{301}", "\u{600}a b", " \u{2581}a\u{2581}"])
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
    ];
    let random_bytes = prop_oneof![9 => Just(Vec::new()), 1 => prop::collection::vec(any::<u8>(), 1..4)];
    let text = (prop::collection::vec(part, 0..24), random_bytes)
        .prop_map(|(parts, random_bytes)| [parts.concat(), random_bytes].concat());
    prop::collection::vec(text, 1..4)
}

proptest! {
    #[test]
    fn ids_are_those_of_the_normalized_text(entries in entries(), texts in texts(), flags in any::<u8>()) {
        check_ids(bert_spec(&entries, flags), &texts);
        check_ids(wpm_spec(&entries, flags), &texts);
        check_ids(unigram_spec(&entries, flags), &texts);
    }
}

fn has_route(spec: Spec) -> bool {
    matches!(Tokenizer::compile(spec).unwrap().route, Some(Route::Words(_)))
}

#[test]
fn the_route_is_used_if_its_ids_are_exact() {
    let entries = ["a".to_string()];
    assert!((0..16).all(|flags| has_route(bert_spec(&entries, flags))));
    assert!((0..4).all(|flags| has_route(wpm_spec(&entries, flags))));
    assert!(has_route(unigram_spec(&entries, 0)));
    let with_steps = |steps: Vec<Normalize>| Spec { normalize: steps, ..unigram_spec(&entries, 0) };
    // None of these has a route. In the first spec, a step follows a charsmap, which rewrites whole clusters; in the
    // others, a pattern has a space, a pattern is a regular expression, or spaces are replaced.
    assert!(!has_route(with_steps(vec![Normalize::Precompiled(blob(&[("x", "y")])), Normalize::Lowercase])));
    let replace =
        |text: &str, is_regex| Normalize::Replace(Replace { pattern: pattern(text, is_regex), content: "".into() });
    assert!(!has_route(with_steps(vec![replace("a b", false)])) && !has_route(with_steps(vec![replace("b", true)])));
    assert!(!has_route(with_steps(vec![Normalize::Precompiled(blob(&[(" ", "y")]))])));
}

/// Characters that no entry contains have stand-ins; the words stay apart, and runs with known characters stay known.
#[test]
fn unknown_characters_are_replaced_without_a_change_of_ids() {
    let entries = ["\u{2581}", "\u{2581}a", "ab", "é", "世世", "界", "\u{1}", "か", "\u{1100}"].map(String::from);
    let texts = ["世界世世一", "이미 한 번", "あ一か二が世", "一\u{3000}二\u{1}三\u{2}", "ab一\u{2581}二", "a😀b一é"];
    let texts: Vec<Vec<u8>> = texts.iter().map(|text| [text, "一", &text.repeat(9)].concat().into_bytes()).collect();
    (0..=u8::MAX).for_each(|flags| check_ids(unigram_spec(&entries, flags), &texts));
    let all_ascii: Vec<String> = ('\0'..'\u{80}').map(String::from).collect();
    check_ids(unigram_spec(&all_ascii, 0), &texts);
    let model = |byte_fallback| Model::Unigram(UnigramRules::HuggingFace { byte_fallback });
    let with_bytes: Vec<String> = (0..256).map(|byte| format!("<0x{byte:02X}>")).collect();
    check_ids(Spec { model: model(true), ..unigram_spec(&with_bytes, 0) }, &texts);
}

/// Tests plain text that is longer than a window, with replaced texts near the end of the window.
#[test]
fn texts_longer_than_a_window() {
    let entries: Vec<String> = ["\u{2581}a", "a", "\u{2581}b", "\"", "##a", "b"].map(String::from).to_vec();
    let run_len = (1 << 14) - 3;
    let texts = ["a", "a ", "ab cd"].iter().flat_map(|pattern| {
        ["''", "` ``", "é", " \u{301}", "A b", "b"].map(|replaced_text| {
            let plain_run: String = pattern.chars().cycle().take(run_len).collect();
            [&plain_run, replaced_text, &plain_run, replaced_text, " b ", &plain_run, replaced_text]
                .concat()
                .into_bytes()
        })
    });
    let texts: Vec<Vec<u8>> = texts.collect();
    check_ids(unigram_spec(&entries, 0), &texts);
    check_ids(wpm_spec(&entries, 0), &texts);
    check_ids(bert_spec(&entries, 15), &texts);
}

/// Tests kept parts of many lengths between changed characters, so that parts end at every kind of character.
#[test]
fn spans_of_kept_parts_between_changed_characters() {
    let entries: Vec<String> = ["a", "##a", "b", "é", "\u{2581}a", "世"].map(String::from).to_vec();
    let kept_runs = ["a b", " b", "a ", "aa\nb", "世 世", "ab", "é a"];
    for (run, changed) in kept_runs.iter().flat_map(|&run| {
        ["\0", "É", "a\u{301}", "\0 \0", " \u{301}b", "a''", "`` ''世", "ﬁ\u{200B}a\u{FFFD}"].map(|c| (run, c))
    }) {
        let kept = |len: usize| run.chars().cycle().take(len).collect::<String>();
        let texts: Vec<Vec<u8>> = (60..70)
            .map(|len| [&kept(len), changed, &kept(len), changed, "a ", &kept(9), changed, &kept(len)].concat().into())
            .collect();
        for flags in [0, 1, 3, 7, 15] {
            check_ids(bert_spec(&entries, flags), &texts);
        }
        (0..4).for_each(|flags| check_ids(wpm_spec(&entries, flags), &texts));
        for flags in [0, 8, 24, 64, 72] {
            check_ids(unigram_spec(&entries, flags), &texts);
        }
    }
}

/// A token that starts inside a character gets the span of the whole character, so the text is not divided to parts.
#[test]
fn entries_that_are_parts_of_characters() {
    let mut columns = vocab_columns(&["aX".to_string(), "##Y".to_string()]);
    for byte in &mut columns.blob {
        *byte = match *byte {
            b'X' => 0xC3,
            b'Y' => 0xA9,
            other => other,
        };
    }
    let spec = Spec { vocab: columns, ..bert_spec(&[], 0) };
    check_ids(spec, &["aé aé".into(), format!("{} aé", "aé ".repeat(40)).into()]);
}
