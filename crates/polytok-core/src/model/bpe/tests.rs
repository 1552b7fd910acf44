//! llama.cpp's SPM, whose merging goes through entries of every kind, against its own loop.

use super::*;
use crate::model::unigram::tests::vocab;
use crate::spec::Line;
use proptest::prelude::*;

/// Highest score first, then leftmost, over texts; what is no entry comes out as unknown characters.
fn naive(rows: &[(String, f32, Kind)], text: &str) -> Vec<String> {
    let score = |text: &str| rows.iter().rev().find(|row| row.0 == text).map(|row| row.1);
    let mut symbols: Vec<String> = text.chars().map(String::from).collect();
    loop {
        let mut best: Option<(f32, usize)> = None;
        for (i, pair) in symbols.windows(2).enumerate() {
            if let Some(score) = score(&pair.concat()).filter(|&score| best.is_none_or(|(top, _)| score > top)) {
                best = Some((score, i));
            }
        }
        let Some((_, at)) = best else { return symbols };
        let right = symbols.remove(at + 1);
        symbols[at] += &right;
    }
}

proptest! {
    #[test]
    fn all_kinds_merge_and_the_last_of_equal_rows_counts(
        rows in proptest::collection::vec(("[abé]{1,4}", -5i32..0, 1u8..6), 1..14),
        text in "[abé]{0,12}",
    ) {
        let rows: Vec<(String, f32, Kind)> = rows.into_iter()
            .map(|(piece, score, kind)| (piece, score as f32, Kind::try_from(kind).unwrap())).collect();
        let borrowed: Vec<(&str, f32, Kind)> = rows.iter().map(|row| (row.0.as_str(), row.1, row.2)).collect();
        let rules = BpeRules::new(Symbols::Chars, true, Line::default());
        let vocab = Arc::new(vocab(&borrowed));
        let bpe = Bpe::compile(vocab, &Priority::Score, &rules, None, &mut Tables::default()).unwrap();
        let mut out = Vec::new();
        let mut emit = |segment: Segment| {
            out.push((segment.id, text[segment.start as usize..segment.end as usize].to_string()));
            Ok(())
        };
        bpe.segment(text.as_bytes(), 0, false, &mut BpeScratch::default(), &mut emit).unwrap();
        let id = |piece: &str| rows.iter().rposition(|row| row.0 == piece).map_or(UNKNOWN, |row| row as u32 + 1);
        let expected: Vec<_> = naive(&rows, &text).into_iter().map(|piece| (id(&piece), piece)).collect();
        prop_assert_eq!(out, expected);
    }
}
