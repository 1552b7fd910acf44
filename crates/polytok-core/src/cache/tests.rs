use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

fn key(text: &[u8], start: usize, end: usize, is_part: bool) -> PieceKey {
    PieceKey::new(text, start, end, is_part)
}

/// Looks up a piece, in the entries first and then in the records.
fn get(cache: &Cache, piece: &[u8], is_part: bool) -> Option<Vec<u32>> {
    let key = complete_key(piece, is_part);
    let mut ids = [TokenId(0); MAX_ENTRY_IDS];
    match cache.get(key, key.hash(), &mut ids) {
        0 => cache.get_record(piece, key).map(|ids| TokenId::numbers(ids).to_vec()),
        count => Some(TokenId::numbers(&ids[..count]).to_vec()),
    }
}

fn complete_key(piece: &[u8], is_part: bool) -> PieceKey {
    key(piece, 0, piece.len(), is_part).complete(piece)
}

fn insert(cache: &mut Cache, piece: &[u8], is_part: bool, ids: &[u32]) {
    cache.insert(piece, complete_key(piece, is_part), TokenId::slice_of(ids));
}

#[test]
fn a_key_depends_on_the_bytes_the_length_and_the_flag() {
    let text = b"abcdefghijklmnopqrstuvwxyz\0\0";
    assert_eq!(key(text, 0, 3, false), key(&text[..3], 0, 3, false));
    assert_ne!(key(text, 0, 3, false), key(text, 0, 3, true));
    assert_ne!(key(text, 0, 3, false), key(text, 0, 4, false));
    assert_ne!(key(text, 26, 27, false), key(text, 26, 28, false));
    assert!(
        key(text, 0, 15, true).is_short() && !key(text, 0, 16, true).is_short() && !key(text, 2, 2, true).is_short()
    );
}

#[test]
fn pieces_without_a_short_key_do_not_match_empty_entries() {
    let text = [0; 40];
    for (end, is_part) in [(0, false), (0, true), (16, false), (16, true), (40, false)] {
        let key = key(&text, 0, end, is_part);
        assert!(key != PieceKey::NONE && !key.is_short());
        let mut cache = Cache::default();
        insert(&mut cache, b"a", false, &[1]);
        for key in [key, key.complete(&text[..end])] {
            assert_eq!(cache.get(key, key.hash(), &mut [TokenId(0); MAX_ENTRY_IDS]), 0);
        }
    }
}

#[test]
fn ids_can_have_any_value() {
    for id in [0, 1, (1 << 30) - 1, 1 << 30, u32::MAX] {
        for count in 1..=MAX_ENTRY_IDS + 1 {
            let mut cache = Cache::default();
            insert(&mut cache, b"piece", false, &vec![id; count]);
            assert_eq!(get(&cache, b"piece", false), Some(vec![id; count]));
        }
    }
}

/// The blocks are full, and their last pieces are at the end of the text. At most one piece is missing in the cache.
#[test]
fn a_block_returns_the_ids_of_all_its_pieces() {
    for (id_count, missing) in [(MAX_ENTRY_IDS, 1), (1, 40), (MAX_ENTRY_IDS, BLOCK_LEN - 1), (4, BLOCK_LEN)] {
        let text: Vec<u8> = (0..BLOCK_LEN).flat_map(|at| [if at == missing { 99 } else { at as u8 % 9 }; 2]).collect();
        let ids_of = |at: usize| vec![at as u32 % 9; id_count];
        let (mut cache, mut block) = (Cache::default(), Block::new());
        (0..9).for_each(|at| insert(&mut cache, &[at as u8; 2], at % 3 == 0, &ids_of(at)));
        for at in 0..BLOCK_LEN {
            assert_eq!(block.push(2 * at, 2 * at + 2, at % 3 == 0), at == BLOCK_LEN - 1);
        }
        block.prepare(&text, &cache, true);
        assert_eq!(block.key(3), key(&text, 6, 8, true));
        let after = (missing + 1).min(BLOCK_LEN);
        for (pieces, end) in [(0..missing, missing), (after..BLOCK_LEN, BLOCK_LEN)] {
            let ids: Vec<u32> = pieces.clone().flat_map(ids_of).collect();
            assert_eq!(block.look_up::<true>(pieces.start, &text, &cache), (end, ids.len()));
            let cached_pieces = block.cached_pieces(pieces.clone(), ids.len());
            assert_eq!(TokenId::numbers(cached_pieces.ids), ids);
            assert_eq!(cached_pieces.ranges, pieces.map(|at| (2 * at as u32, 2 * at as u32 + 2)).collect::<Vec<_>>());
            assert!((1u16..).zip(cached_pieces.id_ends).all(|(count, &end)| end == count * id_count as u16));
        }
    }
}

/// Pieces of 15, 16, 32 and 33 bytes with up to 33 ids; the longest pieces are at the end of the text.
#[test]
fn a_block_returns_the_ids_of_records() {
    for id_count in [1, 4, 5, 31, 32, 33] {
        let (mut cache, mut block) = (Cache::default(), Block::new());
        let lens = [15, 16, 32, 33];
        let text: Vec<u8> = (0..BLOCK_LEN).flat_map(|at| vec![at as u8 % 8; lens[at % 4]]).collect();
        let ids_of = |at: usize| vec![at as u32 % 8; id_count];
        let mut start = 0;
        for at in 0..BLOCK_LEN {
            let end = start + lens[at % 4];
            if at < 8 {
                insert(&mut cache, &text[start..end], at == 0, &ids_of(at));
            }
            block.push(start, end, at % 8 == 0);
            start = end;
        }
        block.prepare(&text, &cache, true);
        let found_count = if id_count > 32 { 0 } else { BLOCK_LEN };
        let ids: Vec<u32> = (0..found_count).flat_map(ids_of).collect();
        assert_eq!(block.look_up::<true>(0, &text, &cache), (found_count, ids.len()));
        assert_eq!(TokenId::numbers(&block.ids[..ids.len()]), ids);
        let piece = block.piece(found_count.min(BLOCK_LEN - 1));
        assert_eq!(get(&cache, &text[piece.start..piece.end], piece.is_part).map(|ids| ids.len()), Some(id_count));
    }
}

/// When the records are removed, the entries with their places are removed too, and all other entries are kept.
#[test]
fn no_entry_has_the_place_of_a_removed_record() {
    let mut cache = Cache::new(1 << 12);
    insert(&mut cache, b"short", false, &[1]);
    insert(&mut cache, &[b'a'; 40], false, &[2]);
    insert(&mut cache, b"many ids", false, &[3; 5]);
    let old_words = cache.records.bytes();
    insert(&mut cache, &[b'b'; 1000], false, &[4; 250]);
    insert(&mut cache, b"many new ids", false, &[5; 9]);
    assert_eq!(cache.records.bytes(), old_words);
    assert_eq!(get(&cache, b"short", false), Some(vec![1]));
    assert_eq!((get(&cache, &[b'a'; 40], false), get(&cache, b"many ids", false)), (None, None));
    assert_eq!(get(&cache, b"many new ids", false), Some(vec![5; 9]));
}

#[test]
fn caches_stay_within_their_limits() {
    for limit in [0, 100, 1 << 10, 1 << 16, 1 << 20] {
        let mut cache = Cache::new(limit);
        for i in 0..50_000u32 {
            insert(&mut cache, format!("{i:x}").as_bytes(), false, &[i, i + 1]);
            insert(&mut cache, format!("{i:020x}").as_bytes(), false, &[i, i + 1]);
        }
        assert!(cache.bytes() <= limit, "{} of {limit}", cache.bytes());
        let cached_count = (0..50_000u32).filter(|i| get(&cache, format!("{i:x}").as_bytes(), false).is_some()).count();
        assert_eq!(cached_count == 0, limit < 256);
    }
}

#[test]
fn hardly_any_entry_is_lost_below_the_limit() {
    let mut cache = Cache::default();
    let count = 100_000u32;
    for i in 0..count {
        insert(&mut cache, format!("{i:x}").as_bytes(), false, &[i]);
    }
    let cached_count = (0..count).filter(|i| get(&cache, format!("{i:x}").as_bytes(), false) == Some(vec![*i])).count();
    assert!(cached_count > count as usize * 8 / 10, "{cached_count}");
}

#[test]
fn vocabulary_entries_are_older_than_pieces() {
    let text = |i: u32| format!("{i:x}").into_bytes();
    let [empty_cache, small_cache, mut cache] = [0, 1 << 16, 1 << 20].map(|limit| {
        let mut cache = Cache::new(limit);
        (0..600).for_each(|i| insert(&mut cache, &text(i), false, &[i, i]));
        cache
    });
    assert!(!empty_cache.should_add_entries(5000) && !small_cache.should_add_entries(5000));
    assert!(!cache.should_add_entries(100_000) && cache.should_add_entries(5000));
    let texts: Vec<Vec<u8>> = (300..5000).map(text).chain([vec![b'x'; 16]]).collect();
    let cached_pieces: Vec<u32> = (0..600).filter(|&i| get(&cache, &text(i), false).is_some()).collect();
    cache.add_entries(5000, texts.iter().zip(300..).map(|(text, id)| (&text[..], TokenId(id))));
    assert!(!cache.should_add_entries(5000));
    let look_up = |i| get(&cache, &text(i), false);
    assert!((0..600).all(|i| look_up(i).is_none_or(|ids| ids == [i, i] || (i >= 300 && ids == [i]))));
    assert!((600..5000).all(|i| look_up(i).is_none_or(|ids| ids == [i])));
    assert!(cached_pieces.len() > 400 && cached_pieces.into_iter().all(|i| look_up(i).is_some()));
    assert!((600..5000).filter(|&i| look_up(i).is_some()).count() > 3600);
}

/// Generates pieces that differ only in one byte or in their length, which is near a limit of the keys.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let len = prop::sample::select(vec![1usize, 2, 7, 8, 9, 14, 15, 16, 17, 31, 32, 33, 40, 1023, 1024, 1025]);
    (len, prop::sample::select(vec![0u8, b'a', 255]), 0usize..40, prop::sample::select(vec![0u8, b'a', b'b', 255]))
        .prop_map(|(len, fill_byte, at, other_byte)| {
            let mut piece = vec![fill_byte; len];
            piece[at % len] = other_byte;
            piece
        })
}

/// Generates a few ids, or the ids of a whole sentence.
fn ids() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![3 => prop::collection::vec(any::<u32>(), 0..10), 1 => prop::collection::vec(any::<u32>(), 10..60)]
}

#[test]
fn long_pieces_and_many_ids_are_stored_as_records() {
    let text = |i: u32| format!("{i:>60}").into_bytes();
    let ids = |i: u32| (i..i + i % 40 + 1).collect::<Vec<u32>>();
    let mut cache = Cache::new(1 << 16);
    for i in 0..2000u32 {
        let short_piece = i.to_le_bytes();
        insert(&mut cache, &short_piece, false, &ids(i + 7));
        assert_eq!((get(&cache, &short_piece, false), get(&cache, &short_piece, true)), (Some(ids(i + 7)), None));
        insert(&mut cache, &text(i), i.is_multiple_of(2), &ids(i));
        let look_up = |at: u32| get(&cache, &text(at), at.is_multiple_of(2));
        assert_eq!((look_up(i), get(&cache, &text(i), !i.is_multiple_of(2))), (Some(ids(i)), None));
        assert!((0..i).all(|at| look_up(at).is_none_or(|found_ids| found_ids == ids(at))));
        assert!(cache.bytes() <= 1 << 16);
    }
    assert!((0..2000).any(|at| get(&cache, &text(at), at.is_multiple_of(2)).is_none()), "not all have room");
}

proptest! {
    #[test]
    fn lookups_return_the_inserted_ids(
        entries in prop::collection::vec((piece(), any::<bool>(), ids()), 1..200),
        limit in prop::sample::select(vec![0usize, 256, 4096, 1 << 20]),
    ) {
        let mut cache = Cache::new(limit);
        let mut map = HashMap::new();
        for (piece, is_part, ids) in &entries {
            map.entry((piece.clone(), *is_part)).or_insert_with(|| {
                insert(&mut cache, piece, *is_part, ids);
                ids
            });
            for ((piece, is_part), ids) in &map {
                let found = get(&cache, piece, *is_part);
                prop_assert!(found.is_none() || found.as_ref() == Some(*ids));
                let may_be_kept = piece.len() <= 1024 && !ids.is_empty();
                prop_assert!(found.is_none() || may_be_kept);
            }
        }
    }

    #[test]
    fn keys_are_equal_where_pieces_are(text in prop::collection::vec(0u8..3, 0..40), at in prop::array::uniform4(0usize..40)) {
        let range = |one: usize, other: usize| (one.min(other).min(text.len()), one.max(other).min(text.len()));
        let (one, other) = (range(at[0], at[1]), range(at[2], at[3]));
        let keys = [one, other].map(|(start, end)| key(&text, start, end, false));
        if keys[0].is_short() {
            prop_assert_eq!(keys[0] == keys[1], text[one.0..one.1] == text[other.0..other.1]);
        }
    }
}
