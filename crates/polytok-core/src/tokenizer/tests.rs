use super::*;
use crate::batch::{BatchOptions, RUN_BYTES, encode_batch};
use crate::by_lengths::tests::{pattern_split, tokenizers_with_twins};
use crate::incremental::{Addition, ChunkEncoder, IncrementalText};
use crate::lazy::tests::types_built_by;
use crate::native::tests::specs;
use crate::spec::{Behavior, Kind, Normalize, Priority, ScalarRules, SpecialToken, UnigramRules, VocabColumns};

/// Returns tokenizers of all families, also of those with a route.
fn tokenizers() -> Vec<Tokenizer> {
    let bert = Normalize::Bert { clean_text: true, handle_chinese_chars: true, strip_accents: true, lowercase: true };
    let words = [(r"\s", Behavior::Removed), (r"[!-/\x{3002}]", Behavior::Isolated)];
    let split = words.into_iter().flat_map(|(text, behavior)| pattern_split(text, behavior)).collect();
    let words = Spec { normalize: vec![bert], split, ..specs()[6].clone() };
    let letters = pattern_split(r" ?\p{L}+|\s+|[^\s\p{L}]+", Behavior::Matches);
    let trimmed = Spec { split: letters, trim: TrimOffsets::Space, unknown: Unknown::Drop, ..specs()[0].clone() };
    let others = [words, trimmed].map(|spec| Tokenizer::compile(spec).unwrap());
    tokenizers_with_twins().into_iter().map(|(tokenizer, _)| tokenizer).chain(others).collect()
}

/// Encodes and decodes more text than the limit of any table. Texts that the tokenizer refuses are included.
fn use_all_tables(tokenizer: &Tokenizer) {
    let options = EncodeOptions::default();
    let mut ids = Vec::new();
    for text in ["ab abc caab", "é\u{2581}ab 世 cab, "] {
        let long_text = text.repeat((600 << 10) / text.len());
        _ = tokenizer.encode(long_text.as_bytes(), options, &mut ids);
        let short_text = &long_text.as_bytes()[..8 * text.len()];
        _ = tokenizer.spans(short_text, options);
        _ = tokenizer.plain_tokens(short_text, options);
    }
    _ = tokenizer.encode(&b"ab\xFFcab\xFE".repeat(1 << 10), options, &mut ids);
    _ = tokenizer.decode(&ids, false);
}

#[test]
fn after_a_warm_up_no_table_is_built() {
    for (at, tokenizer) in tokenizers().into_iter().enumerate() {
        let built_types = types_built_by(|| tokenizer.warm_up());
        assert!(types_built_by(|| tokenizer.warm_up()).is_empty(), "the second warm-up of tokenizer {at}");
        let mut types = types_built_by(|| use_all_tables(&tokenizer));
        // The normalizer reads each block of 256 characters when a character of the block first occurs.
        types.retain(|name| !name.starts_with("[u64; 4]") && !name.contains("Rewrite; 256]"));
        assert!(types.is_empty(), "tokenizer {at}: {types:?} after {built_types:?}");
        assert!(tokenizer.segmenter.splits.is_warm(), "tokenizer {at}");
    }
}

#[test]
fn a_warm_up_changes_no_ids() {
    for (warm, (cold, _)) in tokenizers().into_iter().zip(tokenizers_with_twins()) {
        warm.warm_up();
        for text in ["", "ab abc caab", "x\u{2581}ab 世 cab, é", "abcab\u{301} [x]a"] {
            let text = text.repeat(3);
            let encode = |tokenizer: &Tokenizer| {
                let mut ids = Vec::new();
                let result = tokenizer.encode(text.as_bytes(), EncodeOptions::default(), &mut ids);
                result.map(|()| ids).map_err(|error| error.to_string())
            };
            assert_eq!(encode(&warm), encode(&cold), "{text:?}");
        }
    }
}

/// Under ThreadSanitizer (docs/robustness.md), this test finds races at the first use of each table.
#[test]
fn threads_that_share_a_new_tokenizer_get_the_ids_of_one_thread() {
    const TEXTS: [&str; 4] = ["ab abc caab", "x\u{2581}ab 世 cab, é", "abcab\u{301} [x]a", "a b c\r\n\t12"];
    let long_texts = TEXTS.map(|text| text.repeat(RUN_BYTES / text.len() + 1));
    let rows: Vec<Option<&[u8]>> = long_texts.iter().map(|text| Some(text.as_bytes())).collect();
    let results = |tokenizer: &Tokenizer, threads| {
        let options = BatchOptions { threads, ..BatchOptions::default() };
        let ids = encode_batch::<u32>(tokenizer, &rows, &options);
        let text = ids.as_ref().map(|batch| tokenizer.decode(&batch.ids, false)).ok();
        let spans = TEXTS.map(|text| {
            let spans = tokenizer.spans(text.as_bytes(), EncodeOptions::default());
            spans.map(|spans| (spans.ids, spans.starts, spans.ends))
        });
        let ids = ids.map(|batch| (batch.ids, batch.offsets));
        format!("{ids:?} {text:?} {spans:?}") // errors cannot be compared
    };
    for (shared, alone) in tokenizers().iter().zip(tokenizers()) {
        let expected = results(&alone, 1);
        std::thread::scope(|scope| {
            let users: Vec<_> = (1..=3).map(|threads| scope.spawn(move || results(shared, threads))).collect();
            scope.spawn(|| shared.pool().clear());
            scope.spawn(|| shared.warm_up());
            for user in users {
                assert_eq!(user.join().unwrap(), expected);
            }
        });
    }
}

#[test]
fn unknown_bytes_in_several_chunks_are_one_token() {
    // The entry "é" cannot be produced, because no merge has it.
    let model = Model::Bpe {
        priority: Priority::Merges(Vec::new()),
        symbols: Symbols::Bytes,
        whole_piece_first: false,
        reserved: false,
        scalars: ScalarRules::default(),
    };
    let tokenizer = Tokenizer::compile(Spec { model, ..specs().remove(0) }).unwrap();
    let options = EncodeOptions::default();
    let text = "aéé世éé世a";
    let (mut expected, mut ids, mut encoder) = (Vec::new(), Vec::new(), ChunkEncoder::default());
    tokenizer.encode(text.as_bytes(), options, &mut expected).unwrap();
    assert_eq!(expected.iter().filter(|&&id| id == 0).count(), 1);
    for chunk in text.as_bytes().chunks(1) {
        encoder.push(&tokenizer, Addition { text: chunk, runs: None }, options, &mut ids).unwrap();
    }
    encoder.finish(&tokenizer, options, &mut ids).unwrap();
    assert_eq!(ids, expected);
}

/// Found by fuzzing: a special token or an entry that ends inside a character leaves a rest that is unknown text.
#[test]
fn no_cut_follows_a_character_in_which_a_token_can_end() {
    let special =
        |text: &[u8]| SpecialToken { text: text.into(), id: TokenId(1000), always: true, ..SpecialToken::default() };
    let rows = |part: &'static [u8]| {
        [&b"<unk>"[..], b"a", "é".as_bytes(), part]
            .map(|text| (text, 0.0, if text == b"<unk>" { Kind::Unknown } else { Kind::Normal }))
    };
    for (special, part) in [(vec![special(b"\xC3")], &b"b"[..]), (Vec::new(), b"a\xC3")] {
        for model in [Model::Plamo2, Model::Longest] {
            let vocab = VocabColumns::from_rows(rows(part));
            let spec = Spec { special: special.clone(), unknown: Unknown::Unk, ..Spec::new(vocab, model) };
            let tokenizer = Tokenizer::compile(spec).unwrap();
            let (options, text) = (EncodeOptions::default(), "aé\0aéa\0é\0\0a".repeat(20));
            let (mut expected, mut ids) = (Vec::new(), Vec::new());
            tokenizer.encode(text.as_bytes(), options, &mut expected).unwrap();
            let mut encoder = ChunkEncoder::default();
            for chunk in text.split_inclusive(|_| true) {
                let chunk = Addition { text: chunk.as_bytes(), runs: None };
                encoder.push(&tokenizer, chunk, options, &mut ids).unwrap();
            }
            encoder.finish(&tokenizer, options, &mut ids).unwrap();
            assert_eq!(ids, expected);
        }
    }
}

/// Found by fuzzing: a changing text of SentencePiece's Unigram has the special tokens of the normalized text.
#[test]
fn changing_texts_of_unigram_have_the_special_tokens_of_normalized_text() {
    let token = SpecialToken {
        text: "É".into(),
        id: TokenId(1000),
        always: true,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: true,
    };
    let spec = specs().into_iter().find(|spec| spec.model == Model::Unigram(UnigramRules::SentencePiece)).unwrap();
    let tokenizer =
        Tokenizer::compile(Spec { special: vec![token], normalize: vec![Normalize::Lowercase], ..spec }).unwrap();
    let options = EncodeOptions::default();
    for text in ["é", "aÉ", "a é世É a", "éé b"] {
        let mut expected = Vec::new();
        tokenizer.encode(text.as_bytes(), options, &mut expected).unwrap();
        assert!(expected.contains(&1000));
        let mut changing = IncrementalText::new(&tokenizer, options).unwrap();
        for chunk in text.split_inclusive(|_| true) {
            changing.append(&tokenizer, Addition { text: chunk.as_bytes(), runs: None }, options).unwrap();
        }
        assert_eq!(changing.ids(&tokenizer, options), expected);
    }
}
