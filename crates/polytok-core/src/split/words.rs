//! BERT's words: white space is left out, marks and what else is named stand alone, and what lies between is a word.
//!
//! Each character is of one of three kinds, and a piece ends between two characters unless both are letters of a word. Nothing else
//! matters, so all ends and starts of 64 bytes are a few operations on words of bits, a bit for each byte. The kinds of ASCII
//! characters are looked up 32 at a time by their two half bytes (AVX2; elsewhere one by one); each other character is looked up by
//! itself, and its last bytes are of the kind of its first. Twin: [`WordPattern::split`], character by character. Cost: linear.

use polytok_pattern::ClassTable;

use super::cursor::SplitCursor;

/// The kinds of characters, as bits; a mark has none.
const LETTER: u8 = 1;
const SPACE: u8 = 2;

/// Bytes of a block, and with the rest of its last character.
const BLOCK: usize = 64;
const READ: usize = BLOCK + 3;

/// A compiled step.
pub(super) struct WordPattern {
    /// The kind of each character.
    kinds: ClassTable,
    letters: AsciiSet,
    spaces: AsciiSet,
}

/// ASCII characters: for each lower half of a byte a bit for each upper one.
struct AsciiSet([u8; 16]);

/// A bit for each byte of a block. What is of a character has the bits of its first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bits {
    letters: u64,
    spaces: u64,
    /// First bytes of characters.
    begins: u64,
}

impl AsciiSet {
    fn new(has: impl Fn(usize) -> bool) -> AsciiSet {
        AsciiSet(std::array::from_fn(|low| (0..8).map(|high| (has(high << 4 | low) as u8) << high).sum()))
    }
}

impl WordPattern {
    /// Words between `spaces`, without the characters of `alone`, all of them classes as regular expressions have them; None if one of
    /// these is not understood.
    pub(super) fn compile(spaces: &str, alone: &[&str]) -> Option<WordPattern> {
        let classes: Vec<(&str, u8)> =
            [(spaces, SPACE)].into_iter().chain(alone.iter().map(|&class| (class, 0))).collect();
        let kinds = ClassTable::compile(&classes, LETTER)?;
        let ascii = |kind: u8| AsciiSet::new(|byte| kinds.ascii()[byte] == kind);
        Some(WordPattern { letters: ascii(LETTER), spaces: ascii(SPACE), kinds })
    }

    /// Calls `piece(start, end)` for each piece, left to right.
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

    /// Writes the next pieces to `pieces` and says how many; 0 when there are no more.
    pub(super) fn fill(&self, text: &str, cursor: &mut SplitCursor, pieces: &mut [(u32, u32)]) -> usize {
        let text = text.as_bytes();
        let (mut at, mut count) = (cursor.at, 0);
        let mut from = 0;
        // What a piece begins behind might as well be a space.
        let mut before = Bits { spaces: 1 << (BLOCK - 1), ..Bits::default() };
        while at <= text.len() {
            let bits = self.read(text, at, before);
            let valid = u64::MAX >> (BLOCK - 1).saturating_sub(text.len() - at);
            let borders = bits.begins & valid & !(bits.letters & after(bits.letters, before.letters));
            let mut ends = borders & !after(bits.spaces, before.spaces);
            let mut starts = borders & !bits.spaces;
            if before.spaces >> (BLOCK - 1) != 0 {
                from = taken(at, &mut starts);
            }
            while ends != 0 {
                let end = taken(at, &mut ends);
                pieces[count] = (from, end);
                count += 1;
                if count == pieces.len() {
                    cursor.at = end as usize;
                    return count;
                }
                from = taken(at, &mut starts);
            }
            before = bits;
            at += BLOCK;
        }
        cursor.at = text.len() + 1;
        count
    }

    /// A place behind `from` where a piece ends or begins whatever stands before it.
    pub(super) fn certain(&self, text: &str, from: usize) -> Option<usize> {
        let from = (from..text.len()).find(|&at| text.is_char_boundary(at))?;
        let mut kinds = text[from..].char_indices().map(|(at, c)| (from + at, self.kinds.get(c)));
        let (_, mut before) = kinds.next()?;
        kinds.find(|&(_, kind)| std::mem::replace(&mut before, kind) & kind & LETTER == 0).map(|(at, _)| at)
    }

    /// The block at `at`, behind the block `before`. Behind the text there are spaces.
    #[inline]
    fn read(&self, text: &[u8], at: usize, before: Bits) -> Bits {
        let mut padded = [b' '; READ];
        let bytes = text[at..].first_chunk().unwrap_or_else(|| {
            padded[..text.len() - at].copy_from_slice(&text[at..]);
            &padded
        });
        let (mut bits, mut wide) = self.ascii(bytes);
        while wide != 0 {
            let place = wide.trailing_zeros() as usize;
            let kind = self.kinds.first(four(bytes, place));
            bits.letters |= u64::from(kind & LETTER) << place;
            bits.spaces |= u64::from(kind / SPACE) << place;
            wide &= wide - 1;
        }
        if bits.begins != u64::MAX {
            for _ in 0..3 {
                bits.letters |= after(bits.letters, before.letters) & !bits.begins;
                bits.spaces |= after(bits.spaces, before.spaces) & !bits.begins;
            }
        }
        bits
    }

    /// The bits of ASCII characters, and the first bytes of others.
    #[inline]
    fn ascii(&self, bytes: &[u8; READ]) -> (Bits, u64) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { avx2::ascii(self, bytes) };
        }
        self.one_by_one(bytes)
    }

    fn one_by_one(&self, bytes: &[u8; READ]) -> (Bits, u64) {
        let (mut bits, mut wide) = (Bits::default(), 0);
        for (place, &byte) in bytes[..BLOCK].iter().enumerate() {
            let kind = self.kinds.ascii().get(byte as usize).copied().unwrap_or_default();
            bits.letters |= u64::from(kind & LETTER) << place;
            bits.spaces |= u64::from(kind / SPACE) << place;
            bits.begins |= u64::from(byte & 0xC0 != 0x80) << place;
            wide |= u64::from(byte >= 0xC0) << place;
        }
        (bits, wide)
    }
}

/// The bits of what stands behind each byte that has one; the last byte of the block before counts too.
#[inline]
fn after(bits: u64, before: u64) -> u64 {
    bits << 1 | before >> (BLOCK - 1)
}

/// The place of the first bit, which is taken away; behind the block if there is none.
#[inline]
fn taken(at: usize, bits: &mut u64) -> u32 {
    let place = bits.trailing_zeros();
    *bits &= bits.wrapping_sub(1);
    (at as u32).wrapping_add(place)
}

/// The bytes from a place of the block on, zeros behind the last one.
#[inline]
fn four(bytes: &[u8; READ], place: usize) -> [u8; 4] {
    bytes[place..].first_chunk().copied().unwrap_or_default()
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::*;
    use std::arch::x86_64::*;

    /// See `WordPattern::ascii`.
    #[target_feature(enable = "avx2")]
    pub(super) fn ascii(words: &WordPattern, bytes: &[u8; READ]) -> (Bits, u64) {
        let (low, high) = (half(words, bytes), half(words, &bytes[32..]));
        let both = |i: usize| u64::from(low[i]) | u64::from(high[i]) << 32;
        (Bits { letters: both(0), spaces: both(1), begins: both(2) }, both(2) & both(3))
    }

    /// For 32 bytes: letters, spaces, first bytes of characters, and what is not ASCII.
    #[target_feature(enable = "avx2")]
    fn half(words: &WordPattern, bytes: &[u8]) -> [u32; 4] {
        assert!(bytes.len() >= 32);
        // SAFETY: 32 bytes are there.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        let nibble = _mm256_set1_epi8(0xF);
        // The bit of the upper half of each byte; none where that is not ASCII's.
        let bit = _mm256_setr_epi64x(BITS, 0, BITS, 0);
        let bit = _mm256_shuffle_epi8(bit, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble));
        let low = _mm256_and_si256(bytes, nibble);
        let outside = |set: &AsciiSet| {
            // SAFETY: 16 bytes are read.
            let table = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(set.0.as_ptr().cast()) });
            let found = _mm256_and_si256(_mm256_shuffle_epi8(table, low), bit);
            mask(_mm256_cmpeq_epi8(found, _mm256_setzero_si256()))
        };
        // As signed numbers only bytes of the form 10xxxxxx are so small.
        let begins = mask(_mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(-65)));
        [!outside(&words.letters), !outside(&words.spaces), begins, mask(bytes)]
    }

    /// The bits 1, 2, 4 and so on, a byte each.
    const BITS: i64 = 0x8040_2010_0804_0201_u64 as i64;

    #[target_feature(enable = "avx2")]
    fn mask(bytes: __m256i) -> u32 {
        _mm256_movemask_epi8(bytes) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words() -> WordPattern {
        WordPattern::compile(r"\s", &[r"[!-/:-@\x{3002}\x{A}]", r"[\x{4E00}-\x{9FFF}\x{20000}-\x{2A6DF}]"]).unwrap()
    }

    fn check(words: &WordPattern, text: &str, room: usize) {
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        words.split(text, |start, end| expected.push((start as u32, end as u32)));
        let (mut cursor, mut pieces) = (SplitCursor::new(), vec![(0, 0); room]);
        loop {
            match words.fill(text, &mut cursor, &mut pieces) {
                0 => break,
                count => found.extend_from_slice(&pieces[..count]),
            }
        }
        assert_eq!(found, expected, "{text:?}");
        assert!(cursor.saw_end(text));
    }

    #[test]
    fn every_character_between_others() {
        let words = words();
        let texts = ('\0'..=char::MAX).collect::<Vec<_>>();
        for some in texts.chunks(256) {
            check(&words, &some.iter().flat_map(|&c| [c, 'a', c, c, ' ', c, '。']).collect::<String>(), 128);
        }
    }

    proptest! {
        #[test]
        fn bulk_is_as_character_by_character(
            text in "([a-z]{1,9} |[ \n\u{3000}]{1,3}|[!,.。]|[世é界ж𠀀𝔸]{1,30}|[a-z]{60,70}|[\u{0}-\u{7F}]{0,9}){0,40}",
            room in 1usize..9,
            from in 0usize..300,
        ) {
            let words = words();
            for room in [room, 128] {
                check(&words, &text, room);
            }
            if let Some(at) = words.certain(&text, from) {
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
        fn ascii_kinds_are_the_same_without_vectors(bytes in proptest::collection::vec(any::<u8>(), READ)) {
            let (words, bytes) = (words(), bytes.try_into().unwrap());
            prop_assert_eq!(words.ascii(&bytes), words.one_by_one(&bytes));
        }
    }
}
