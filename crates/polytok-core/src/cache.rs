//! A bounded cache from piece bytes to ids, one for each encoding that is at work.
//!
//! Pieces repeat: in ordinary text nine of ten were seen before. A piece and its length are one 128-bit number, so a lookup is
//! one cache line and two comparisons: each line holds two entries, and a newcomer pushes out the older one. No chains. Pieces of more than 15 bytes, or more than four ids, are not kept.

/// Longest key, in bytes.
const KEY: usize = 15;
/// Most ids of an entry.
pub const IDS: usize = 4;
/// Lines of two entries, 64 bytes each, at first: a short text shall not pay for a big table.
const FEWEST_LINES: usize = 1 << 9;
/// And at most.
const MOST_LINES: usize = 1 << 15;
/// Behind the last id of an entry.
const END: u32 = u32::MAX;

#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Entry {
    key: u128,
    ids: [u32; IDS],
}

/// The newer and the older entry of a line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([Entry; 2]);

const EMPTY: Line = Line([Entry { key: 0, ids: [END; IDS] }; 2]);

/// The cache; memory is taken at the first insertion, and doubled when as many pieces came in as there are lines.
#[derive(Default)]
pub struct Cache {
    lines: Vec<Line>,
    insertions: usize,
}

/// A piece as the cache sees it: its bytes, its length, and whether it is a whole piece or a part of one (which gives other
/// ids where a vocabulary takes whole pieces without merging).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u128);

impl Cache {
    /// Writes the ids of a piece to the start of `ids` and says how many they are; 0 if the piece is not here. Which of the two
    /// entries it is, and how many ids, cannot be foreseen, so neither is a branch.
    #[inline]
    pub fn get(&self, key: Key, ids: &mut [u32; IDS]) -> usize {
        let Some(Line(entries)) = self.lines.get(key.line(self.lines.len())) else { return 0 };
        let entry = &entries[(entries[1].key == key.0) as usize];
        // An empty entry has the key of pieces that are not kept.
        if entry.key != key.0 || !key.is_kept() {
            return 0;
        }
        *ids = entry.ids;
        1 + entry.ids[1..].iter().map(|&id| (id != END) as usize).sum::<usize>()
    }

    /// Keeps the ids of a piece, if they are few.
    #[inline]
    pub fn insert(&mut self, key: Key, ids: &[u32]) {
        if ids.is_empty() || ids.len() > IDS || !key.is_kept() {
            return;
        }
        if self.insertions >= self.lines.len() && self.lines.len() < MOST_LINES {
            self.grow();
        }
        self.insertions += 1;
        self.place(Entry { key: key.0, ids: first_ids(ids) });
    }

    fn place(&mut self, entry: Entry) {
        let at = Key(entry.key).line(self.lines.len());
        let Line([newer, older]) = &mut self.lines[at];
        *older = std::mem::replace(newer, entry);
    }

    #[cold]
    fn grow(&mut self) {
        let lines = (self.lines.len() * 2).max(FEWEST_LINES);
        let smaller = std::mem::replace(&mut self.lines, vec![EMPTY; lines]);
        let entries = smaller.iter().flat_map(|Line([newer, older])| [older, newer]);
        entries.filter(|entry| Key(entry.key).is_kept()).for_each(|&entry| self.place(entry));
    }
}

/// At most `IDS` ids, and the mark of the end.
fn first_ids(ids: &[u32]) -> [u32; IDS] {
    let mut first = [END; IDS];
    first[..ids.len()].copy_from_slice(ids);
    first
}

impl Key {
    /// A piece that is not kept.
    pub const NONE: Key = Key(0);

    /// The key of `text[start..end]`.
    #[inline]
    pub fn new(text: &[u8], start: usize, end: usize, is_part: bool) -> Key {
        let len = end - start;
        if len == 0 || len > KEY {
            return Key::NONE;
        }
        let mut bytes = [0; 16];
        let bytes = match text.get(start..start + 16) {
            // What stands behind the piece is shifted out.
            Some(window) => {
                bytes.copy_from_slice(window);
                u128::from_le_bytes(bytes) & (u128::MAX >> (128 - 8 * len))
            }
            None => {
                bytes[..len].copy_from_slice(&text[start..end]);
                u128::from_le_bytes(bytes)
            }
        };
        Key(bytes | (len as u128 | (is_part as u128) << 7) << 120)
    }

    /// Whether such a piece is kept.
    #[inline]
    pub fn is_kept(self) -> bool {
        self.0 != 0
    }

    /// Multiply and fold. `lines` is a power of two, or 0.
    #[inline]
    fn line(self, lines: usize) -> usize {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let product = ((low ^ 0x2D35_8DCC_AA6C_78A5) as u128) * ((high ^ 0x8BB8_4B93_962E_ACC9) as u128);
        ((product as u64) ^ (product >> 64) as u64) as usize & lines.wrapping_sub(1)
    }
}

/// A piece of the text: where it is, and whether it was cut out of a longer one.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// First byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
    /// It is not a whole piece of the split.
    pub is_part: bool,
}

/// How many pieces wait.
pub const WAITING: usize = 64;

/// Pieces that wait to be looked up. Looking up many one after the other, with nothing between them, lets the processor
/// fetch their cache lines side by side, which is most of the cost of a lookup.
pub struct Waiting {
    pieces: [Piece; WAITING],
    count: usize,
}

impl Waiting {
    /// Nobody waits.
    #[inline]
    pub fn new() -> Waiting {
        Waiting { pieces: [Piece { start: 0, end: 0, is_part: false }; WAITING], count: 0 }
    }

    /// One more piece; true if no other has room.
    #[inline]
    pub fn push(&mut self, start: usize, end: usize, is_part: bool) -> bool {
        self.pieces[self.count] = Piece { start: start as u32, end: end as u32, is_part };
        self.count += 1;
        self.count == WAITING
    }

    /// The pieces, in order; nobody waits afterwards.
    #[inline]
    pub fn drain(&mut self) -> impl Iterator<Item = Piece> + use<'_> {
        let count = std::mem::take(&mut self.count);
        self.pieces[..count].iter().copied()
    }

    /// The same, with their keys.
    #[inline]
    pub fn drain_with_keys<'a>(&'a mut self, text: &[u8]) -> impl Iterator<Item = (Piece, Key)> + use<'a> {
        let count = std::mem::take(&mut self.count);
        let mut keys = [Key::NONE; WAITING];
        for (key, piece) in keys.iter_mut().zip(&self.pieces[..count]) {
            *key = Key::new(text, piece.start as usize, piece.end as usize, piece.is_part);
        }
        self.pieces[..count].iter().copied().zip(keys)
    }
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_its_bytes_its_length_and_its_part() {
        let text = b"abcdefghijklmnopqrstuvwxyz\0\0";
        let at_end: Vec<u8> = text[..3].to_vec();
        let key = |start, end, part| Key::new(text, start, end, part);
        assert_eq!(key(0, 3, false), Key::new(&at_end, 0, 3, false));
        assert_ne!(key(0, 3, false), key(0, 3, true));
        assert_ne!(key(0, 3, false), key(0, 4, false));
        assert_ne!(key(26, 27, false), key(26, 28, false));
        assert!(key(0, 15, false).is_kept() && !key(0, 16, false).is_kept() && !key(2, 2, false).is_kept());
    }

    #[test]
    fn what_was_put_in_comes_out_or_is_gone() {
        let mut cache = Cache::default();
        let texts: Vec<Vec<u8>> = (0..200_000u32).map(|i| format!("{i:x}").into_bytes()).collect();
        for (text, id) in texts.iter().zip(0..) {
            cache.insert(Key::new(text, 0, text.len(), false), &[id, id + 1]);
        }
        let found = |(text, id): (&Vec<u8>, u32)| {
            let mut ids = [0; IDS];
            let count = cache.get(Key::new(text, 0, text.len(), false), &mut ids);
            assert!(count == 0 || ids[..count] == [id, id + 1]);
            (count > 0) as usize
        };
        let kept: usize = texts.iter().zip(0..).map(found).sum();
        assert!(kept > MOST_LINES && kept <= 2 * MOST_LINES);
    }
}
