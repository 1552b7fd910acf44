//! Sets of characters that are looked up for 64 bytes of UTF-8 together, with AVX-512.
//!
//! The characters up to U+FFFF form groups of 64 characters. The characters of a group that is not ASCII differ only in
//! their last byte. In most scripts, all or none of the characters of a group belong to a set, so the first byte of a
//! character of two bytes, or the first two bytes of a character of three bytes, suffice to find the set. A
//! [`GroupSet`] has only ASCII characters and whole groups; the caller looks up the other characters one by one.

/// The number of characters in a group.
pub const GROUP_LEN: usize = 64;
/// The number of groups.
pub const GROUP_COUNT: usize = 0x1_0000 / GROUP_LEN;

/// The number of bytes that are looked up together.
pub const BLOCK_BYTES: usize = 64;
/// The number of bytes that are read for a block: the second byte of the last character is after the block.
pub const READ_BYTES: usize = BLOCK_BYTES + 1;

/// A set of ASCII characters and whole groups.
pub struct GroupSet {
    /// For each ASCII character 1 if the set has the character, else 0.
    pub ascii: [u8; 128],
    /// A bit for each group.
    pub groups: [u8; GROUP_COUNT / 8],
}

impl GroupSet {
    /// Builds the set of the ASCII characters and groups for whose characters `has` returns true.
    pub fn new(has: impl Fn(char) -> bool) -> GroupSet {
        let has_code = |code: usize| char::from_u32(code as u32).is_some_and(&has);
        let has_group = |group: usize| (group * GROUP_LEN..(group + 1) * GROUP_LEN).all(has_code);
        GroupSet {
            ascii: std::array::from_fn(|code| has_code(code) as u8),
            groups: std::array::from_fn(|at| (0..8).map(|bit| (has_group(8 * at + bit) as u8) << bit).sum()),
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub mod avx512 {
    use super::*;
    use std::arch::x86_64::*;

    /// The characters of a block.
    pub struct BlockChars {
        bytes: __m512i,
        /// For each character of two or three bytes, the index in `GroupSet::groups` of the byte with its group's bit.
        group_indexes: __m512i,
        /// For each character of two or three bytes, the bit of its group in that byte.
        group_bits: __m512i,
        /// The bytes that are ASCII characters.
        ascii: u64,
        /// The first bytes of characters of two or three bytes.
        grouped: u64,
        /// The first bytes of all characters.
        pub starts: u64,
    }

    impl BlockChars {
        /// Reads the block at the start of `bytes`, which must be UTF-8, except that a character can start before the
        /// block.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub fn read(bytes: &[u8; READ_BYTES]) -> BlockChars {
            let next = load(bytes[1..].first_chunk().expect("the bytes after the first"));
            let bytes = load(bytes[..].first_chunk().expect("the block"));
            let splat = _mm512_set1_epi8;
            let at_least = |byte: u8| _mm512_cmpge_epu8_mask(bytes, splat(byte as i8));
            let (wide, has_three_bytes) = (at_least(0xC0), at_least(0xE0));
            let low_index = _mm512_and_si512(_mm512_srli_epi16(bytes, 3), splat(0b11));
            let index = _mm512_or_si512(
                _mm512_and_si512(_mm512_slli_epi16(bytes, 3), splat(0b111_1000)),
                _mm512_and_si512(_mm512_srli_epi16(next, 3), splat(0b111)),
            );
            let bit = _mm512_and_si512(_mm512_mask_blend_epi8(has_three_bytes, bytes, next), splat(0b111));
            let ascii = !_mm512_movepi8_mask(bytes);
            BlockChars {
                bytes,
                group_indexes: _mm512_mask_blend_epi8(has_three_bytes, low_index, index),
                group_bits: _mm512_shuffle_epi8(_mm512_set1_epi64(BITS), bit),
                ascii,
                grouped: wide & !at_least(0xF0),
                starts: ascii | wide,
            }
        }

        /// Returns a bit for the first byte of each character in the set.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
        pub fn in_set(&self, set: &GroupSet) -> u64 {
            let ascii = look_up(&set.ascii, self.bytes);
            let ascii = _mm512_test_epi8_mask(ascii, ascii) & self.ascii;
            if self.grouped == 0 {
                return ascii;
            }
            let groups = look_up(&set.groups, self.group_indexes);
            ascii | _mm512_test_epi8_mask(groups, self.group_bits) & self.grouped
        }
    }

    /// The eight bytes 1, 2, 4 and so on, up to 128.
    const BITS: i64 = 0x8040_2010_0804_0201_u64 as i64;

    /// Returns the bytes of the table at the indexes; the highest bit of an index has no effect.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi")]
    fn look_up(table: &[u8; 128], indexes: __m512i) -> __m512i {
        let (halves, _) = table.as_chunks();
        _mm512_permutex2var_epi8(load(&halves[0]), indexes, load(&halves[1]))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(bytes: &[u8; BLOCK_BYTES]) -> __m512i {
        // SAFETY: the array has the 64 bytes that are read.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use polytok_simd::SimdLevel;

    /// Returns a bit for the first byte of each character that the set has.
    fn in_set_by_char(set: &GroupSet, text: &str) -> u64 {
        let has = |c: char| match c as usize {
            code @ 0..128 => set.ascii[code] != 0,
            code @ 128..0x1_0000 => set.groups[code / GROUP_LEN / 8] >> (code / GROUP_LEN % 8) & 1 != 0,
            _ => false,
        };
        text.char_indices()
            .take_while(|&(at, _)| at < BLOCK_BYTES)
            .filter(|&(_, c)| has(c))
            .map(|(at, _)| 1 << at)
            .sum()
    }

    /// Checks all blocks of a text; a block can start inside a character.
    fn check(set: &GroupSet, text: &str) {
        for at in 0..=text.len() - READ_BYTES {
            // SAFETY: the caller has checked the instructions.
            let (found, starts) = unsafe {
                let chars = avx512::BlockChars::read(text.as_bytes()[at..].first_chunk().unwrap());
                (chars.in_set(set), chars.starts)
            };
            let start = (at..).find(|&at| text.is_char_boundary(at)).unwrap();
            let shifted = |bits: u64| bits << (start - at);
            assert_eq!(found, shifted(in_set_by_char(set, &text[start..])), "{text:?} at {at}");
            let expected = (0..BLOCK_BYTES).filter(|i| text.is_char_boundary(at + i)).map(|i| 1 << i).sum::<u64>();
            assert_eq!(starts, expected);
        }
    }

    #[test]
    fn a_block_has_the_bits_of_its_characters() {
        if !SimdLevel::supported().any(|level| level == SimdLevel::Avx512) {
            return;
        }
        let set = GroupSet::new(|c| c.is_alphabetic() && c != 'q');
        check(&set, &('\0'..'\u{10100}').step_by(3).collect::<String>());
        let mut rng = crate::rng::Rng::new(3);
        for _ in 0..2_000 {
            let text = (0..READ_BYTES + 3).map(|_| {
                let bits = rng.next_u64() % 18;
                char::from_u32((rng.next_u64() & ((8 << bits) - 1)) as u32).unwrap_or('é')
            });
            check(&set, &text.collect::<String>());
        }
    }
}
