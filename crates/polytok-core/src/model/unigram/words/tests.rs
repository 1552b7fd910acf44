//! Tests that encoding word by word agrees with the search over the whole text.

use proptest::prelude::*;

use crate::model::unigram::best_path::Score;
use crate::model::unigram::tests::vocab;
use crate::model::unigram::{Unigram, UnigramScratch};
use crate::native::Tables;
use crate::post::{Fallback, Out};
use crate::sink::{Token, Tokens};
use crate::spec::{Kind, SentencePieceVersion};
use crate::token_id::TokenId;
use crate::vocab::Vocab;

const ALL_VERSIONS: [SentencePieceVersion; 2] = [SentencePieceVersion::V0_2_1, SentencePieceVersion::V0_2_3];

fn compile(pieces: &[(String, f32, Kind)], version: SentencePieceVersion) -> (Unigram, Vocab) {
    let pieces: Vec<(&str, f32, Kind)> = pieces.iter().map(|(piece, score, kind)| (&**piece, *score, *kind)).collect();
    let vocab = vocab(&pieces);
    (Unigram::compile(&vocab, version, &mut Tables::default()).unwrap(), vocab)
}

fn tokens(run: impl FnOnce(&mut Out<Tokens>)) -> Vec<Token> {
    let mut tokens = Tokens::default();
    run(&mut Out::new(&Fallback::Unk(TokenId(0)), &mut tokens));
    tokens.finish()
}

/// Checks that the model and its twin return the same ids and tokens, with and without cached words.
fn check((model, vocab): &(Unigram, Vocab), text: &[u8], scratch: &mut UnigramScratch) {
    let twin = |out: &mut Out<Tokens>| {
        model
            .segment(text, &mut UnigramScratch::default(), &mut |segment| out.write_segment(text, 0, segment))
            .unwrap();
    };
    let expected = tokens(twin);
    let Some(tables) = model.words_now(vocab) else { return };
    for _ in 0..2 {
        let mut ids: Vec<u32> = Vec::new();
        model.encode_words(tables, None, text, scratch, &mut Out::new(&Fallback::Unk(TokenId(0)), &mut ids)).unwrap();
        assert!(ids.iter().eq(expected.iter().map(|token| &token.id.0)), "{:?}", String::from_utf8_lossy(text));
        assert_eq!(tokens(|out| model.encode_words(tables, None, text, scratch, out).unwrap()), expected);
    }
}

/// Returns pieces whose scores are equal or nearly equal: sums of a few values, and the floats adjacent to these sums.
fn pieces() -> impl Strategy<Value = Vec<(String, f32, Kind)>> {
    let score = (0usize..5, 0usize..4, -2i32..3).prop_map(|(a, b, ulps)| {
        let values = [-0.1f32, -1.0 / 3.0, -2.7, -9.8318, -11.5];
        let sum = values[a] * (b + 1) as f32;
        f32::from_bits(sum.to_bits().wrapping_add_signed(ulps))
    });
    let kind = prop_oneof![8 => Just(Kind::Normal), 1 => Just(Kind::UserDefined), 1 => Just(Kind::Unused)];
    // Without a normal piece, the score of unknown characters is so large that no cached path is certain.
    let normal = Just(("a".to_string(), -9.0f32, Kind::Normal));
    let others = prop::collection::btree_map("▁?[abcé世]{2,5}|▁|[.-]{1,4}|😀|▁?[abcé世]", (score, kind), 1..24);
    (normal, others).prop_map(|(normal, others)| {
        let others = others.into_iter().filter(|(piece, _)| *piece != normal.0);
        others.map(|(piece, (score, kind))| (piece, score, kind)).chain([normal.clone()]).collect()
    })
}

/// Returns a vocabulary of letters and all pairs of letters, in which rounding decides between many paths.
fn near_ties() -> Vec<(String, f32, Kind)> {
    let letters = ["a", "b", "c", "d", "▁"];
    let score = |i: usize| -9.8318 - 0.7 * i as f32;
    let single = |i: usize| (letters[i].to_string(), score(i), Kind::Normal);
    let double = |i: usize, k: usize| (format!("{}{}", letters[i], letters[k]), score(i) + score(k), Kind::Normal);
    let pairs = (0..5).flat_map(|i| (0..4).map(move |k| (i, k)));
    (0..5).map(single).chain(pairs.map(|(i, k)| double(i, k))).collect()
}

proptest! {
    #[test]
    fn paths_by_word_are_those_of_the_whole_search(
        pieces in pieces(), texts in prop::collection::vec("(▁?[abcdé世界]{1,6}|▁|[.-]{1,9}|😀|[xyц]{1,3}){0,40}", 1..4)) {
        for version in ALL_VERSIONS {
            let model = compile(&pieces, version);
            let mut scratch = UnigramScratch::default();
            for text in &texts {
                check(&model, text.as_bytes(), &mut scratch);
            }
        }
    }

    /// The sums of pairs are computed in single precision for both references.
    #[test]
    fn sums_of_two_floats_need_no_double_precision(sum in prop::num::f32::NORMAL, score in prop::num::f32::NORMAL, exponent in -30i32..30) {
        for score in [score, (score % 1.0) * 2f32.powi(exponent), -9.8318, -0.0] {
            prop_assert_eq!(<f64 as Score>::round(f64::from(score).plus(sum)).to_bits(), (sum + score).to_bits());
            let sum = sum % 100_000.0;
            prop_assert_eq!(<f64 as Score>::round(f64::from(score).plus(sum)).to_bits(), (sum + score).to_bits());
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_have_the_same_paths(pieces in pieces(), bytes in prop::collection::vec(
        prop::sample::select(vec![&b"a"[..], b"\xE2\x96\x81", b"\xE4\xB8\x96", b"\xE4", b"\x96", b"\xC3", b"\xF0\x9F", b"\xC0\x80",
            b"\xED\xA0\x80", b"\xFF", b"b"]), 0..30)) {
        for version in ALL_VERSIONS {
            check(&compile(&pieces, version), &bytes.concat(), &mut UnigramScratch::default());
        }
    }

    /// Concatenates many pieces, so that the sums of scores get large.
    #[test]
    fn large_sums_round_as_in_the_whole_search(pieces in pieces(), picks in prop::collection::vec(any::<prop::sample::Index>(), 1..30), times in 1usize..400) {
        let text: String = picks.iter().map(|pick| &*pieces[pick.index(pieces.len())].0).collect();
        for version in ALL_VERSIONS {
            check(&compile(&pieces, version), text.repeat(times).as_bytes(), &mut UnigramScratch::default());
        }
    }
}

#[test]
fn near_ties_in_megabytes() {
    let words = ["▁abcd", "▁dcba", "▁aabb", "abca", "▁dd", "▁", "dabcabdacbdabcdabcdbacdbac"];
    let mut rng = crate::rng::Rng::new(3);
    let mut text = String::new();
    while text.len() < 1 << 20 {
        text.push_str(words[rng.next_u64() as usize % words.len()]);
        if rng.next_u64().is_multiple_of(3) {
            text.push_str(&"abcd".repeat(rng.next_u64() as usize % 9));
        }
    }
    for version in ALL_VERSIONS {
        check(&compile(&near_ties(), version), text.as_bytes(), &mut UnigramScratch::default());
    }
}

#[test]
fn large_scores_are_searched_whole() {
    let huge = [("a".to_string(), -1e30, Kind::Normal), ("b".to_string(), -1.0, Kind::Normal)];
    for version in ALL_VERSIONS {
        let (model, vocab) = compile(&huge, version);
        assert!(model.words_now(&vocab).is_none());
    }
}

#[test]
fn tables_are_built_when_they_pay() {
    let (model, vocab) = compile(&near_ties(), SentencePieceVersion::V0_2_3);
    let encode = |text: &[u8]| {
        let mut ids: Vec<u32> = Vec::new();
        let out = &mut Out::new(&Fallback::Unk(TokenId(0)), &mut ids);
        model.encode(text, &vocab, &mut UnigramScratch::default(), out).unwrap();
        model.words.peek().is_some()
    };
    let first_use = (0..1 << 20).find(|_| encode(&[b'a'; 1000]));
    assert!(first_use.is_some_and(|call| (100..300).contains(&call)), "{first_use:?}");
    assert!(encode(b""));
}
