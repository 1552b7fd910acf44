//! The key of a short piece or word: its bytes, its length and one more bit, in 128 bits.

/// Longest piece of a key, in bytes.
pub const KEY: usize = 15;

/// Which bytes of sixteen belong to a piece, by its length; none if it is too long.
const BYTES: [u128; KEY + 2] = {
    let mut bytes = [0; KEY + 2];
    let mut len = 1;
    while len <= KEY {
        bytes[len] = u128::MAX >> (128 - 8 * len);
        len += 1;
    }
    bytes
};

/// What the highest byte of a key holds: the length, or 0 if the piece is too long, and above it the flag.
const FLAG: u64 = 1 << 60;
const LEN: u64 = 15 << 56;

/// A piece as a cache sees it, with a flag: whether it is a part of a longer piece, which has other ids where a vocabulary takes
/// whole pieces without merging; or, of a word, whether a U+2581 is before it. The three highest bits are free for the count of an
/// entry.
#[derive(Clone, Copy, Debug, Default, Eq)]
#[repr(C, align(16))]
pub struct PieceKey {
    pub(super) low: u64,
    pub(super) high: u64,
}

impl PartialEq for PieceKey {
    /// Without a branch between the halves.
    #[inline]
    fn eq(&self, other: &PieceKey) -> bool {
        (self.low ^ other.low) | (self.high ^ other.high) == 0
    }
}

impl PieceKey {
    /// That of no piece.
    pub(crate) const NONE: PieceKey = PieceKey { low: 0, high: 0 };

    /// The key of `text[start..end]`; one that is not kept if that is too long.
    #[inline]
    pub fn new(text: &[u8], start: usize, end: usize, flag: bool) -> PieceKey {
        let window = match text.get(start..).and_then(<[u8]>::first_chunk) {
            Some(&window) => u128::from_le_bytes(window),
            None => window_at_end(text, start),
        };
        // What stands behind the piece is masked out; the length is no branch, as it cannot be foreseen.
        let len = (end - start).min(KEY + 1);
        let bytes = window & BYTES[len];
        let high = (bytes >> 64) as u64 | (len as u64) << 56 & LEN | if flag { FLAG } else { 0 };
        PieceKey { low: bytes as u64, high }
    }

    /// Whether such a piece is kept as a short one.
    #[inline]
    pub fn is_short(self) -> bool {
        self.high & LEN != 0
    }

    /// Both halves.
    #[inline]
    pub fn halves(self) -> (u64, u64) {
        (self.low, self.high)
    }

    /// A number that is in the order of the bytes; of a whole piece that is kept as a short one.
    #[inline]
    pub fn sortable(self) -> u128 {
        let bytes = (self.high & !(FLAG | LEN)) as u128;
        // The length, which tells `a` from `a\0`, stands where the sixteenth byte would.
        (bytes << 64 | self.low as u128).swap_bytes() | (self.high >> 56 & 15) as u128
    }

    /// The piece again, in the first bytes.
    #[inline]
    pub fn spelled(self) -> ([u8; KEY + 1], usize) {
        ((((self.high as u128) << 64) | self.low as u128).to_le_bytes(), (self.high >> 56 & 15) as usize)
    }

    #[inline]
    pub(super) fn is_part(self) -> bool {
        self.high & FLAG != 0
    }

    /// Multiply and fold.
    #[inline]
    pub fn hash(self) -> u32 {
        fold(self.low ^ 0x2D35_8DCC_AA6C_78A5, self.high ^ 0x8BB8_4B93_962E_ACC9)
    }
}

/// The product of two numbers, folded to 32 bits.
#[inline]
pub(super) fn fold(one: u64, other: u64) -> u32 {
    let product = one as u128 * other as u128;
    ((product as u64) ^ (product >> 64) as u64) as u32
}

/// Fewer than sixteen bytes are left: zeros follow.
#[cold]
fn window_at_end(text: &[u8], start: usize) -> u128 {
    let mut window = [0; 16];
    let rest = text.get(start..).unwrap_or_default();
    window[..rest.len()].copy_from_slice(rest);
    u128::from_le_bytes(window)
}
