//! A bounded memory of words and their best paths, one for each encoding that is at work.
//!
//! Like `cache`, but an entry holds besides the path how far the sum before the word may be from zero (see `certain`). A word's
//! key is its bytes and their number, at most 15 without a U+2581 at its start. A path is up to five entries of three bytes. Words
//! whose path is never certain are kept too, so that it is not computed again. Each line holds two words; a newcomer pushes out
//! the older one.

use crate::huge;
use crate::prefetch::prefetch;

/// Longest key, in bytes.
const KEY: usize = 15;
/// Longest path.
pub(super) const PATH: usize = 5;
/// Behind the last entry of a path.
pub(super) const END: u32 = (1 << 24) - 1;
/// Lines at first, and at most.
const FEWEST_LINES: usize = 1 << 9;
const MOST_LINES: usize = 1 << 17;

pub(super) const SPACE: &[u8] = "\u{2581}".as_bytes();

/// A path of up to five entries, and below which code of the sum it is certain (`certain::code`); 0: never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Path(u128);

impl Path {
    /// Nothing is known.
    const NONE: Path = Path(0);

    /// None if the path is too long or its entries are too big.
    pub fn new(entries: impl ExactSizeIterator<Item = u32>, limit: u8) -> Option<Path> {
        if entries.len() > PATH {
            return None;
        }
        let mut packed = u128::MAX >> 8;
        for (i, entry) in entries.enumerate() {
            if entry >= END {
                return None;
            }
            packed ^= ((entry ^ END) as u128) << (24 * i);
        }
        Some(Path(packed | (limit as u128) << 120))
    }

    /// A path that is never certain.
    pub const UNCERTAIN: Path = Path(u128::MAX >> 8);

    #[inline]
    pub fn limit(self) -> u32 {
        (self.0 >> 120) as u32
    }

    #[inline]
    pub fn is_known(self) -> bool {
        self != Path::NONE
    }

    /// One of the entries; `END` behind the last.
    #[inline]
    pub fn entry(self, i: usize) -> u32 {
        (self.0 >> (24 * i)) as u32 & END
    }
}

/// A word as the memory sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(u128);

impl Key {
    /// A word that is not kept.
    pub const NONE: Key = Key(0);

    /// The key of `text[start..end]`.
    #[inline]
    pub fn new(text: &[u8], start: usize, end: usize) -> Key {
        match text[start..end] {
            [0xE2, 0x96, 0x81, ..] => Key::with_space(text, start + SPACE.len(), end, true),
            _ => Key::with_space(text, start, end, false),
        }
    }

    /// The same with a U+2581 before it, if `has_space`.
    #[inline]
    pub fn with_space(text: &[u8], start: usize, end: usize, has_space: bool) -> Key {
        let len = end - start;
        if len > KEY {
            return Key::NONE;
        }
        let bytes = match text[start..].first_chunk() {
            // What stands behind the word is shifted out.
            Some(window) => u128::from_le_bytes(*window) & !(u128::MAX << (8 * len)),
            None => {
                let mut bytes = [0; 16];
                bytes[..len].copy_from_slice(&text[start..end]);
                u128::from_le_bytes(bytes)
            }
        };
        Key(bytes | (len as u128 | (has_space as u128) << 7) << 120)
    }

    /// Multiply and fold. `lines` is a power of two, or 0.
    #[inline]
    fn line(self, lines: usize) -> usize {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let product = ((low ^ 0x2D35_8DCC_AA6C_78A5) as u128) * ((high ^ 0x8BB8_4B93_962E_ACC9) as u128);
        ((product as u64) ^ (product >> 64) as u64) as usize & lines.wrapping_sub(1)
    }
}

#[derive(Clone, Copy)]
struct Entry {
    key: Key,
    path: Path,
}

/// The newer and the older entry of a line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([Entry; 2]);

const EMPTY: Line = Line([Entry { key: Key::NONE, path: Path::NONE }; 2]);

/// The memory; it is taken at the first insertion, and doubled when as many words came in as there are lines.
pub(super) struct Memo {
    lines: Vec<Line>,
    insertions: usize,
    most_lines: usize,
}

impl Default for Memo {
    fn default() -> Memo {
        Memo::new(usize::MAX)
    }
}

impl Memo {
    /// An empty memory that takes at most so many bytes.
    pub fn new(limit: usize) -> Memo {
        let fits = limit / size_of::<Line>();
        let most_lines = if fits == 0 { 0 } else { (1 << fits.ilog2()).min(MOST_LINES) };
        Memo { lines: Vec::new(), insertions: 0, most_lines }
    }

    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        self.lines.len() * size_of::<Line>()
    }

    /// The path of a word, or `Path::NONE`. Which of the two entries it is cannot be foreseen, so it is no branch.
    #[inline]
    pub fn get(&self, key: Key) -> Path {
        // An empty entry has the key of words that are not kept, and no path.
        let Some(Line(entries)) = self.lines.get(key.line(self.lines.len())) else { return Path::NONE };
        let entry = &entries[(entries[1].key == key) as usize];
        if entry.key == key { entry.path } else { Path::NONE }
    }

    /// Asks the processor for the line of a word.
    #[inline]
    pub fn prefetch(&self, key: Key) {
        prefetch(&self.lines, key.line(self.lines.len()));
    }

    /// Keeps the path of a word.
    pub fn insert(&mut self, key: Key, path: Path) {
        if key == Key::NONE || self.most_lines == 0 {
            return;
        }
        if self.insertions >= self.lines.len() && self.lines.len() < self.most_lines {
            self.grow();
        }
        self.insertions += 1;
        self.place(Entry { key, path });
    }

    fn place(&mut self, entry: Entry) {
        let at = entry.key.line(self.lines.len());
        let Line([newer, older]) = &mut self.lines[at];
        *older = std::mem::replace(newer, entry);
    }

    #[cold]
    fn grow(&mut self) {
        let lines = (self.lines.len() * 2).max(FEWEST_LINES).min(self.most_lines);
        let mut larger = huge::with_capacity(lines);
        larger.resize(lines, EMPTY);
        let smaller = std::mem::replace(&mut self.lines, larger);
        let entries = smaller.iter().flat_map(|Line([newer, older])| [older, newer]);
        entries.filter(|entry| entry.key != Key::NONE).for_each(|&entry| self.place(entry));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_comes_back_from_its_bits() {
        for path in [&[][..], &[7], &[END - 1, 0], &[1, 2, 3, 4, 5], &[0; 5], &[END - 1; 5]] {
            let packed = Path::new(path.iter().copied(), 200).unwrap();
            assert!(packed.is_known() && packed.limit() == 200);
            let entries: Vec<u32> = (0..PATH).map(|i| packed.entry(i)).take_while(|&entry| entry != END).collect();
            assert_eq!(entries, path);
        }
        assert!(Path::new([0; 6].into_iter(), 1).is_none() && Path::new([END].into_iter(), 1).is_none());
        assert!(Path::UNCERTAIN.is_known() && Path::UNCERTAIN.limit() == 0);
    }

    #[test]
    fn keys_tell_words_apart() {
        let text = "▁ab▁abcdefghijklmno▁abcdefghijklmnop▁".as_bytes();
        let at = |word: &str| text.windows(word.len()).position(|window| window == word.as_bytes()).unwrap();
        let key = |word: &str| Key::new(text, at(word), at(word) + word.len());
        let words = ["▁", "▁a", "▁ab", "ab", "a", "b", "abcdefghijklmno", "▁abcdefghijklmno"];
        for (i, word) in words.iter().enumerate() {
            assert!(key(word) != Key::NONE);
            assert_eq!(key(word), Key::new(word.as_bytes(), 0, word.len()));
            assert!(words[..i].iter().all(|other| key(other) != key(word)));
        }
        assert_eq!(key("▁abcdefghijklmnop"), Key::NONE);
    }

    #[test]
    fn what_was_put_in_comes_out_or_is_gone() {
        let mut memo = Memo::default();
        let words: Vec<String> = (0..200_000u32).map(|i| format!("▁{i:x}")).collect();
        let key = |word: &String| Key::new(word.as_bytes(), 0, word.len());
        let path = |id: u32| Path::new([id, id + 1].into_iter(), 9).unwrap();
        for (word, id) in words.iter().zip(0..) {
            memo.insert(key(word), path(id));
        }
        let found = words.iter().zip(0..).filter(|(word, id)| {
            let found = memo.get(key(word));
            assert!(!found.is_known() || found == path(*id));
            found.is_known()
        });
        let kept = found.count();
        assert!(kept > MOST_LINES && kept <= 2 * MOST_LINES);
    }

    #[test]
    fn it_stays_within_its_limit() {
        let entry = size_of::<Line>();
        for (limit, most) in [(0, 0), (entry - 1, 0), (entry, entry), (3000 * entry, 2048 * entry)] {
            let mut memo = Memo::new(limit);
            let words: Vec<String> = (0..9000u32).map(|i| format!("{i}")).collect();
            let keys = words.iter().map(|word| Key::new(word.as_bytes(), 0, word.len()));
            keys.clone().for_each(|key| memo.insert(key, Path::UNCERTAIN));
            assert_eq!(memo.bytes(), most);
            assert_eq!(keys.filter(|&key| memo.get(key).is_known()).count() > 0, most > 0);
        }
    }
}
