//! A cache of words and their best paths. Each thread that encodes has its own.
//!
//! This cache has the same policy (cache/sets.rs) and the same keys as the cache of pieces, but a separate limit. An
//! entry has the path and the largest sum before the word for which the path is certain (see `certain`). The key of a
//! word is its bytes without a U+2581 at its start, at most 15, and a flag for that U+2581. A path is up to five
//! entries of three bytes. Words whose path is never certain are cached too, so that the path is not computed again.

use crate::cache::{CacheEntry, PieceKey, Sets};
use crate::space_mark;

/// The largest number of entries in a path.
pub(super) const MAX_PATH_ENTRIES: usize = 5;
/// The mark after the last entry of a path.
pub(super) const END: u32 = (1 << 24) - 1;
/// The largest size of this cache in bytes, even if the limit of all caches is higher.
const MAX_BYTES: usize = 8 << 20;

/// A path of up to five entries, and the code of the sum below which the path is certain (`certain::sum_code`); 0 if
/// the path is never certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackedPath(u128);

impl PackedPath {
    /// The value for a word that is not cached.
    const NONE: PackedPath = PackedPath(0);

    /// Packs a path; None if the path is too long or its entries are too large.
    pub fn new(entries: impl ExactSizeIterator<Item = u32>, limit: u8) -> Option<PackedPath> {
        if entries.len() > MAX_PATH_ENTRIES {
            return None;
        }
        let mut packed = u128::MAX >> 8;
        for (i, entry) in entries.enumerate() {
            if entry >= END {
                return None;
            }
            packed ^= ((entry ^ END) as u128) << (24 * i);
        }
        Some(PackedPath(packed | (limit as u128) << 120))
    }

    /// The value for a word whose path is never certain.
    pub const UNCERTAIN: PackedPath = PackedPath(u128::MAX >> 8);

    /// Returns the code of the sum below which the path is certain.
    #[inline]
    pub fn limit(self) -> u32 {
        (self.0 >> 120) as u32
    }

    /// Reports whether the word is cached.
    #[inline]
    pub fn is_cached(self) -> bool {
        self != PackedPath::NONE
    }

    /// Returns one of the entries, or `END` after the last.
    #[inline]
    pub fn entry(self, i: usize) -> u32 {
        (self.0 >> (24 * i)) as u32 & END
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

    /// Returns the path of a word, or `PackedPath::NONE`. The key of a word that is too long differs from the keys of
    /// all entries.
    #[inline]
    pub fn get(&self, key: PieceKey) -> PackedPath {
        let Some(entry) = self.0.candidate(key.hash(), &key) else { return PackedPath::NONE };
        if entry.has_key(&key) { entry.path } else { PackedPath::NONE }
    }

    /// Prefetches the cache line of a word.
    #[inline]
    pub fn prefetch(&self, key: PieceKey) {
        self.0.prefetch(key.hash());
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
    fn a_packed_path_has_the_same_entries() {
        for path in [&[][..], &[7], &[END - 1, 0], &[1, 2, 3, 4, 5], &[0; 5], &[END - 1; 5]] {
            let packed = PackedPath::new(path.iter().copied(), 200).unwrap();
            assert!(packed.is_cached() && packed.limit() == 200);
            let entries: Vec<u32> =
                (0..MAX_PATH_ENTRIES).map(|i| packed.entry(i)).take_while(|&entry| entry != END).collect();
            assert_eq!(entries, path);
        }
        assert!(PackedPath::new([0; 6].into_iter(), 1).is_none() && PackedPath::new([END].into_iter(), 1).is_none());
        assert!(PackedPath::UNCERTAIN.is_cached() && PackedPath::UNCERTAIN.limit() == 0);
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
        let path = |id: u32| PackedPath::new([id, id + 1].into_iter(), 9).unwrap();
        for (word, id) in words.iter().zip(0..) {
            memo.insert(key(word), path(id));
        }
        let cached_words = words.iter().zip(0..).filter(|(word, id)| {
            let cached_path = memo.get(key(word));
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
            assert_eq!(keys.filter(|&key| memo.get(key).is_cached()).count() > 0, most > 0);
        }
    }
}
