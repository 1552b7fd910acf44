//! A bounded cache from piece bytes to ids, one per thread.
//!
//! Pieces repeat: in ordinary text nine of ten were seen before. A piece and its length are one 128-bit number, so a lookup is
//! one cache line and two comparisons: each line holds two entries, and a newcomer pushes out the older one. No chains, no
//! growth. Pieces of more than 15 bytes, or more than four ids, are not kept.

/// Longest key, in bytes.
const KEY: usize = 15;
/// Most ids of an entry.
const IDS: usize = 4;
/// Lines of two entries; 64 bytes each.
const LINES: usize = 1 << 15;
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

/// The cache; memory is taken at the first insertion.
#[derive(Default)]
pub struct Cache {
    lines: Vec<Line>,
}

/// A piece as the cache sees it: its bytes, its length, and whether it is a whole piece or a part of one (which gives other
/// ids where a vocabulary takes whole pieces without merging).
#[derive(Clone, Copy)]
pub struct Key(u128);

impl Cache {
    /// The key of `text[start..end]`, or None if such a piece is not kept.
    #[inline]
    pub fn key(text: &[u8], start: usize, end: usize, is_part: bool) -> Option<Key> {
        let len = end - start;
        if len == 0 || len > KEY {
            return None;
        }
        let bytes = match text.get(start..start + 16) {
            // What stands behind the piece is shifted out.
            Some(window) => {
                let mut bytes = [0; 16];
                bytes.copy_from_slice(window);
                u128::from_le_bytes(bytes) & (u128::MAX >> (128 - 8 * len))
            }
            None => {
                let mut bytes = [0; 16];
                bytes[..len].copy_from_slice(&text[start..end]);
                u128::from_le_bytes(bytes)
            }
        };
        Some(Key(bytes | (len as u128 | (is_part as u128) << 7) << 120))
    }

    /// The ids of a piece.
    #[inline]
    pub fn get(&self, key: Key) -> Option<&[u32]> {
        let Line([newer, older]) = self.lines.get(key.line())?;
        let entry = if newer.key == key.0 {
            newer
        } else if older.key == key.0 {
            older
        } else {
            return None;
        };
        let count = entry.ids.iter().position(|&id| id == END).unwrap_or(IDS);
        Some(&entry.ids[..count])
    }

    /// Keeps the ids of a piece, if they are few.
    #[inline]
    pub fn insert(&mut self, key: Key, ids: &[u32]) {
        if ids.len() > IDS {
            return;
        }
        if self.lines.is_empty() {
            self.lines = vec![EMPTY; LINES];
        }
        let Line([newer, older]) = &mut self.lines[key.line()];
        *older = *newer;
        newer.key = key.0;
        newer.ids = [END; IDS];
        newer.ids[..ids.len()].copy_from_slice(ids);
    }
}

impl Key {
    /// Multiply and fold.
    #[inline]
    fn line(self) -> usize {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let product = ((low ^ 0x2D35_8DCC_AA6C_78A5) as u128) * ((high ^ 0x8BB8_4B93_962E_ACC9) as u128);
        ((product as u64) ^ (product >> 64) as u64) as usize & (LINES - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_its_bytes_its_length_and_its_part() {
        let text = b"abcdefghijklmnopqrstuvwxyz\0\0";
        let at_end: Vec<u8> = text[..3].to_vec();
        let key = |start, end, part| Cache::key(text, start, end, part).map(|key| key.0);
        assert_eq!(key(0, 3, false), Cache::key(&at_end, 0, 3, false).map(|key| key.0));
        assert_ne!(key(0, 3, false), key(0, 3, true));
        assert_ne!(key(0, 3, false), key(0, 4, false));
        assert_ne!(key(26, 27, false), key(26, 28, false));
        assert!(key(0, 15, false).is_some() && key(0, 16, false).is_none() && key(2, 2, false).is_none());
    }

    #[test]
    fn what_was_put_in_comes_out_or_is_gone() {
        let mut cache = Cache::default();
        let texts: Vec<Vec<u8>> = (0..200_000u32).map(|i| format!("{i:x}").into_bytes()).collect();
        for (text, id) in texts.iter().zip(0..) {
            cache.insert(Cache::key(text, 0, text.len(), false).unwrap(), &[id, id + 1]);
        }
        let found = |(text, id): (&Vec<u8>, u32)| match cache.get(Cache::key(text, 0, text.len(), false).unwrap()) {
            Some(ids) => {
                assert_eq!(ids, [id, id + 1]);
                1
            }
            None => 0,
        };
        let kept: usize = texts.iter().zip(0..).map(found).sum();
        assert!(kept > LINES && kept <= 2 * LINES);
    }
}
