//! The key of a short piece or word: its bytes, its length and a flag, in 128 bits. The key of a long piece has a hash
//! of its bytes instead.

use crate::hash::hash_bytes;

/// The largest length in bytes of a piece that a key can hold.
pub const MAX_KEY_BYTES: usize = 15;

/// The largest length in bytes of a piece whose hash is computed from two windows.
const MAX_WINDOWS_BYTES: usize = 2 * KEY_BYTES;

/// The largest length in bytes of a piece that has a hash, and so can be cached.
pub(super) const MAX_HASHED_BYTES: usize = 1 << 10;

/// The number of bytes of a key.
const KEY_BYTES: usize = MAX_KEY_BYTES + 1;

/// The bits of a key that hold the length of the piece; 0 if the piece is not short.
const LEN_BITS: u128 = 15 << LEN_SHIFT;
const LEN_SHIFT: u32 = 8 * MAX_KEY_BYTES as u32;
/// The bits of the key of a long piece that hold its hash.
const HASH_BITS: u128 = (1 << LEN_SHIFT) - 1;
const FLAG_BIT: u128 = 1 << (LEN_SHIFT + 4);
/// The bit that is set in the cache entry of a piece that has a record.
const MARK_BIT: u128 = 1 << (LEN_SHIFT + 5);
/// The bit that is set if the piece is empty or too long, so that no key equals `NONE`.
const NOT_SHORT_BIT: u128 = 1 << (LEN_SHIFT + 7);

/// For each length of a piece, a mask that keeps the bytes of the piece in a window of sixteen bytes, and the bits that
/// are added. All pieces that are too long have the last item.
static MASKS_AND_BITS: [(u128, u128); KEY_BYTES + 1] = {
    let mut items = [(0, NOT_SHORT_BIT); KEY_BYTES + 1];
    let mut len = 1;
    while len <= MAX_KEY_BYTES {
        items[len] = (u128::MAX >> (128 - 8 * len), (len as u128) << LEN_SHIFT);
        len += 1;
    }
    items
};

/// The key of a piece: its bytes, length and a flag. In the cache of pieces, the flag is set for a part of a longer
/// piece. Such a part can have other ids than a whole piece with the same bytes, because some models encode a whole
/// piece that is an entry without merging. In the cache of words, the flag says whether U+2581 precedes the word.
///
/// The key is one number, so that the compiler compares two keys in memory by vector instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PieceKey(u128);

impl PieceKey {
    /// The key that no piece has.
    pub(crate) const NONE: PieceKey = PieceKey(0);

    /// Returns the key of `text[start..end]`. If the range is empty or too long for a key, the method `is_short` of the
    /// returned key returns false.
    #[inline]
    pub fn new(text: &[u8], start: usize, end: usize, flag: bool) -> PieceKey {
        let key = PieceKey::without_flag(text, start, end);
        if flag { key.with_flag() } else { key }
    }

    /// Returns the key of `text[start..end]` without a flag.
    #[inline(always)]
    pub(super) fn without_flag(text: &[u8], start: usize, end: usize) -> PieceKey {
        let window = match text.len().checked_sub(KEY_BYTES) {
            Some(last_window) if start <= last_window => text[start..].first_chunk().copied(),
            _ => None,
        };
        let window = window.unwrap_or_else(|| window_at_end(text, start));
        // The code does not branch on the length, because the processor could not predict the branch.
        let (mask, bits) = MASKS_AND_BITS[(end - start).min(KEY_BYTES)];
        PieceKey(u128::from_le_bytes(window) & mask | bits)
    }

    /// Returns the key of `piece` for the cache, if `self` is the key that `new` returns for the piece. If the piece is
    /// too long, adds a hash of its bytes. So different long pieces can have equal keys.
    #[inline(always)]
    pub(crate) fn complete(self, piece: &[u8]) -> PieceKey {
        if self.is_short() { self } else { PieceKey(self.0 | hash_long(piece) & HASH_BITS) }
    }

    #[inline]
    fn with_flag(self) -> PieceKey {
        PieceKey(self.0 | FLAG_BIT)
    }

    /// Returns the key with the mark of pieces that have records.
    #[inline]
    pub(super) fn marked(self) -> PieceKey {
        PieceKey(self.0 | MARK_BIT)
    }

    #[inline]
    pub(super) fn unmarked(self) -> PieceKey {
        PieceKey(self.0 & !MARK_BIT)
    }

    #[inline]
    pub(super) fn is_marked(self) -> bool {
        self.0 & MARK_BIT != 0
    }

    /// Reports whether the key holds a short piece.
    #[inline]
    pub fn is_short(self) -> bool {
        self.0 & LEN_BITS != 0
    }

    /// Returns both halves.
    #[inline]
    pub fn halves(self) -> (u64, u64) {
        (self.0 as u64, (self.0 >> 64) as u64)
    }

    /// Returns a number whose order is the order of the bytes of pieces. The key must be of a short, whole piece.
    #[inline]
    pub fn sort_key(self) -> u128 {
        // The length is the lowest byte, and distinguishes `a` from `a\0`.
        self.0.swap_bytes()
    }

    /// Returns an array that starts with the bytes of the piece, and the length of the piece.
    #[inline]
    pub fn bytes_and_len(self) -> ([u8; MAX_KEY_BYTES + 1], usize) {
        (self.0.to_le_bytes(), ((self.0 & LEN_BITS) >> LEN_SHIFT) as usize)
    }

    /// Returns the hash of the key: multiplies the halves and folds the product.
    #[inline]
    pub fn hash(self) -> u32 {
        let (low, high) = self.halves();
        fold_product(low ^ 0x2D35_8DCC_AA6C_78A5, high ^ 0x8BB8_4B93_962E_ACC9) as u32
    }
}

/// Returns the hash of a piece that is too long for a key. A piece of up to 32 bytes is covered by its first and its
/// last sixteen bytes, which can overlap. The function is not inlined, because the loop over short pieces would be
/// slower.
#[inline(never)]
fn hash_long(piece: &[u8]) -> u128 {
    let hash_window = |&window: &[u8; KEY_BYTES]| {
        let number = u128::from_le_bytes(window);
        fold_product(number as u64 ^ 0x9E6C_63D0_876A_9A99, (number >> 64) as u64 ^ 0xD6E8_FEB8_6659_FD93)
    };
    match (piece.first_chunk(), piece.last_chunk()) {
        (Some(first), Some(last)) if piece.len() <= MAX_WINDOWS_BYTES => {
            hash_window(first) as u128 | ((hash_window(last) ^ piece.len() as u64) as u128) << 64
        }
        _ if piece.len() <= MAX_HASHED_BYTES => hash_bytes(piece, 0) as u128,
        _ => 0,
    }
}

/// Returns the product of two numbers, folded to 64 bits.
#[inline]
fn fold_product(left: u64, right: u64) -> u64 {
    let product = left as u128 * right as u128;
    product as u64 ^ (product >> 64) as u64
}

/// Returns a window of sixteen bytes: the fewer than sixteen bytes from `start` to the end of the text, and zeros.
#[cold]
fn window_at_end(text: &[u8], start: usize) -> [u8; KEY_BYTES] {
    let mut window = [0; KEY_BYTES];
    let last_bytes = text.get(start..).unwrap_or_default();
    window[..last_bytes.len()].copy_from_slice(last_bytes);
    window
}
