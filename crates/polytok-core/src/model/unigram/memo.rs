//! A cache of words and their best paths. Each thread that encodes has its own.
//!
//! This cache has the same policy (cache/sets.rs) and the same keys as the cache of pieces, but a separate limit. An
//! entry has the path and the largest sum before the word for which the path is certain (see `certain`). The key of a
//! word is its bytes without a U+2581 at its start, at most 15, and a flag for that U+2581. Nearly all paths have one
//! or two entries and are stored with the scores and ids of these entries. Longer paths are lists of up to five
//! entries. Words whose path is never certain are cached too, so that the path is not computed again.

use crate::cache::{CacheEntry, PieceKey, Sets};
use crate::space_mark;
use crate::token_id::TokenId;

/// The largest number of entries in a path.
pub(super) const MAX_PATH_ENTRIES: usize = 5;
/// The mark after the last entry of a list.
pub(super) const END: u32 = (1 << ENTRY_BITS) - 1;
const ENTRY_BITS: usize = 22;
/// The number of bits of an id in a pair.
const ID_BITS: u32 = 24;
/// The largest size of this cache in bytes, even if the limit of all caches is higher.
const MAX_BYTES: usize = 8 << 20;

/// The position of a pair's first id, and of its limit.
const IDS_SHIFT: u32 = 64;
const PAIR_LIMIT_SHIFT: u32 = 120;
/// The position of the length of a pair's first entry, and of the bit that is set if there is a second entry.
const FIRST_LEN_SHIFT: u32 = IDS_SHIFT + 2 * ID_BITS;
const FIRST_LEN_BITS: u32 = 5;
const HAS_SECOND_SHIFT: u32 = FIRST_LEN_SHIFT + FIRST_LEN_BITS;
/// The position of the limit of a list.
const LIST_LIMIT_SHIFT: u32 = 112;

/// The path of a word, a pair or a list, with its limit: the code of the sum below which the path is certain
/// (`certain::sum_code`).
///
/// A pair is one or two entries: from the lowest bit, two scores, two ids, the length of the first entry, a bit that is
/// set if there are two entries, and the limit, which is not 0. A list is up to five entries and a limit, which is 0 if
/// the path is never certain. The limit of a pair is in the highest byte, which is 0 in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackedPath(u128);

/// One or two entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model) struct PathPair {
    pub ids: [TokenId; 2],
    /// The scores; a missing second entry has a score that changes no sum.
    pub scores: [f32; 2],
    /// The length of the first entry in bytes.
    pub first_len: u32,
    pub has_second: bool,
}

impl PackedPath {
    /// The value for a word that is not cached.
    const NONE: PackedPath = PackedPath(0);
    /// The value for a word whose path is never certain.
    pub const UNCERTAIN: PackedPath = PackedPath(u128::MAX >> (128 - LIST_LIMIT_SHIFT));

    /// Packs a list; None if the list is too long or its entries are too large.
    pub fn list(entries: impl ExactSizeIterator<Item = u32>, limit: u8) -> Option<PackedPath> {
        if entries.len() > MAX_PATH_ENTRIES {
            return None;
        }
        let PackedPath(mut packed) = PackedPath::UNCERTAIN;
        for (i, entry) in entries.enumerate() {
            if entry >= END {
                return None;
            }
            packed ^= ((entry ^ END) as u128) << (ENTRY_BITS * i);
        }
        Some(PackedPath(packed | (limit as u128) << LIST_LIMIT_SHIFT))
    }

    /// Packs a pair; None if the numbers are too large, or if the path is never certain.
    pub fn pair(PathPair { ids, scores, first_len, has_second }: PathPair, limit: u8) -> Option<PackedPath> {
        if limit == 0 || first_len >> FIRST_LEN_BITS != 0 || ids.iter().any(|id| id.0 >> ID_BITS != 0) {
            return None;
        }
        let bits = |number: u32, shift: u32| (number as u128) << shift;
        let all_scores = bits(scores[0].to_bits(), 0) | bits(scores[1].to_bits(), 32);
        let all_ids = bits(ids[0].0, IDS_SHIFT) | bits(ids[1].0, IDS_SHIFT + ID_BITS);
        let counts = bits(first_len, FIRST_LEN_SHIFT) | bits(has_second as u32, HAS_SECOND_SHIFT);
        Some(PackedPath(all_scores | all_ids | counts | bits(limit as u32, PAIR_LIMIT_SHIFT)))
    }

    /// Returns the limit of a pair; 0 for a list or a word that is not cached.
    #[inline]
    pub fn pair_limit(self) -> u32 {
        (self.0 >> PAIR_LIMIT_SHIFT) as u32
    }

    /// Returns the limit of a list; 0 for a word that is not cached.
    #[inline]
    pub fn list_limit(self) -> u32 {
        if self.pair_limit() == 0 { (self.0 >> LIST_LIMIT_SHIFT) as u32 } else { 0 }
    }

    /// Reports whether the word is cached.
    #[inline]
    pub fn is_cached(self) -> bool {
        self != PackedPath::NONE
    }

    /// Returns the pair. The path must not be a list.
    #[inline]
    pub fn to_pair(self) -> PathPair {
        let id = |shift: u32| TokenId((self.0 >> shift) as u32 & ((1 << ID_BITS) - 1));
        PathPair {
            ids: [id(IDS_SHIFT), id(IDS_SHIFT + ID_BITS)],
            scores: [f32::from_bits(self.0 as u32), f32::from_bits((self.0 >> 32) as u32)],
            first_len: (self.0 >> FIRST_LEN_SHIFT) as u32 & ((1 << FIRST_LEN_BITS) - 1),
            has_second: self.0 >> HAS_SECOND_SHIFT & 1 == 1,
        }
    }

    /// Returns one of the entries of a list, or `END` after the last.
    #[inline]
    pub fn entry(self, i: usize) -> u32 {
        (self.0 >> (ENTRY_BITS * i)) as u32 & END
    }
}

/// Returns the key of the word `text[start..end]`.
#[inline]
pub(super) fn word_key(text: &[u8], start: usize, end: usize) -> PieceKey {
    match text[start..end] {
        [0xE2, 0x96, 0x81, ..] => PieceKey::new(text, start + space_mark::BYTES.len(), end, true),
        _ => PieceKey::new(text, start, end, false),
    }
}

/// A word and its path.
#[derive(Clone, Copy)]
struct WordPath {
    key: PieceKey,
    path: PackedPath,
}

impl CacheEntry for WordPath {
    type Key = PieceKey;
    const EMPTY: WordPath = WordPath { key: PieceKey::NONE, path: PackedPath::NONE };

    fn is_empty(&self) -> bool {
        !self.path.is_cached()
    }

    #[inline]
    fn has_key(&self, key: &PieceKey) -> bool {
        self.key == *key
    }

    fn key(&self) -> PieceKey {
        self.key
    }

    fn hash(&self) -> u32 {
        self.key.hash()
    }
}

/// The cache, whose memory is allocated at the first insertion.
pub(super) struct Memo(Sets<WordPath>);

impl Default for Memo {
    fn default() -> Memo {
        Memo::new(usize::MAX)
    }
}

impl Memo {
    /// Returns an empty cache of at most `limit` bytes.
    pub fn new(limit: usize) -> Memo {
        Memo(Sets::new(limit.min(MAX_BYTES)))
    }

    /// Returns the number of bytes allocated.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Returns the path of the word with this key and its hash, or `PackedPath::NONE`. The key of a word that is too
    /// long differs from the keys of all entries.
    #[inline]
    pub fn get(&self, key: PieceKey, hash: u32) -> PackedPath {
        let Some(entry) = self.0.candidate(hash, &key) else { return PackedPath::NONE };
        if entry.has_key(&key) { entry.path } else { PackedPath::NONE }
    }

    /// Prefetches the cache line of the word whose key has this hash.
    #[inline]
    pub fn prefetch(&self, hash: u32) {
        self.0.prefetch(hash);
    }

    /// Inserts the path of a word, unless the word is too long.
    pub fn insert(&mut self, key: PieceKey, path: PackedPath) {
        if key.is_short() {
            self.0.insert(WordPath { key, path });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_list_has_the_same_entries() {
        for path in [&[][..], &[7], &[END - 1, 0], &[1, 2, 3, 4, 5], &[0; 5], &[END - 1; 5]] {
            let packed = PackedPath::list(path.iter().copied(), 200).unwrap();
            assert!(packed.is_cached() && packed.list_limit() == 200 && packed.pair_limit() == 0);
            let entries: Vec<u32> =
                (0..MAX_PATH_ENTRIES).map(|i| packed.entry(i)).take_while(|&entry| entry != END).collect();
            assert_eq!(entries, path);
        }
        assert!(PackedPath::list([0; 6].into_iter(), 1).is_none() && PackedPath::list([END].into_iter(), 1).is_none());
        let uncertain = PackedPath::UNCERTAIN;
        assert!(uncertain.is_cached() && uncertain.list_limit() == 0 && uncertain.pair_limit() == 0);
    }

    #[test]
    fn a_packed_pair_has_the_same_numbers() {
        let largest_id = TokenId((1 << ID_BITS) - 1);
        let pairs = [
            PathPair { ids: [TokenId(0), TokenId(0)], scores: [0.0, -0.0], first_len: 1, has_second: false },
            PathPair { ids: [TokenId(7), largest_id], scores: [-9.5, f32::MAX], first_len: 18, has_second: true },
            PathPair { ids: [largest_id, TokenId(1)], scores: [f32::MIN, -1e-3], first_len: 31, has_second: true },
        ];
        for pair in pairs {
            let packed = PackedPath::pair(pair, 200).unwrap();
            assert!(packed.is_cached() && packed.pair_limit() == 200 && packed.list_limit() == 0);
            assert_eq!(
                (packed.to_pair(), packed.to_pair().scores.map(f32::to_bits)),
                (pair, pair.scores.map(f32::to_bits))
            );
            assert_eq!(PackedPath::pair(pair, 0), None);
            assert_eq!(PackedPath::pair(PathPair { first_len: 32, ..pair }, 1), None);
            assert_eq!(PackedPath::pair(PathPair { ids: [TokenId(0), TokenId(1 << ID_BITS)], ..pair }, 1), None);
        }
    }

    #[test]
    fn different_words_have_different_keys() {
        let text = "▁ab▁abcdefghijklmno▁abcdefghijklmnop▁".as_bytes();
        let at = |word: &str| text.windows(word.len()).position(|window| window == word.as_bytes()).unwrap();
        let key = |word: &str| word_key(text, at(word), at(word) + word.len());
        let words = ["▁a", "▁ab", "ab", "a", "b", "abcdefghijklmno", "▁abcdefghijklmno"];
        for (i, word) in words.iter().enumerate() {
            assert!(key(word).is_short());
            assert_eq!(key(word), word_key(word.as_bytes(), 0, word.len()));
            let unmarked = word.trim_start_matches('▁');
            assert_eq!(key(word), PieceKey::new(unmarked.as_bytes(), 0, unmarked.len(), unmarked != *word));
            assert!(words[..i].iter().all(|other| key(other) != key(word)));
        }
        // A U+2581 alone is one character, and so never a word.
        assert!(!key("▁abcdefghijklmnop").is_short() && !key("▁").is_short());
    }

    #[test]
    fn an_inserted_path_is_found_or_was_replaced() {
        let mut memo = Memo::default();
        let words: Vec<String> = (0..200_000u32).map(|i| format!("▁{i:x}")).collect();
        let key = |word: &String| word_key(word.as_bytes(), 0, word.len());
        let path = |id: u32| PackedPath::list([id, id + 1].into_iter(), 9).unwrap();
        for (word, id) in words.iter().zip(0..) {
            memo.insert(key(word), path(id));
        }
        let cached_words = words.iter().zip(0..).filter(|(word, id)| {
            let cached_path = memo.get(key(word), key(word).hash());
            assert!(!cached_path.is_cached() || cached_path == path(*id));
            cached_path.is_cached()
        });
        let cached_count = cached_words.count();
        let most = MAX_BYTES / size_of::<WordPath>();
        assert!(cached_count > most / 2 && cached_count <= most && memo.bytes() == MAX_BYTES);
    }

    #[test]
    fn the_cache_stays_within_its_limit() {
        let set = 2 * size_of::<WordPath>();
        for (limit, most) in [(0, 0), (set - 1, 0), (set, set), (3000 * set, 2048 * set)] {
            let mut memo = Memo::new(limit);
            let words: Vec<String> = (0..9000u32).map(|i| format!("{i}")).collect();
            let keys = words.iter().map(|word| word_key(word.as_bytes(), 0, word.len()));
            keys.clone().for_each(|key| memo.insert(key, PackedPath::UNCERTAIN));
            assert_eq!(memo.bytes(), most);
            assert_eq!(keys.filter(|&key| memo.get(key, key.hash()).is_cached()).count() > 0, most > 0);
        }
    }
}
