//! A bounded cache from piece bytes to ids, one per thread.
//!
//! Pieces repeat: in ordinary text nine of ten were seen before. Direct-mapped, one cache line per entry with key and ids
//! inline, a newcomer overwrites: no chains, no growth, no eviction policy. Pieces that are too long, or give too many
//! ids, are not kept.

/// Longest key, in bytes.
const KEY: usize = 26;
/// Most ids of an entry.
const IDS: usize = 9;
/// Entries; 64 bytes each.
const ENTRIES: usize = 1 << 16;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Entry {
    ids: [u32; IDS],
    key: [u8; KEY],
    key_len: u8,
    id_count: u8,
}

const EMPTY: Entry = Entry { ids: [0; IDS], key: [0; KEY], key_len: 0, id_count: 0 };

/// The cache; memory is taken at the first insertion.
#[derive(Default)]
pub struct Cache {
    entries: Vec<Entry>,
}

/// Where a piece belongs, computed once for a lookup and the insertion that may follow it.
#[derive(Clone, Copy)]
pub struct Place(usize);

impl Cache {
    /// The place of a piece, or None if such a piece is not kept.
    #[inline]
    pub fn place(piece: &[u8]) -> Option<Place> {
        (!piece.is_empty() && piece.len() <= KEY).then(|| Place(hash(piece) as usize & (ENTRIES - 1)))
    }

    /// The ids of a piece.
    #[inline]
    pub fn get(&self, place: Place, piece: &[u8]) -> Option<&[u32]> {
        let entry = self.entries.get(place.0)?;
        let is_it = entry.key_len as usize == piece.len() && entry.key[..piece.len()] == *piece;
        is_it.then(|| &entry.ids[..entry.id_count as usize])
    }

    /// Keeps the ids of a piece, if they are few.
    #[inline]
    pub fn insert(&mut self, place: Place, piece: &[u8], ids: &[u32]) {
        if ids.len() > IDS {
            return;
        }
        if self.entries.is_empty() {
            self.entries = vec![EMPTY; ENTRIES];
        }
        let entry = &mut self.entries[place.0];
        entry.key[..piece.len()].copy_from_slice(piece);
        entry.key_len = piece.len() as u8;
        entry.ids[..ids.len()].copy_from_slice(ids);
        entry.id_count = ids.len() as u8;
    }
}

/// Multiply and fold over eight bytes at a time; the last eight may overlap.
#[inline]
fn hash(piece: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |state: u64, word: u64| {
        let product = ((state ^ word) as u128) * (MULTIPLIER as u128);
        (product as u64) ^ (product >> 64) as u64
    };
    let read = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    let mut chunks = piece.chunks_exact(8);
    let state = chunks.by_ref().fold(piece.len() as u64, |state, chunk| mix(state, read(chunk)));
    mix(state, read(chunks.remainder()))
}
