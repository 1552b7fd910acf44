//! Tests best paths with the reference's results and with an exhaustive search.

use super::*;
use crate::native::Tables;
use crate::spec::VocabColumns;
use proptest::prelude::*;

/// Returns a vocabulary of `<unk>` with id 0 and the given pieces, with their scores and kinds.
pub(crate) fn vocab(pieces: &[(&str, f32, Kind)]) -> Vocab {
    let rows = [("<unk>", 0.0, Kind::Unknown)].iter().chain(pieces);
    Vocab::new(VocabColumns::from_rows(rows.copied())).unwrap()
}

/// Returns a model of words of the form `piece:score`, `piece:ud` or `piece:unused` (which has score -1).
pub(crate) fn model(pieces: &str, version: SentencePieceVersion) -> Unigram {
    fn row(word: &str) -> (&str, f32, Kind) {
        let (piece, score) = word.split_once(':').unwrap();
        match score {
            "ud" => (piece, 0.0, Kind::UserDefined),
            "unused" => (piece, -1.0, Kind::Unused),
            score => (piece, score.parse().unwrap(), Kind::Normal),
        }
    }
    let rows: Vec<_> = pieces.split(' ').map(row).collect();
    Unigram::compile(&vocab(&rows), version, &mut Tables::default()).unwrap()
}

pub(crate) fn segments(model: &Unigram, text: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut push = |segment| {
        segments.push(segment);
        Ok(())
    };
    model.segment(text.as_bytes(), &mut UnigramScratch::default(), &mut push).unwrap();
    segments
}

/// Returns the pieces of the segments, joined with spaces; unknown pieces are in brackets.
pub(crate) fn show(text: &str, segments: &[Segment]) -> String {
    let pieces = segments.iter().map(|segment| {
        let piece = String::from_utf8_lossy(&text.as_bytes()[segment.start as usize..segment.end as usize]);
        if segment.id == TokenId::UNKNOWN { format!("[{piece}]") } else { piece.into_owned() }
    });
    pieces.collect::<Vec<_>>().join(" ")
}

fn best(pieces: &str, text: &str, version: SentencePieceVersion) -> String {
    show(text, &segments(&model(pieces, version), text))
}

#[test]
fn releases_round_differently() {
    let rows = [
        (
            "a:-9.8318 b:-6.9855 c:-7.183 ab:-16.817302703857422 bc:-14.168499946594238 abc:-24.000303268432617",
            ["a b c", "a bc"],
        ),
        (
            "a:-4.1108 b:-10.7066 c:-8.7851 abc:-23.602500915527344 bc:-19.491701126098633 ab:-14.817399978637695",
            ["ab c", "abc"],
        ),
        (
            "a:-13.9298 b:-7.1811 c:-13.8419 ab:-21.11090087890625 bc:-21.023000717163086 abc:-34.95280456542969",
            ["a bc", "a bc"],
        ),
    ];
    for (pieces, [classic, modern]) in rows {
        assert_eq!(best(pieces, "abc", SentencePieceVersion::V0_2_1), classic);
        assert_eq!(best(pieces, "abc", SentencePieceVersion::V0_2_3), modern);
    }
}

#[test]
fn ties_unknowns_and_user_defined_pieces() {
    let rows = [
        ("a:-1 aa:-2 aaa:-3", "aaa", "aaa"),
        ("a:-1 b:-1 c:-1 d:-8 abcd:-2 abc:ud", "abcd", "abcd"),
        ("a:-1 b:-1 c:-1 d:-1 ab:ud bcd:ud", "abcd", "a bcd"),
        ("a:-1 b:-1 c:-1", "xyza", "[x] [y] [z] a"),
        ("b:-1 c:-2", "bac", "b [a] c"),
        ("a:unused b:-1 ab:-1", "a", "[a]"),
        ("a:-1 é:-1", "aé日\u{1F600}", "a é [日] [\u{1F600}]"),
        ("a:-1", "", ""),
    ];
    for (pieces, text, expected) in rows {
        for version in [SentencePieceVersion::V0_2_1, SentencePieceVersion::V0_2_3] {
            assert_eq!(best(pieces, text, version), expected, "{pieces}");
        }
    }
    assert_eq!(best("a:-1 b:2 ab:ud", "ab", SentencePieceVersion::V0_2_1), "ab");
    assert_eq!(best("a:-1 b:2 ab:ud", "ab", SentencePieceVersion::V0_2_3), "a b");
}

#[test]
fn long_texts_are_rebased_and_scratch_is_freed() {
    let text = "ab".repeat(600_000);
    for version in [SentencePieceVersion::V0_2_1, SentencePieceVersion::V0_2_3] {
        let (mut scratch, mut count) = (UnigramScratch::default(), 0);
        let mut add = |_| {
            count += 1;
            Ok(())
        };
        model("a:-3.3 b:-5.1 ab:-8.5", version).segment(text.as_bytes(), &mut scratch, &mut add).unwrap();
        assert!(count >= 600_000 && scratch.words.states.capacity() == 0, "{count}");
    }
    // Around 60 million, single precision has steps of 4: without rebasing, small differences are lost.
    let (pieces, text) = ("a:-30000 b:-0.4 c:-0.4 bc:-1.5", "abc".repeat(2000));
    assert!(best(pieces, &text, SentencePieceVersion::V0_2_1).ends_with("a bc"));
    assert!(best(pieces, &text, SentencePieceVersion::V0_2_3).ends_with("a b c"));
}

#[test]
fn vocabularies_are_checked() {
    let is_refused = |pieces: &[(&str, f32, Kind)], version| {
        Unigram::compile(&vocab(pieces), version, &mut Tables::default()).is_err()
    };
    let a = ("a", -1.0, Kind::Normal);
    for version in [SentencePieceVersion::V0_2_1, SentencePieceVersion::V0_2_3] {
        assert!(is_refused(&[("<s>", 0.0, Kind::Control)], version));
        assert!(is_refused(&[a, a], version));
        assert!(is_refused(&[a, ("", -1.0, Kind::Normal)], version));
        assert!(is_refused(&[a, ("a\0", -1.0, Kind::Normal)], version));
        assert!(!is_refused(&[a, ("a", 0.0, Kind::Control)], version));
    }
    assert!(is_refused(&[a, ("b", f32::NAN, Kind::Control)], SentencePieceVersion::V0_2_3));
    assert!(!is_refused(&[a, ("b", f32::NAN, Kind::Control)], SentencePieceVersion::V0_2_1));
    assert!(!is_refused(&[a, ("\0", 0.0, Kind::Unused)], SentencePieceVersion::V0_2_3));
}

#[test]
fn restriction_hides_pieces_but_keeps_scores() {
    let mut columns = VocabColumns { offsets: vec![0, 1, 3], ..Default::default() };
    columns.blob = b"aab".to_vec();
    columns.ids = vec![5, 6];
    columns.scores = vec![-1.0, -50.0];
    columns.kinds = vec![Kind::Normal; 2];
    columns.active_kinds = Some(vec![Kind::Normal, Kind::Unused]);
    let model =
        Unigram::compile(&Vocab::new(columns).unwrap(), SentencePieceVersion::V0_2_1, &mut Tables::default()).unwrap();
    assert_eq!(model.unknown_score, -60.0);
    assert_eq!(show("ab", &segments(&model, "ab")), "a [b]");
}

proptest! {
    #[test]
    fn rows_are_sorted_by_all_their_bytes(pieces in prop::collection::vec("[ab\0]{0,3}|(abcdefgh){1,2}[ab\0]{0,2}|▁[世界]{1,4}", 1..20)) {
        let pieces: Vec<(&str, f32, Kind)> = pieces.iter().map(|piece| (&**piece, 0.0, Kind::Normal)).collect();
        let vocab = vocab(&pieces);
        let mut rows: Vec<Row> = vocab.rows().collect();
        let mut expected = rows.clone();
        expected.sort_by_key(|&row| vocab.bytes(row));
        sort_by_bytes(&vocab, &mut rows);
        prop_assert_eq!(rows, expected);
    }

    /// Sums of whole-number scores are exact in both SentencePiece releases, so the model finds the highest sum of all
    /// segmentations.
    #[test]
    fn no_segmentation_is_better(scores in proptest::collection::btree_map("[ab]{1,3}", -9i32..0, 2..8),
                                 text in "[abc]{1,7}") {
        let score = |piece: &str| match scores.get(piece) {
            Some(&score) => Some(score),
            None if piece.len() == 1 => Some(scores.values().min().unwrap() - 10),
            None => None,
        };
        let mut sums = vec![0];
        for end in 1..=text.len() {
            let sums_to_end = (0..end).filter_map(|start| Some(sums[start] + score(&text[start..end])?));
            sums.push(sums_to_end.max().unwrap());
        }
        let words: Vec<String> = scores.iter().map(|(piece, score)| format!("{piece}:{score}")).collect();
        for version in [SentencePieceVersion::V0_2_1, SentencePieceVersion::V0_2_3] {
            let best_path = segments(&model(&words.join(" "), version), &text);
            let sum: i32 = best_path.iter().map(|s| score(&text[s.start as usize..s.end as usize]).unwrap()).sum();
            prop_assert_eq!(sum, sums[text.len()]);
        }
    }
}
