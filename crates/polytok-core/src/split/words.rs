//! BERT's words: white space is removed, each character of some classes (a *mark*) is a piece, and each run of other
//! characters (*letters*) is a piece.
//!
//! Each character is a space, a mark or a letter. A piece ends between two characters unless both are letters. So the
//! starts and ends of pieces in 64 bytes are computed with a few operations on 64-bit numbers, which have a bit for
//! each byte. With AVX2 the kinds of 32 ASCII characters are looked up together, by the two half bytes of each
//! character; without AVX2 they are looked up byte by byte. A character that is not ASCII is looked up alone, and its
//! later bytes get the kind of its first byte. With AVX-512 a whole block is looked up together, except the characters
//! whose group has several kinds (`group_set`). The twin is [`WordPattern::split`], which works character by character.
//! Cost: linear.

use polytok_memory::Collect;
use polytok_pattern::ClassTable;
use polytok_simd::SimdLevel;

use super::cursor::SplitCursor;
use crate::group_set::GroupSet;
use crate::lazy::Warmup;

/// The bits for the kinds of characters; a mark has no bit.
const LETTER: u8 = 1;
const SPACE: u8 = 2;
const MARK: u8 = 0;

/// The number of bytes in a block.
const BLOCK_BYTES: usize = 64;
/// The number of bytes that are read for a block, because the block's last character can end after the block.
const READ_BYTES: usize = BLOCK_BYTES + 3;

/// The compiled step.
pub(super) struct WordPattern {
    /// The kind of each character.
    kinds: ClassTable,
    letters: AsciiSet,
    spaces: AsciiSet,
    /// Built after enough text, because building takes a third of a millisecond.
    groups: Warmup<KindGroups>,
}

/// The characters of each kind.
struct KindGroups {
    letters: GroupSet,
    spaces: GroupSet,
    marks: GroupSet,
}

/// Encoding this number of bytes of text takes as long as building `KindGroups`.
const GROUPS_BYTE_LIMIT: usize = 1 << 16;

/// A set of ASCII characters: for each lower half of a byte, a bit for each upper half.
struct AsciiSet([u8; 16]);

/// The kinds of the bytes of a block, as sets with a bit for each byte. All bytes of a character have the kind of the
/// character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BlockBits {
    letters: u64,
    spaces: u64,
    /// The first bytes of characters.
    char_starts: u64,
}

impl AsciiSet {
    /// Builds the set of the characters for which `has` returns true.
    fn new(has: impl Fn(usize) -> bool) -> AsciiSet {
        AsciiSet(std::array::from_fn(|low| (0..8).map(|high| (has(high << 4 | low) as u8) << high).sum()))
    }
}

impl WordPattern {
    /// Compiles the step for a class of spaces and classes of marks, all in the syntax of regular expressions; None if
    /// a class is not one that the engine reads.
    pub(super) fn compile(spaces: &str, marks: &[&str]) -> Option<WordPattern> {
        let classes: Vec<(&str, u8)> =
            [(spaces, SPACE)].into_iter().chain(marks.iter().map(|&class| (class, MARK))).checked_collect();
        let kinds = ClassTable::compile(&classes, LETTER)?;
        let ascii = |kind: u8| AsciiSet::new(|byte| kinds.ascii()[byte] == kind);
        let groups = Warmup::after_bytes(GROUPS_BYTE_LIMIT);
        Some(WordPattern { letters: ascii(LETTER), spaces: ascii(SPACE), groups, kinds })
    }

    /// Builds the tables that `fill` would otherwise build later.
    pub(super) fn warm_up(&self) {
        if SimdLevel::current() == SimdLevel::Avx512 {
            self.groups.build_now(|| self.build_groups());
        }
    }

    fn build_groups(&self) -> Option<KindGroups> {
        let groups = |kind: u8| GroupSet::new(|c| self.kinds.get(c) == kind);
        Some(KindGroups { letters: groups(LETTER), spaces: groups(SPACE), marks: groups(MARK) })
    }

    /// Calls `piece(start, end)` for each piece, from left to right.
    #[inline]
    pub(super) fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) {
        let (mut from, mut before) = (0, SPACE);
        for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
            let kind = self.kinds.get(c);
            if before & kind & LETTER == 0 {
                if before != SPACE {
                    piece(from, at);
                }
                from = at;
            }
            before = kind;
        }
    }

    /// Reports whether two adjacent characters are in one piece.
    pub(super) fn joins(&self, left: char, right: char) -> bool {
        self.kinds.get(left) & self.kinds.get(right) & LETTER != 0
    }

    /// Writes the next pieces to `pieces` and returns their number, which is 0 after the last piece.
    pub(super) fn fill(&self, text: &str, cursor: &mut SplitCursor, pieces: &mut [(u32, u32)]) -> usize {
        self.fill_at(SimdLevel::current(), text, cursor, pieces)
    }

    /// Implements `fill` with the instructions of a SIMD level, which the processor must support.
    #[inline]
    fn fill_at(&self, level: SimdLevel, text: &str, cursor: &mut SplitCursor, pieces: &mut [(u32, u32)]) -> usize {
        let text = text.as_bytes();
        let (mut at, mut count) = (cursor.at, 0);
        let groups = if level == SimdLevel::Avx512 && at == 0 {
            self.groups.get(text.len(), || self.build_groups())
        } else {
            self.groups.peek()
        };
        let mut from = 0;
        // Every call starts where a piece ends, which has the same effect as a space before the text.
        let mut before = BlockBits { spaces: 1 << (BLOCK_BYTES - 1), ..BlockBits::default() };
        while at <= text.len() {
            let bits = self.read(level, groups, text, at, before);
            let valid = u64::MAX >> (BLOCK_BYTES - 1).saturating_sub(text.len() - at);
            let borders = bits.char_starts & valid & !(bits.letters & shift_bits(bits.letters, before.letters));
            let mut ends = borders & !shift_bits(bits.spaces, before.spaces);
            let mut starts = borders & !bits.spaces;
            if before.spaces >> (BLOCK_BYTES - 1) != 0 {
                from = take_first(at, &mut starts);
            }
            while ends != 0 {
                let end = take_first(at, &mut ends);
                pieces[count] = (from, end);
                count += 1;
                if count == pieces.len() {
                    cursor.at = end as usize;
                    return count;
                }
                from = take_first(at, &mut starts);
            }
            before = bits;
            at += BLOCK_BYTES;
        }
        cursor.at = text.len() + 1;
        count
    }

    /// Returns an offset after `from` at which a piece ends or starts, whatever the text before `from` is.
    pub(super) fn certain_end(&self, text: &str, from: usize) -> Option<usize> {
        let from = (from..text.len()).find(|&at| text.is_char_boundary(at))?;
        let mut kinds = text[from..].char_indices().map(|(at, c)| (from + at, self.kinds.get(c)));
        let (_, mut before) = kinds.next()?;
        kinds.find(|&(_, kind)| std::mem::replace(&mut before, kind) & kind & LETTER == 0).map(|(at, _)| at)
    }

    /// Returns the kinds of the block at `at`; `before` are the kinds of the block before it. The text is padded with
    /// spaces.
    #[inline]
    fn read(
        &self,
        level: SimdLevel,
        groups: Option<&KindGroups>,
        text: &[u8],
        at: usize,
        before: BlockBits,
    ) -> BlockBits {
        let mut padded = [b' '; READ_BYTES];
        let bytes = text[at..].first_chunk().unwrap_or_else(|| {
            padded[..text.len() - at].copy_from_slice(&text[at..]);
            &padded
        });
        let (bits, unknown) = self.look_up(level, groups, bytes);
        let mut bits = self.with_single_chars(bytes, bits, unknown);
        if bits.char_starts != u64::MAX {
            for _ in 0..3 {
                bits.letters |= shift_bits(bits.letters, before.letters) & !bits.char_starts;
                bits.spaces |= shift_bits(bits.spaces, before.spaces) & !bits.char_starts;
            }
        }
        bits
    }

    /// Adds the kinds of the characters whose first bytes are in `unknown`.
    #[inline]
    fn with_single_chars(&self, bytes: &[u8; READ_BYTES], mut bits: BlockBits, mut unknown: u64) -> BlockBits {
        while unknown != 0 {
            let index = unknown.trailing_zeros() as usize;
            let kind = self.kinds.first(four_bytes(bytes, index));
            bits.letters |= u64::from(kind & LETTER) << index;
            bits.spaces |= u64::from(kind / SPACE) << index;
            unknown &= unknown - 1;
        }
        bits
    }

    /// Returns the kinds of the characters that are looked up together, which include all ASCII characters, and a bit
    /// for the first byte of every other character.
    #[inline]
    fn look_up(&self, level: SimdLevel, groups: Option<&KindGroups>, bytes: &[u8; READ_BYTES]) -> (BlockBits, u64) {
        #[cfg(target_arch = "x86_64")]
        match (level, groups) {
            // SAFETY: the processor has the instructions of the level.
            (SimdLevel::Avx512, Some(groups)) => return unsafe { avx512::look_up(self, groups, bytes) },
            // SAFETY: as above; AVX-512 includes AVX2.
            (SimdLevel::Avx512 | SimdLevel::Avx2, _) => return unsafe { avx2::ascii(self, bytes) },
            (SimdLevel::Portable, _) => {}
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (level, groups);
        self.ascii_by_byte(bytes)
    }

    /// Does the work of `look_up` byte by byte, for ASCII characters only.
    fn ascii_by_byte(&self, bytes: &[u8; READ_BYTES]) -> (BlockBits, u64) {
        let (mut bits, mut wide) = (BlockBits::default(), 0);
        for (index, &byte) in bytes[..BLOCK_BYTES].iter().enumerate() {
            let kind = self.kinds.ascii().get(byte as usize).copied().unwrap_or_default();
            bits.letters |= u64::from(kind & LETTER) << index;
            bits.spaces |= u64::from(kind / SPACE) << index;
            bits.char_starts |= u64::from(byte & 0xC0 != 0x80) << index;
            wide |= u64::from(byte >= 0xC0) << index;
        }
        (bits, wide)
    }
}

/// Shifts the bits by one byte; the first bit is the last bit of the block before.
#[inline]
fn shift_bits(bits: u64, before: u64) -> u64 {
    bits << 1 | before >> (BLOCK_BYTES - 1)
}

/// Clears the first bit and returns the offset of the bit in the text. The block starts at offset `at`; if no bit is
/// set, returns the end of the block.
#[inline]
fn take_first(at: usize, bits: &mut u64) -> u32 {
    let index = bits.trailing_zeros();
    *bits &= bits.wrapping_sub(1);
    (at as u32).wrapping_add(index)
}

/// Returns the four bytes at an index of the block.
#[inline]
fn four_bytes(bytes: &[u8; READ_BYTES], index: usize) -> [u8; 4] {
    bytes[index..].first_chunk().copied().unwrap_or_default()
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::*;
    use crate::group_set::avx512::BlockChars;

    /// Fewer characters that are not ASCII are looked up one by one.
    const MIN_WIDE_CHARS: u32 = 4;

    /// Does the work of `WordPattern::look_up`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,popcnt")]
    pub(super) fn look_up(words: &WordPattern, groups: &KindGroups, bytes: &[u8; READ_BYTES]) -> (BlockBits, u64) {
        let (ascii_bits, wide) = avx2::ascii(words, bytes);
        if wide.count_ones() < MIN_WIDE_CHARS {
            return (ascii_bits, wide);
        }
        let chars = BlockChars::read(bytes[..].first_chunk().expect("the bytes of a block"));
        let (letters, spaces) = (chars.in_set(&groups.letters), chars.in_set(&groups.spaces));
        let unknown = wide & !(letters | spaces | chars.in_set(&groups.marks));
        (BlockBits { letters, spaces, ..ascii_bits }, unknown)
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::*;
    use std::arch::x86_64::*;

    /// Does the work of `WordPattern::look_up` for ASCII characters only.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn ascii(words: &WordPattern, bytes: &[u8; READ_BYTES]) -> (BlockBits, u64) {
        let (low, high) = (half_masks(words, bytes), half_masks(words, &bytes[32..]));
        let both = |i: usize| u64::from(low[i]) | u64::from(high[i]) << 32;
        (BlockBits { letters: both(0), spaces: both(1), char_starts: both(2) }, both(2) & both(3))
    }

    /// Returns four masks of 32 bytes: letters, spaces, first bytes of characters, and bytes that are not ASCII.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn half_masks(words: &WordPattern, bytes: &[u8]) -> [u32; 4] {
        assert!(bytes.len() >= 32);
        // SAFETY: the slice has 32 bytes.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        let nibble_mask = _mm256_set1_epi8(0xF);
        // For each byte, the bit that its upper half selects; no bit if the byte is not ASCII.
        let bit = _mm256_setr_epi64x(BITS, 0, BITS, 0);
        let bit = _mm256_shuffle_epi8(bit, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble_mask));
        let low = _mm256_and_si256(bytes, nibble_mask);
        let not_in_set = |set: &AsciiSet| {
            // SAFETY: 16 bytes are read.
            let table = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(set.0.as_ptr().cast()) });
            let member_bits = _mm256_and_si256(_mm256_shuffle_epi8(table, low), bit);
            mask(_mm256_cmpeq_epi8(member_bits, _mm256_setzero_si256()))
        };
        // Read as signed numbers, only bytes of the form 10xxxxxx are at most -65.
        let char_starts = mask(_mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(-65)));
        [!not_in_set(&words.letters), !not_in_set(&words.spaces), char_starts, mask(bytes)]
    }

    /// The eight bytes 1, 2, 4 and so on, up to 128.
    const BITS: i64 = 0x8040_2010_0804_0201_u64 as i64;

    #[target_feature(enable = "avx2")]
    /// Returns the highest bit of each byte.
    fn mask(bytes: __m256i) -> u32 {
        _mm256_movemask_epi8(bytes) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words() -> WordPattern {
        let marks = [r"[!-/:-@\x{3002}\x{A}]", r"[\x{4E00}-\x{9FFF}\x{20000}-\x{2A6DF}]"];
        let words = WordPattern::compile(r"\s", &marks).unwrap();
        words.groups.build_now(|| words.build_groups());
        words
    }

    /// Checks that `fill`, at each SIMD level and with room for `room` pieces, finds the pieces that `split` finds.
    fn check_fill(words: &WordPattern, text: &str, room: usize) {
        let mut expected = Vec::new();
        words.split(text, |start, end| expected.push((start as u32, end as u32)));
        for level in SimdLevel::supported() {
            let (mut cursor, mut pieces, mut filled) = (SplitCursor::new(), vec![(0, 0); room], Vec::new());
            loop {
                match words.fill_at(level, text, &mut cursor, &mut pieces) {
                    0 => break,
                    count => filled.extend_from_slice(&pieces[..count]),
                }
            }
            assert_eq!(filled, expected, "{level:?}: {text:?}");
            assert!(cursor.saw_end(text));
        }
    }

    #[test]
    fn every_character_is_split_between_letters_spaces_and_marks() {
        let words = words();
        let texts = ('\0'..=char::MAX).collect::<Vec<_>>();
        for some in texts.chunks(256) {
            check_fill(&words, &some.iter().flat_map(|&c| [c, 'a', c, c, ' ', c, '。']).collect::<String>(), 128);
        }
    }

    proptest! {
        #[test]
        fn blocks_are_split_as_characters_are(
            text in "([a-z]{1,9} |[ \n\u{3000}]{1,3}|[!,.。]|[世é界ж𠀀𝔸]{1,30}|[—é\u{2000}-\u{2060}]{1,9}|[a-z]{60,70}|[\u{0}-\u{7F}]{0,9}){0,40}",
            room in 1usize..9,
            from in 0usize..300,
        ) {
            let words = words();
            for room in [room, 128] {
                check_fill(&words, &text, room);
            }
            if let Some(at) = words.certain_end(&text, from) {
                prop_assert!(at > from && at < text.len());
                let pieces = |from: usize, to: usize| {
                    let mut pieces = Vec::new();
                    words.split(&text[from..to], |start, end| pieces.push((from + start, from + end)));
                    pieces
                };
                prop_assert_eq!(pieces(0, text.len()), [pieces(0, at), pieces(at, text.len())].concat());
            }
        }

        #[test]
        fn ascii_kinds_agree_at_all_levels(bytes in proptest::collection::vec(any::<u8>(), READ_BYTES)) {
            let (words, bytes) = (words(), bytes.try_into().unwrap());
            let (expected, wide) = words.ascii_by_byte(&bytes);
            for level in SimdLevel::supported() {
                let (bits, _) = words.look_up(level, words.groups.peek(), &bytes);
                prop_assert_eq!(bits.letters & !wide, expected.letters, "{:?}", level);
                prop_assert_eq!(bits.spaces & !wide, expected.spaces, "{:?}", level);
                prop_assert_eq!(bits.char_starts, expected.char_starts, "{:?}", level);
            }
        }
    }
}
