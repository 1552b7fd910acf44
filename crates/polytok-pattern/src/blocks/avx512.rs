//! The steps with AVX-512.

use super::super::classes::Classes;
use super::super::rule::{Octet, Rule};
use super::read::{ByteKinds, WindowGroups};
use super::{Block, PIECES_TOGETHER, WORD_LEN};
use std::arch::x86_64::*;

/// The index of each byte of a vector.
const INDEXES: [u8; WORD_LEN] = {
    let mut indexes = [0; WORD_LEN];
    let mut at = 0;
    while at < WORD_LEN {
        indexes[at] = at as u8;
        at += 1;
    }
    indexes
};

/// Fills the block from its first position on.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn read(block: &mut Block, rule: &Rule, classes: &Classes, text: &[u8]) {
    let (tables, _) = rule.groups.ascii.as_chunks();
    let (low, high) = (load(&tables[0]), load(&tables[1]));
    let pack = |bytes: &[u8; WORD_LEN], groups: &mut [u8; WORD_LEN]| {
        let bytes = load(bytes);
        let starts = !_mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(-64));
        store(groups, _mm512_maskz_compress_epi8(starts, _mm512_permutex2var_epi8(low, bytes, high)));
        ByteKinds { starts, non_ascii: _mm512_movepi8_mask(bytes) }
    };
    // SAFETY: the processor has BMI2, like all features of this function.
    unsafe { super::read::read(block, rule, classes, text, pack, |octets, groups| in_cubes(octets, groups)) };
}

/// Returns a bit for each window; the bit is set if the window is in a cube.
#[target_feature(enable = "avx512f,avx512bw")]
fn in_cubes(octets: &[Octet], groups: &WindowGroups) -> u64 {
    let mut all = _mm512_setzero_si512();
    for octet in octets {
        let mut cubes = _mm512_set1_epi8(-1);
        for (at, table) in octet.iter().enumerate() {
            // SAFETY: the table has the 16 bytes that are read.
            let table = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.as_ptr().cast()) });
            let groups = load(groups[at..].first_chunk().expect("the windows of a word"));
            cubes = _mm512_and_si512(cubes, _mm512_shuffle_epi8(table, groups));
        }
        all = _mm512_or_si512(all, cubes);
    }
    _mm512_test_epi8_mask(all, all)
}

/// Implements `Instructions::write_pieces`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
pub(super) fn write_pieces(base: u32, ends: u64, mut from: u32, pieces: &mut [(u32, u32)]) -> usize {
    let count = ends.count_ones() as usize;
    let mut positions = [0; WORD_LEN];
    store(&mut positions, _mm512_maskz_compress_epi8(ends, load(&INDEXES)));
    let (chunks, _) = pieces[..count.next_multiple_of(PIECES_TOGETHER)].as_chunks_mut::<PIECES_TOGETHER>();
    for (chunk, pieces) in chunks.iter_mut().enumerate() {
        for (at, piece) in pieces.iter_mut().enumerate() {
            let end = base + positions[chunk * PIECES_TOGETHER + at] as u32;
            *piece = (from, end);
            from = end;
        }
    }
    count
}

#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; WORD_LEN]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are read.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn store(bytes: &mut [u8; WORD_LEN], value: __m512i) {
    // SAFETY: the array has the 64 bytes that are written.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), value) };
}
