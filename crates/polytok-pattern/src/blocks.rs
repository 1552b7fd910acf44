//! A [`Rule`] tried at up to 256 places at a time.
//!
//! Characters become groups first. In ASCII text that is a table of 128 groups: eight tables of sixteen, of which a byte's upper half
//! chooses one. Other characters are looked up one by one, and where each begins is kept. Then each cube is a bit, so an
//! octet of cubes takes a table lookup for each of the five characters and four ANDs. The processor does 32 lookups at
//! once (AVX2). Without it the rule is not used: the automaton alone is faster than this would be.

use super::classes::Classes;
use super::rule::{BEFORE, Rule, WINDOW};
use super::utf8::previous_char;

/// Words of a block.
const WORDS: usize = 4;
/// Places of a block.
const PLACES: usize = WORDS * 64;
/// Bytes that are looked up at once.
const LANES: usize = 32;
/// Characters that a block needs for all its places.
const NEEDED: usize = PLACES + WINDOW - 1;

/// For 64 places where a piece ends, and where that depends on more.
#[derive(Clone, Copy, Default)]
pub(super) struct Word {
    pub(super) yes: u64,
    pub(super) ask: u64,
}

/// What the rule tells of some places.
pub(super) struct Block {
    words: [Word; WORDS],
    places: usize,
    /// The groups of the characters from the first window on.
    groups: [u8; NEEDED + 2 * LANES],
    /// Where each character begins; the first place, if they are all of one byte.
    at: [u32; NEEDED + 2 * LANES],
    is_ascii: bool,
}

/// Whether the rule can be used here.
#[inline]
pub(super) fn is_supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

impl Block {
    pub(super) fn new() -> Block {
        Block {
            words: [Word::default(); WORDS],
            places: 0,
            groups: [0; NEEDED + 2 * LANES],
            at: [0; NEEDED + 2 * LANES],
            is_ascii: false,
        }
    }

    /// Tries the places from `from` on, the border of a character: as many as can be read, which may be none.
    #[inline]
    pub(super) fn read(&mut self, rule: &Rule, classes: &Classes, text: &[u8], from: usize) {
        self.places = 0;
        let Some(start) = before(text, from) else { return };
        #[cfg(target_arch = "x86_64")]
        if is_supported() {
            // SAFETY: the processor has AVX2.
            unsafe { avx2::read(self, rule, classes, text, start) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (rule, classes, start);
    }

    /// The places that were tried.
    #[inline]
    pub(super) fn places(&self) -> usize {
        self.places
    }

    /// The words with the number of the first place of each, without the places before `start`.
    #[inline]
    pub(super) fn words(&self, start: usize) -> impl Iterator<Item = (usize, Word)> + use<> {
        let (words, places) = (self.words, self.places);
        (start / 64..places.div_ceil(64)).map(move |index| {
            let first = index * 64;
            let valid = !0 >> (64 - (places - first).min(64)) & !0 << start.saturating_sub(first);
            let Word { yes, ask } = words[index];
            (first, Word { yes: yes & valid, ask: ask & valid })
        })
    }

    /// The place at this offset, the border of a character, if it was tried.
    #[inline]
    pub(super) fn place(&self, offset: usize) -> Option<usize> {
        if self.places == 0 || offset < self.offset(0) || offset >= self.offset(self.places) {
            return None;
        }
        if self.is_ascii {
            return Some(offset - self.at[0] as usize);
        }
        Some(self.at[BEFORE..BEFORE + self.places].partition_point(|&at| (at as usize) < offset))
    }

    /// The offset of a place, or of the one behind the last.
    #[inline]
    pub(super) fn offset(&self, place: usize) -> usize {
        if self.is_ascii { self.at[0] as usize + place } else { self.at[place + BEFORE] as usize }
    }
}

/// Where the window of a place begins.
#[inline]
fn before(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    for _ in 0..BEFORE {
        at = (at > 0).then(|| previous_char(text, at))?;
    }
    Some(at)
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::super::rule::{GROUPS, Octet};
    use super::*;
    use std::arch::x86_64::*;

    /// The text with zeros behind it.
    #[inline]
    fn padded_with<'p>(text: &[u8], padded: &'p mut [u8; PLACES + LANES]) -> &'p [u8] {
        padded[..text.len()].copy_from_slice(text);
        padded
    }

    /// Fills the block. The first window begins at `start`.
    #[target_feature(enable = "avx2")]
    pub(super) fn read(block: &mut Block, rule: &Rule, classes: &Classes, text: &[u8], start: usize) {
        let mut padded = [0; PLACES + LANES];
        block.places = (text.len() - start).saturating_sub(WINDOW - 1).min(PLACES);
        let read = if block.places == 0 { 0 } else { block.places.div_ceil(64) * 64 + LANES };
        // More is read than the windows, so that the end of a text needs something behind it.
        let bytes = if text.len() - start < read { padded_with(&text[start..], &mut padded) } else { &text[start..] };
        block.is_ascii = is_ascii(&bytes[..read]);
        if block.is_ascii {
            block.at[0] = (start + BEFORE) as u32;
            for (bytes, groups) in bytes[..read].chunks_exact(LANES).zip(block.groups.chunks_exact_mut(LANES)) {
                store(groups, groups_of(rule, load(bytes)));
            }
        } else {
            block.places = characters(block, rule, classes, text, start).saturating_sub(WINDOW - 1).min(PLACES);
        }
        for at in 0..block.places.div_ceil(64) {
            let both = |octets: &[Octet]| {
                let low = held(octets, &block.groups[at * 64..]) as u64;
                low | (held(octets, &block.groups[at * 64 + LANES..]) as u64) << 32
            };
            block.words[at] = Word { yes: both(&rule.yes), ask: both(&rule.ask) };
        }
    }

    #[target_feature(enable = "avx2")]
    fn is_ascii(bytes: &[u8]) -> bool {
        let all =
            bytes.chunks_exact(LANES).fold(_mm256_setzero_si256(), |all, bytes| _mm256_or_si256(all, load(bytes)));
        _mm256_movemask_epi8(all) == 0
    }

    /// Looks up characters from `start` on; how many.
    #[target_feature(enable = "avx2")]
    fn characters(block: &mut Block, rule: &Rule, classes: &Classes, text: &[u8], start: usize) -> usize {
        let (mut at, mut count) = (start, 0);
        let mut ascii = [0; 2 * LANES];
        while count < NEEDED
            && let Some(bytes) = text[at..].first_chunk::<{ LANES + 3 }>()
        {
            let lanes = load(bytes);
            let wide = _mm256_movemask_epi8(lanes) as u32;
            store(&mut ascii, groups_of(rule, lanes));
            // All bytes but those of the form 10xxxxxx begin a character.
            let mut begins = _mm256_movemask_epi8(_mm256_cmpgt_epi8(lanes, _mm256_set1_epi8(-65))) as u32;
            while begins != 0 {
                let offset = begins.trailing_zeros() as usize;
                let run = (wide >> offset).trailing_zeros().min(LANES as u32 - begins.trailing_zeros()) as usize;
                if run > 0 {
                    // More is written than the run, which is written over by what follows.
                    store(&mut block.groups[count..], load(&ascii[offset..]));
                    let begin = (at + offset) as u32;
                    (begin..).zip(&mut block.at[count..][..LANES]).for_each(|(begin, at)| *at = begin);
                    count += run;
                    begins &= u32::MAX.checked_shl((offset + run) as u32).unwrap_or(0);
                    continue;
                }
                let Some(&four) = bytes[offset..].first_chunk() else { break };
                block.groups[count] = rule.groups.first(classes, four);
                block.at[count] = (at + offset) as u32;
                count += 1;
                begins &= begins - 1;
            }
            at += LANES;
        }
        count
    }

    /// The places of 32 at which a cube holds; `groups` begins with the first window.
    #[target_feature(enable = "avx2")]
    fn held(octets: &[Octet], groups: &[u8]) -> u32 {
        let groups: &[u8; LANES + WINDOW - 1] = groups.first_chunk().expect("a block has room for its last windows");
        let mut all = _mm256_setzero_si256();
        for octet in octets {
            let mut cubes = _mm256_set1_epi8(-1);
            for (at, table) in octet.iter().enumerate() {
                cubes = _mm256_and_si256(cubes, _mm256_shuffle_epi8(twice(table), load(&groups[at..at + LANES])));
            }
            all = _mm256_or_si256(all, cubes);
        }
        !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, _mm256_setzero_si256())) as u32)
    }

    /// The groups of 32 ASCII bytes.
    #[target_feature(enable = "avx2")]
    fn groups_of(rule: &Rule, bytes: __m256i) -> __m256i {
        let mut groups = _mm256_setzero_si256();
        for (half, table) in rule.groups.ascii.as_chunks().0.iter().enumerate() {
            // The sum is below 128, and then its lower half is the byte's, only where the upper half of the byte is this one.
            let other = _mm256_xor_si256(bytes, _mm256_set1_epi8((half << 4) as i8));
            let index = _mm256_adds_epu8(other, _mm256_set1_epi8(0x70));
            groups = _mm256_or_si256(groups, _mm256_shuffle_epi8(twice(table), index));
        }
        groups
    }

    #[target_feature(enable = "avx2")]
    fn twice(table: &[u8; GROUPS]) -> __m256i {
        // SAFETY: 16 bytes are read.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
    }

    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8]) -> __m256i {
        assert!(bytes.len() >= LANES);
        // SAFETY: 32 bytes are there.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx2")]
    fn store(bytes: &mut [u8], value: __m256i) {
        assert!(bytes.len() >= LANES);
        // SAFETY: 32 bytes are there.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), value) };
    }
}
