//! Tests that encoding before normalization has the ids of the normalized text.

use std::sync::Arc;

use proptest::prelude::*;

use crate::model::unigram::tests::vocab;
use crate::model::unigram::{RAW_BASE, Unigram, UnigramScratch, WordTables, accepts_raw};
use crate::native::Tables;
use crate::normalize::charsmap::tests::blob;
use crate::normalize::origin::{Origin, Place};
use crate::normalize::sentencepiece::SentencePieceNormalizer;
use crate::normalize::user_defined::prefix_matcher;
use crate::post::tiles::Tiles;
use crate::post::{Fallback, Out};
use crate::sink::Spans;
use crate::spec::{Kind, SentencePieceNormalize, SentencePieceVersion};
use crate::token_id::TokenId;
use crate::vocab::Vocab;

const CHARSMAP_RULES: [(&str, &str); 16] = [
    ("\n", " "),
    ("\u{3000}", " "),
    ("▁", " "),
    ("，", ","),
    ("…", "..."),
    ("x", ""),
    ("a\u{301}", "á"),
    ("b\u{301}", ""),
    (" \u{301}", " c"),
    ("世\u{301}", "é"),
    ("世界", "W"),
    ("½", " 1 2 "),
    ("Ａ", "a"),
    ("¨", "  "),
    ("á", "a"),
    ("😀\u{301}é\u{301}", "b"),
];

fn compile_models(
    vocab: &Vocab,
    rules: &[(&str, &str)],
    version: SentencePieceVersion,
) -> (Unigram, SentencePieceNormalizer) {
    let spec = SentencePieceNormalize {
        charsmap: if rules.is_empty() { Vec::new() } else { blob(rules) },
        add_dummy_prefix: true,
        remove_extra_whitespaces: true,
        escape_whitespaces: true,
        whitespace_as_suffix: false,
    };
    let user_defined: Option<Arc<_>> = prefix_matcher(vocab, version).unwrap();
    let normalizer = SentencePieceNormalizer::compile(spec, user_defined, version).unwrap();
    (Unigram::compile(vocab, version, &mut Tables::default()).unwrap(), normalizer)
}

fn check(
    unigram: &Unigram,
    tables: &WordTables,
    normalizer: &SentencePieceNormalizer,
    text: &[u8],
    fallback: &Fallback,
) {
    let mut normalized = Vec::new();
    normalizer.normalize(text, &mut normalized);
    let mut expected: Vec<u32> = Vec::new();
    let mut out = Out::new(fallback, &mut expected);
    let mut take = |segment| out.write_segment(&normalized, 0, segment);
    unigram.segment(&normalized, &mut UnigramScratch::default(), &mut take).unwrap();
    let mut scratch = UnigramScratch::default();
    for _ in 0..2 {
        let mut ids: Vec<u32> = Vec::new();
        let out = &mut Out::new(fallback, &mut ids);
        unigram.encode_raw(tables, normalizer, text, &mut scratch, out).unwrap();
        assert_eq!(
            ids,
            expected,
            "{:?} is normalized to {:?}",
            String::from_utf8_lossy(text),
            String::from_utf8_lossy(&normalized)
        );
    }
}

/// Checks that the tokens of UTF-8 text end at the offsets that the normalizer returns.
fn check_ends(
    unigram: &Unigram,
    tables: &WordTables,
    normalizer: &SentencePieceNormalizer,
    text: &[u8],
    fallback: &Fallback,
) {
    let (normalized, offsets) = normalizer.normalize_whole_chars(text).unwrap();
    let mut expected = Spans::default();
    let mut out = Out::new(fallback, &mut expected);
    out.begin_part(Place { at: RAW_BASE, origin: Origin::Offsets(offsets) });
    let mut take = |segment| out.write_segment(&normalized, 0, segment);
    unigram.segment(&normalized, &mut UnigramScratch::default(), &mut take).unwrap();
    let mut scratch = UnigramScratch::default();
    for _ in 0..2 {
        let mut tiles = Tiles::default();
        let out = &mut Out::new(fallback, &mut tiles);
        unigram.encode_raw_to_tiles(tables, normalizer, text, &mut scratch, out).unwrap();
        assert_eq!((&tiles.ids, &tiles.ends), (&expected.ids, &expected.ends), "{:?}", std::str::from_utf8(text));
        let starts = std::iter::once(RAW_BASE + normalizer.leading_spaces(text) as u32).chain(tiles.ends.clone());
        assert!(starts.zip(&expected.starts).all(|(start, &expected)| start == expected));
    }
}

proptest! {
    #[test]
    fn raw_text_and_normalized_text_have_the_same_ids(
        pieces in prop::collection::btree_map("▁?[abcé,.世W界]{1,4}|▁|▁▁|[.,]{1,4}|😀|á|1|b\u{301}", (-12i32..0, 0usize..8), 1..24),
        picks in prop::collection::vec(0..CHARSMAP_RULES.len(), 0..10),
        parts in prop::collection::vec(
            prop_oneof![
                6 => "[abcé世界ц,.]{1,4}", 3 => "[abcxy,. ]{4,40}", 4 => " {1,3}", 1 => "\u{301}", 1 => "[x\n\u{3000}▁，…½Ａ¨áW😀1]", 2 => "[a世b😀] ?\u{301}", 1 => "[цщ]{1,5}"],
            0..30)) {
        let kind = |kind| if kind == 0 { Kind::UserDefined } else { Kind::Normal };
        let rows: Vec<(&str, f32, Kind)> =
            [("q", -20.0, Kind::Normal)].into_iter().chain(pieces.iter().map(|(piece, &(score, k))| (&**piece, score as f32 * 1.1, kind(k)))).collect();
        let rules: Vec<(&str, &str)> = picks.iter().collect::<std::collections::BTreeSet<_>>().into_iter().map(|&i| CHARSMAP_RULES[i]).collect();
        let text = parts.concat();
        let bytes = Fallback::Bytes(Box::new(std::array::from_fn(|byte| TokenId(1000 + byte as u32))));
        for version in [SentencePieceVersion::V0_2_1, SentencePieceVersion::V0_2_3] {
            let vocab = vocab(&rows);
            let (unigram, normalizer) = compile_models(&vocab, &rules, version);
            let tables = WordTables::raw(&unigram, &normalizer, &vocab);
            if let Some(tables) = tables.filter(|_| accepts_raw(text.as_bytes())) {
                for fallback in [&Fallback::Unk(TokenId(0)), &bytes, &Fallback::Drop] {
                    check(&unigram, &tables, &normalizer, text.as_bytes(), fallback);
                }
                for fallback in [&Fallback::Unk(TokenId(0)), &bytes].into_iter().filter(|fallback| unigram.covers_raw(fallback)) {
                    check_ends(&unigram, &tables, &normalizer, text.as_bytes(), fallback);
                }
                let mut broken_text = text.clone().into_bytes();
                broken_text.retain(|&byte| byte != 0xB8 && byte != 0x81);
                check(&unigram, &tables, &normalizer, &broken_text, &bytes);
            }
        }
    }
}

#[test]
fn tables_for_raw_texts_depend_on_the_rules() {
    let vocab = vocab(&[("a", -1.0, Kind::Normal), ("▁a", -1.0, Kind::Normal)]);
    let has_tables = |rules: &[(&str, &str)]| {
        let (unigram, normalizer) = compile_models(&vocab, rules, SentencePieceVersion::V0_2_3);
        WordTables::raw(&unigram, &normalizer, &vocab).is_some()
    };
    assert!(has_tables(&[]) && has_tables(&CHARSMAP_RULES));
    assert!(!has_tables(&[("ab", "c")]), "a later character of a key is ASCII");
    assert!(!has_tables(&[("c", &"long".repeat(20))]), "the output is much longer than the key");
}
