//! Tests of BPE: llama.cpp's SPM, merging by text and by table, broken text, long texts and raw pieces.

use super::*;
use crate::model::unigram::tests::vocab;
use crate::normalize::user_defined::prefix_matcher;
use crate::rng::Rng;
use crate::spec::{SentencePieceVersion, VocabColumns};
use proptest::prelude::*;

/// Merges the adjacent texts whose entry has the highest score, leftmost first, until no two adjacent texts are an
/// entry.
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
    fn entries_of_all_kinds_merge_and_the_last_of_equal_rows_counts(
        rows in proptest::collection::vec(("[abé]{1,4}", -5i32..0, 1u8..6), 1..14),
        text in "[abé]{0,12}",
    ) {
        let rows: Vec<(String, f32, Kind)> = rows.into_iter()
            .map(|(piece, score, kind)| (piece, score as f32, Kind::try_from(kind).unwrap())).collect();
        let borrowed: Vec<(&str, f32, Kind)> = rows.iter().map(|row| (row.0.as_str(), row.1, row.2)).collect();
        let rules = BpeRules::new(Symbols::Chars, true, SentencePieceVersion::default());
        let vocab = Arc::new(vocab(&borrowed));
        let bpe = Bpe::compile(vocab, &Priority::Score, &rules, None, &mut Tables::default()).unwrap();
        let mut out = Vec::new();
        let mut emit = |segment: Segment| {
            out.push((segment.id, text[segment.start as usize..segment.end as usize].to_string()));
            Ok(())
        };
        bpe.segment(text.as_bytes(), 0, false, &mut BpeScratch::default(), &mut emit).unwrap();
        let id = |piece: &str| rows.iter().rposition(|row| row.0 == piece).map_or(TokenId::UNKNOWN, |row| TokenId(row as u32 + 1));
        let expected: Vec<_> = naive(&rows, &text).into_iter().map(|piece| (id(&piece), piece)).collect();
        prop_assert_eq!(out, expected);
    }
}

/// Returns rows of all kinds, with few different scores. Some rows have only a part of a character.
fn odd_rows() -> impl Strategy<Value = Vec<(Vec<u8>, f32, Kind)>> {
    let unit = prop::sample::select(vec!["a", "b", "é", "世", "\u{2581}"]).prop_map(|unit| unit.as_bytes().to_vec());
    let part = prop::sample::select(vec![&b"\xE4"[..], b"\xB8", b"\xE4\xB8", b"\xFF"]).prop_map(<[u8]>::to_vec);
    let bytes = prop::collection::vec(prop_oneof![8 => unit, 1 => part], 1..5).prop_map(|units| units.concat());
    let score = prop::sample::select(vec![-3.0, -2.0, -1.0, -0.0, 0.0, 1.5, f32::NEG_INFINITY]);
    let kind = prop::sample::select(vec![1, 1, 1, 1, 3, 4, 5, 6]).prop_map(|kind| Kind::try_from(kind).unwrap());
    prop::collection::vec((bytes, score, kind), 1..20)
}

/// The id, start and end of each segment, or the text of the error.
type Outcome = std::result::Result<Vec<(TokenId, u32, u32)>, String>;

/// Returns the segments of a text as a piece, as a whole text, and with dropout.
fn results(bpe: &Bpe, text: &[u8]) -> Vec<Outcome> {
    let scratch = &mut BpeScratch::default();
    let rng = &mut Rng::new(text.len() as u64);
    let mut run = |mode: u32| {
        let mut out = Vec::new();
        let mut emit = |segment: Segment| {
            out.push((segment.id, segment.start, segment.end));
            Ok(())
        };
        let result = match mode {
            0 => bpe.segment(text, 0, false, scratch, &mut emit),
            1 => bpe.segment_whole(text, None, scratch, &mut emit),
            _ => bpe.segment_whole(text, Some((0.3, rng)), scratch, &mut emit),
        };
        result.map(|()| out).map_err(|error| error.to_string())
    };
    (0..3).map(&mut run).collect()
}

proptest! {
    #[test]
    fn merging_by_text_agrees_with_merging_by_table(
        rows in odd_rows(), reserved: bool, is_old: bool,
        texts in prop::collection::vec("([ab]{0,3}[abé世界\u{2581}]{0,20}){1,4}", 4), tail in 0usize..3,
    ) {
        let version = if is_old { SentencePieceVersion::V0_2_1 } else { SentencePieceVersion::V0_2_3 };
        let rows = rows.iter().map(|(bytes, score, kind)| (bytes, *score, *kind));
        let vocab = Arc::new(Vocab::new(VocabColumns::from_rows(rows)).unwrap());
        let user_defined = if reserved { None } else { prefix_matcher(&vocab, version).unwrap() };
        let rules = BpeRules::new(Symbols::Chars, reserved, version);
        let compile = || Bpe::compile(vocab.clone(), &Priority::Score, &rules, user_defined.clone(), &mut Tables::default());
        let by_table = compile().unwrap();
        by_table.merging.build_now(|| by_table.source().build().ok());
        for text in texts {
            let by_text = Bpe { merging: SteppedWarmup::after_bytes(1 << 20), ..compile().unwrap() };
            let text = &text.as_bytes()[..text.len().saturating_sub(tail)]; // the last character may be clipped
            prop_assert_eq!(results(&by_text, text), results(&by_table, text), "{:?}", text);
            prop_assert!(by_text.merging.peek().is_none());
        }
    }
}

proptest! {
    /// Not every byte has an entry.
    #[test]
    fn merging_bytes_by_text_agrees_with_merging_by_table(
        words in prop::collection::btree_set("[abc]{1,4}|(ab){1,6}|[aé世]{1,3}", 1..30), is_whole_piece_first: bool,
        texts in prop::collection::vec("([abcé]{0,30}|(ab){0,40}|[aé世x]{0,8}){1,4}", 4),
    ) {
        let rows: Vec<_> = words.iter().rev().map(|word| (word.as_str(), 0.0, Kind::Normal)).collect();
        let vocab = Arc::new(vocab(&rows));
        let rules = BpeRules { whole_piece_first: is_whole_piece_first, ..BpeRules::new(Symbols::Bytes, false, SentencePieceVersion::default()) };
        let compile = || Bpe::compile(vocab.clone(), &Priority::Rank, &rules, None, &mut Tables::default()).unwrap();
        let by_table = compile();
        by_table.merging.build_now(|| by_table.source().build().ok());
        let by_steps = Bpe { merging: SteppedWarmup::after_bytes(200), ..compile() };
        for text in texts {
            prop_assert_eq!(results(&by_steps, text.as_bytes()), results(&by_table, text.as_bytes()), "{:?}", text);
            let by_text = Bpe { merging: SteppedWarmup::after_bytes(1 << 20), ..compile() }; // with few entries, the first text builds the table
            prop_assert_eq!(results(&by_text, text.as_bytes()), results(&by_table, text.as_bytes()), "{:?}", text);
            prop_assert!(by_text.merging.peek().is_none());
        }
    }
}

proptest! {
    #[test]
    fn own_entries_are_encoded_as_themselves(
        words in prop::collection::vec("[abc]{1,5}|(ab){1,6}|[aé世]{1,3}", 1..30), is_whole_piece_first: bool, has_table: bool,
    ) {
        let rows: Vec<_> = words.iter().map(|word| (word.as_str(), 0.0, Kind::Normal)).collect();
        let rules = BpeRules { whole_piece_first: is_whole_piece_first, ..BpeRules::new(Symbols::Bytes, false, SentencePieceVersion::default()) };
        let bpe = Bpe::compile(Arc::new(vocab(&rows)), &Priority::Rank, &rules, None, &mut Tables::default()).unwrap();
        if has_table {
            bpe.merging.build_now(|| bpe.build_merging());
        }
        prop_assert_eq!(bpe.own_entries().is_some(), is_whole_piece_first || bpe.merging.peek().is_some());
        for (entry, id) in bpe.own_entries().into_iter().flatten() {
            prop_assert_eq!(&results(&bpe, &entry)[0], &Ok(vec![(id, 0, entry.len() as u32)]));
        }
    }
}

proptest! {
    /// A later entry can be a half of an earlier entry, so merging can split entries. Not every byte has an entry, and
    /// some pieces are too long.
    #[test]
    fn short_pieces_have_the_ids_of_the_heap(
        words in prop::collection::vec("[abc]{1,5}|(ab){1,6}|[aé世]{1,3}", 1..40), is_whole_piece_first: bool,
        pieces in prop::collection::vec(prop::collection::vec((any::<prop::sample::Index>(), odd_tail()), 0..8), 8),
    ) {
        let rows: Vec<_> = words.iter().map(|word| (word.as_str(), 0.0, Kind::Normal)).collect();
        let rules = BpeRules { whole_piece_first: is_whole_piece_first, ..BpeRules::new(Symbols::Bytes, false, SentencePieceVersion::default()) };
        let bpe = Bpe::compile(Arc::new(vocab(&rows)), &Priority::Rank, &rules, None, &mut Tables::default()).unwrap();
        let scratch = &mut BpeScratch::default();
        let has_tables = bpe.merging.peek().is_some();
        prop_assert!(has_tables || !bpe.encode_short(b"a", false, scratch, &mut Vec::new()));
        bpe.merging.build_now(|| bpe.build_merging());
        let all_pairs = bpe.source().build_all().unwrap();
        let concat = |parts: Vec<(prop::sample::Index, Vec<u8>)>| -> Vec<u8> {
            parts.iter().flat_map(|(index, tail)| [index.get(&words).as_bytes(), tail]).flatten().copied().collect()
        };
        let entries = words.iter().map(|word| word.clone().into_bytes());
        for piece in pieces.into_iter().map(concat).chain(entries) {
            let mut symbols = Vec::new();
            all_pairs.units.push(&piece, 0, &mut symbols);
            merge::merge_long(&all_pairs.pairs, &mut symbols, &mut Default::default(), &mut NoWatcher);
            let id = |symbol: &PlacedSymbol| match symbol.symbol.kind(bpe.vocab.len()) {
                SymbolKind::Row(row) => Some(bpe.vocab.id(row)),
                _ => None,
            };
            let merged_ids: Option<Vec<TokenId>> = symbols.iter().map(id).collect();
            for is_part in [false, true] {
                let entry = bpe.dictionary.reachable_rows.find(&bpe.vocab, &piece).filter(|_| is_whole_piece_first && !is_part);
                let expected = entry.map(|row| vec![bpe.vocab.id(row)]).or(merged_ids.clone());
                let mut ids = vec![TokenId(7)];
                let is_encoded = bpe.encode_short(&piece, is_part, scratch, &mut ids);
                prop_assert!(!is_encoded || Some(&ids) == expected.as_ref(), "{:?}", piece);
                let must_encode = piece.len() <= 32 && merged_ids.is_some() && entry.is_none();
                prop_assert!(is_encoded || !must_encode, "{:?}", piece);
            }
        }
    }
}

/// Generates up to three bytes, which can be of no entry.
fn odd_tail() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(prop::sample::select(b"abc\xC3\xA9\xE4\x00".to_vec()), 1..4)]
}

/// Generates bytes, in runs and alone; some of the bytes are adjacent in entries.
fn odd_bytes(len: usize) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop::sample::select(b"ab\xC3\xA9\x80\xFF\xFE\xE4".to_vec());
    let run = prop_oneof![6 => 1usize..3, 1 => 30usize..70];
    let runs = prop::collection::vec((byte, run), 1..len);
    runs.prop_map(|runs| runs.into_iter().flat_map(|(byte, count)| std::iter::repeat_n(byte, count)).collect())
}

proptest! {
    #[test]
    fn broken_text_is_split_only_where_nothing_merges(
        words in prop::collection::btree_set(prop::collection::vec(prop::sample::select(b"ab\xC3\xA9\x80\xFF".to_vec()), 1..6), 1..30),
        is_whole_piece_first: bool, has_bytes: bool, text in odd_bytes(400),
    ) {
        let bytes = (0..=255u8).map(|byte| vec![byte]).filter(|byte| has_bytes && !words.contains(byte));
        let entries: Vec<_> = bytes.chain(words.iter().cloned()).collect();
        let vocab = Arc::new(Vocab::new(VocabColumns::from_entries(&entries)).unwrap());
        let rules = BpeRules { whole_piece_first: is_whole_piece_first, ..BpeRules::new(Symbols::Bytes, false, SentencePieceVersion::default()) };
        let bpe = Bpe::compile(vocab, &Priority::Rank, &rules, None, &mut Tables::default()).unwrap();
        let long = text.repeat(1 + 1200 / text.len());
        for text in [&text, &long, words.first().unwrap()] {
            let (mut split, mut whole) = (Vec::new(), Vec::new());
            let scratch = &mut BpeScratch::default();
            bpe.segment_broken(text, scratch, &mut |segment| { split.push(segment); Ok(()) }).unwrap();
            bpe.segment(text, 0, false, scratch, &mut |segment| { whole.push(segment); Ok(()) }).unwrap();
            let parts = |segments: &[Segment]| -> Vec<_> { segments.iter().map(|s| (s.id, s.start, s.end)).collect() };
            prop_assert_eq!(parts(&split), parts(&whole), "{:?}", text);
        }
    }
}

/// The piece, score and kind of each entry.
type EntryRows = Vec<(Vec<u8>, f32, Kind)>;

/// Returns entries that merge to other entries, and texts with repetitions.
fn many_pieces() -> impl Strategy<Value = (EntryRows, Vec<String>)> {
    let score = prop::sample::select(vec![-9.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0]);
    let word = prop_oneof![4 => "[ab]{1,3}", 4 => "[ab]{2,9}", 1 => "(ab){1,40}", 1 => "a{1,70}", 1 => "[abé世]{1,4}"];
    let row = (word, score).prop_map(|(word, score)| (word.into_bytes(), score, Kind::Normal));
    let text = "([ab]{0,90}|(aab){0,60}|a{0,200}|[abé世]{0,40}){1,5}";
    (prop::collection::vec(row, 1..40), prop::collection::vec(text, 3))
}

proptest! {
    #[test]
    fn windows_and_derived_pairs_agree_with_the_heap_and_all_pairs((rows, texts) in many_pieces(), by_rank: bool) {
        let letters = ["a", "b"].map(|byte| (byte.as_bytes().to_vec(), -1.0, Kind::Normal));
        let rows = letters.iter().chain(&rows).map(|(bytes, score, kind)| (bytes, *score, *kind));
        let vocab = Arc::new(Vocab::new(VocabColumns::from_rows(rows)).unwrap());
        let (priority, symbols) = if by_rank { (Priority::Rank, Symbols::Bytes) } else { (Priority::Score, Symbols::Chars) };
        let rules = BpeRules::new(symbols, false, SentencePieceVersion::default());
        let bpe = Bpe::compile(vocab, &priority, &rules, None, &mut Tables::default()).unwrap();
        bpe.merging.build_now(|| bpe.build_merging());
        let all = bpe.source().build_all().unwrap();
        let plain = |text: &[u8]| {
            let mut symbols = Vec::new();
            all.units.push(text, 0, &mut symbols);
            crate::model::bpe::merge::merge_long(&all.pairs, &mut symbols, &mut Default::default(), &mut NoWatcher);
            symbols
        };
        for row in bpe.merging.peek().unwrap().own_rows().unwrap() {
            let symbols = plain(bpe.vocab.bytes(row));
            prop_assert!(symbols.len() == 1 && symbols[0].symbol == Symbol::row(row));
            let bytes = bpe.vocab.bytes(row);
            prop_assert_eq!(&results(&bpe, bytes)[0], &Ok(vec![(bpe.vocab.id(row), 0, bytes.len() as u32)]));
        }
        for text in texts {
            let symbols = plain(text.as_bytes());
            let mut expected = Vec::new();
            bpe.emit_symbols(text.as_bytes(), &symbols, &SplitsOfSymbols::default(), &mut |segment| {
                expected.push((segment.id, segment.start, segment.end));
                Ok(())
            }).unwrap();
            prop_assert_eq!(&results(&bpe, text.as_bytes())[0], &Ok(expected));
        }
    }
}

proptest! {
    /// The entries can contain U+2581.
    #[test]
    fn raw_pieces_have_the_ids_of_rewritten_pieces(
        words in prop::collection::vec("\u{2581}|[ab\u{2581}]{2,4}|\u{2581}[ab]{1,3}|[ab]|[ab \u{2581}\u{FFFD}é世]{1,3}", 1..40),
        texts in prop::collection::vec("[ab \u{2581}]{1,6}|[ab ]{10,20}|[ab \u{2581}\u{FFFD}é世]{1,8}", 8),
    ) {
        let rows: Vec<_> = words.iter().zip(1..).map(|(word, at)| (word.as_str(), -(at as f32), Kind::Normal)).collect();
        let vocab = Arc::new(vocab(&rows));
        let rules = BpeRules::new(Symbols::Chars, false, SentencePieceVersion::default());
        let compile = || Bpe::compile(vocab.clone(), &Priority::Score, &rules, None, &mut Tables::default()).unwrap();
        let [plain, raw] = [compile(), compile()];
        for bpe in [&plain, &raw] {
            bpe.merging.build_now(|| bpe.build_merging());
        }
        let ids = |bpe: &Bpe, text: &str, is_raw: bool| {
            let (mut ids, scratch) = (Vec::new(), &mut BpeScratch::default());
            let mut emit = |segment: Segment| {
                ids.push((segment.id, text[segment.start as usize..segment.end as usize].replace(' ', "\u{2581}")));
                Ok(())
            };
            match is_raw {
                true => bpe.segment_raw(text.as_bytes(), true, scratch, &mut emit),
                false => bpe.segment(text.as_bytes(), 0, false, scratch, &mut emit),
            }.unwrap();
            ids
        };
        for text in texts {
            let expected = ids(&plain, &text.replace(' ', "\u{2581}"), false);
            let mut short_ids = vec![TokenId(7)];
            let is_encoded = raw.encode_short_raw(text.as_bytes(), true, &mut BpeScratch::default(), &mut short_ids);
            let expected_ids: Vec<TokenId> = expected.iter().map(|&(id, _)| id).collect();
            prop_assert!(!is_encoded || short_ids == expected_ids, "{:?}", text);
            let has_mark = words.iter().any(|word| word == "\u{2581}");
            prop_assert_eq!(is_encoded, has_mark && text.len() <= 32 && !expected_ids.contains(&TokenId::UNKNOWN), "{:?}", text);
            prop_assert_eq!(ids(&raw, &text, true), expected, "{:?}", text);
            let broken_text = [text.as_bytes(), b"\xC3"].concat();
            prop_assert!(!raw.encode_short_raw(&broken_text, true, &mut BpeScratch::default(), &mut short_ids));
        }
        for (text, id) in raw.own_entries_raw().into_iter().flatten() {
            let text = std::str::from_utf8(&text).unwrap();
            prop_assert_eq!(ids(&plain, &text.replace(' ', "\u{2581}"), false), vec![(id, text.replace(' ', "\u{2581}"))]);
        }
    }
}

#[test]
fn the_table_is_built_when_it_pays() {
    let mut rows = vec![("a", -1.0, Kind::Normal), ("aa", -2.0, Kind::Normal)];
    rows.extend(["b", "c", "d", "e", "f", "g", "h", "i", "j"].map(|letter| (letter, -3.0, Kind::Normal)));
    let vocab = Arc::new(vocab(&rows));
    let rules = BpeRules::new(Symbols::Chars, false, SentencePieceVersion::default());
    let bpe = Bpe::compile(vocab, &Priority::Score, &rules, None, &mut Tables::default()).unwrap();
    let mut has_table = Vec::new();
    for _ in 0..6 {
        assert_eq!(results(&bpe, b"aaa")[0], Ok(vec![(TokenId(2), 0, 2), (TokenId(1), 2, 3)]));
        has_table.push(bpe.merging.peek().is_some());
    }
    assert_eq!(has_table, [false, true, true, true, true, true]);
}
