//! The key of a short piece or word: its bytes, its length and a flag, in 128 bits.

/// The largest length in bytes of a piece that a key can hold.
pub const MAX_KEY_BYTES: usize = 15;

/// For each length of a piece, a mask that keeps the bytes of the piece in a window of sixteen bytes; 0 for a piece
/// that is too long.
const BYTE_MASKS: [u128; MAX_KEY_BYTES + 2] = {
    let mut bytes = [0; MAX_KEY_BYTES + 2];
    let mut len = 1;
    while len <= MAX_KEY_BYTES {
        bytes[len] = u128::MAX >> (128 - 8 * len);
        len += 1;
    }
    bytes
};

/// The bits that hold the length of the piece, or 0 if the piece is too long: the low bits of the highest byte.
const FLAG_BIT: u64 = 1 << 60;
const LEN_BITS: u64 = 15 << 56;

/// The key of a piece: its bytes, length and a flag. In the cache of pieces, the flag is set for a part of a longer
/// piece. Such a part can have other ids than a whole piece with the same bytes, because some models encode a whole
/// piece that is an entry without merging. In the cache of words, the flag says whether U+2581 precedes the word. A key
/// does not use its three highest bits, in which a cache entry stores its number of ids.
#[derive(Clone, Copy, Debug, Default, Eq)]
#[repr(C, align(16))]
pub struct PieceKey {
    pub(super) low: u64,
    pub(super) high: u64,
}

impl PartialEq for PieceKey {
    /// Compares both halves without a branch between them.
    #[inline]
    fn eq(&self, other: &PieceKey) -> bool {
        (self.low ^ other.low) | (self.high ^ other.high) == 0
    }
}

impl PieceKey {
    /// The key that no piece has.
    pub(crate) const NONE: PieceKey = PieceKey { low: 0, high: 0 };

    /// Returns the key of `text[start..end]`. If the range is too long for a key, the method `is_short` of the returned
    /// key returns false.
    #[inline]
    pub fn new(text: &[u8], start: usize, end: usize, flag: bool) -> PieceKey {
        let window = match text.get(start..).and_then(<[u8]>::first_chunk) {
            Some(&window) => u128::from_le_bytes(window),
            None => window_at_end(text, start),
        };
        // The bytes after the piece are masked out. The code does not branch on the length, because the processor could
        // not predict the branch.
        let len = (end - start).min(MAX_KEY_BYTES + 1);
        let bytes = window & BYTE_MASKS[len];
        let high = (bytes >> 64) as u64 | (len as u64) << 56 & LEN_BITS | if flag { FLAG_BIT } else { 0 };
        PieceKey { low: bytes as u64, high }
    }

    /// Reports whether the key holds a short piece.
    #[inline]
    pub fn is_short(self) -> bool {
        self.high & LEN_BITS != 0
    }

    /// Returns both halves.
    #[inline]
    pub fn halves(self) -> (u64, u64) {
        (self.low, self.high)
    }

    /// Returns a number whose order is the order of the bytes of pieces. The key must be of a short, whole piece.
    #[inline]
    pub fn sort_key(self) -> u128 {
        let bytes = (self.high & !(FLAG_BIT | LEN_BITS)) as u128;
        // The length distinguishes `a` from `a\0` and is stored in the sixteenth byte.
        (bytes << 64 | self.low as u128).swap_bytes() | (self.high >> 56 & 15) as u128
    }

    /// Returns an array that starts with the bytes of the piece, and the length of the piece.
    #[inline]
    pub fn bytes_and_len(self) -> ([u8; MAX_KEY_BYTES + 1], usize) {
        ((((self.high as u128) << 64) | self.low as u128).to_le_bytes(), (self.high >> 56 & 15) as usize)
    }

    #[inline]
    pub(super) fn is_part(self) -> bool {
        self.high & FLAG_BIT != 0
    }

    /// Returns the hash: multiplies the halves and folds the product.
    #[inline]
    pub fn hash(self) -> u32 {
        multiply_and_fold(self.low ^ 0x2D35_8DCC_AA6C_78A5, self.high ^ 0x8BB8_4B93_962E_ACC9)
    }
}

/// Returns the product of two numbers, folded to 32 bits.
#[inline]
pub(super) fn multiply_and_fold(left: u64, right: u64) -> u32 {
    let product = left as u128 * right as u128;
    ((product as u64) ^ (product >> 64) as u64) as u32
}

/// Returns a window of sixteen bytes: the fewer than sixteen bytes from `start` to the end of the text, and zeros.
#[cold]
fn window_at_end(text: &[u8], start: usize) -> u128 {
    let mut window = [0; 16];
    let last_bytes = text.get(start..).unwrap_or_default();
    window[..last_bytes.len()].copy_from_slice(last_bytes);
    u128::from_le_bytes(window)
}
