//! The search that all Unigram models share: finds the best path to each offset of the text.
//!
//! Reference: SentencePiece's `EncodeOptimized`, which Hugging Face and llama.cpp adopted. Offsets are processed
//! character by character (lead-byte rule). Of paths with equal sums the first is kept, which is the path with the
//! longest last piece. The arithmetic of the references differs: SentencePiece 0.2.1 adds a piece's score and the sum
//! in double precision and compares the result with the rounded float of the best sum; 0.2.3 computes in single
//! precision and subtracts the sum whenever it exceeds 100,000 in absolute value; the others compute in double
//! precision.
//!
//! Invariant: when the search processes an offset, its best path is final. There is a path to the end of every
//! character, because a character that is not a piece is tried as unknown.
//!
//! Cost: one trie walk for each character, so the length of the text times the longest piece. Worst input: a text of
//! which every substring is a piece.

use std::ops::Add;

use polytok_memory::Grow;

use crate::trie::{NONE, Trie};
use crate::utf8::char_len;

/// The absolute value beyond which 0.2.3 rebases sums.
const MAX_STORED_SUM: f32 = 100_000.0;

/// The entry of a character that no piece covers.
pub(super) const UNKNOWN_ENTRY: u32 = u32::MAX;

/// The best path to an offset.
#[derive(Clone, Copy)]
pub(super) struct PathState<Sum> {
    score: Sum,
    /// The start of the last piece of the path; `NONE` if no path is known. After the search, the end of the next
    /// piece.
    link: u32,
    /// The last piece of the path, or [`UNKNOWN_ENTRY`].
    entry: u32,
}

/// A score with the arithmetic of one reference: how scores are added and compared.
pub(super) trait Score: Copy {
    /// The type of sums.
    type Sum: Copy + Default + PartialOrd + Add<Output = Self::Sum>;
    /// Adds the score to the sum `here`, before the result is rounded.
    fn plus(self, here: Self::Sum) -> Self;
    /// Reports whether a new sum replaces the best sum.
    fn beats(sum: Self, best: Self::Sum) -> bool;
    /// Rounds a new sum to the precision in which sums are stored.
    fn round(sum: Self) -> Self::Sum;
    /// Subtracts `here`, the sum of the first state, from all states if `here` is too large. Returns the new sum of the
    /// first state.
    fn rebase_if_large(_states: &mut [PathState<Self::Sum>], here: Self::Sum) -> Self::Sum {
        here
    }

    /// The number of bits in the significand of a sum.
    const MANTISSA_BITS: i32;
    /// The largest absolute value of a sum that needs no rebasing.
    const LARGEST_SUM: f64;
    /// The score that changes no sum.
    const ZERO: Self;
    /// Returns the score in double precision, which is exact.
    fn to_double(self) -> f64;
    /// Returns the sum after a piece that every path contains; `here` is the sum before the piece.
    #[inline]
    fn add_to(self, here: Self::Sum) -> Self::Sum {
        let here = Self::rebase_if_large(&mut [], here);
        Self::round(self.plus(here))
    }
}

/// Finds the best path to each offset. `scores` has the score of each value of the trie, and `start_sum` is the sum
/// before the text. Returns the sum after the text, and whether the best path to any offset ever ended with an unknown
/// character.
pub(super) fn search<S: Score>(
    trie: &Trie,
    scores: &[S],
    unknown_score: S::Sum,
    text: &[u8],
    start_sum: S::Sum,
    states: &mut Vec<PathState<S::Sum>>,
) -> (S::Sum, bool) {
    states.clear();
    states.checked_resize(text.len() + 1, PathState { score: S::Sum::default(), link: NONE, entry: UNKNOWN_ENTRY });
    states[0].score = start_sum;
    let (mut frontier, mut start, mut has_unknown) = (0, 0, false);
    while start < text.len() {
        let here = states[start].score;
        let here = S::rebase_if_large(&mut states[start..=frontier], here);
        let char_end = start + char_len(&text[start..]);
        let mut has_single_char = false;
        trie.prefixes(&text[start..], |len, entry| {
            let end = start + len;
            frontier = frontier.max(end);
            has_single_char |= end == char_end;
            let sum = scores[entry as usize].plus(here);
            let state = &mut states[end];
            if state.link == NONE || S::beats(sum, state.score) {
                *state = PathState { score: S::round(sum), link: start as u32, entry };
            }
        });
        if !has_single_char {
            frontier = frontier.max(char_end);
            let sum = unknown_score + here;
            let state = &mut states[char_end];
            if state.link == NONE || sum > state.score {
                *state = PathState { score: sum, link: start as u32, entry: UNKNOWN_ENTRY };
                has_unknown = true;
            }
        }
        start = char_end;
    }
    (states[text.len()].score, has_unknown)
}

/// Calls `piece(start, end, entry)` for the pieces of the best path to the end, from left to right.
#[inline]
pub(super) fn for_each_piece<Sum>(states: &mut [PathState<Sum>], mut on_piece: impl FnMut(u32, u32, u32)) {
    reverse_links(states);
    let mut start = 0;
    while start + 1 < states.len() {
        let end = states[start].link;
        on_piece(start as u32, end, states[end as usize].entry);
        start = end as usize;
    }
}

/// Reverses the links of the best path, so that they lead from the start of each piece to its end.
fn reverse_links<Sum>(states: &mut [PathState<Sum>]) {
    let mut end = states.len() - 1;
    let mut link = states[end].link;
    while end > 0 {
        let start = link as usize;
        link = std::mem::replace(&mut states[start].link, end as u32);
        end = start;
    }
}

/// The arithmetic of SentencePiece 0.2.1.
impl Score for f64 {
    type Sum = f32;
    const MANTISSA_BITS: i32 = f32::MANTISSA_DIGITS as i32;
    const LARGEST_SUM: f64 = f32::MAX as f64;
    const ZERO: f64 = -0.0;

    #[inline]
    fn plus(self, here: f32) -> f64 {
        self + here as f64
    }

    #[inline]
    fn beats(sum: f64, best: f32) -> bool {
        sum > best as f64
    }

    #[inline]
    fn round(sum: f64) -> f32 {
        sum as f32
    }

    #[inline]
    fn to_double(self) -> f64 {
        self
    }
}

/// The arithmetic of SentencePiece 0.2.3.
impl Score for f32 {
    type Sum = f32;
    const MANTISSA_BITS: i32 = f32::MANTISSA_DIGITS as i32;
    const LARGEST_SUM: f64 = MAX_STORED_SUM as f64;
    const ZERO: f32 = -0.0;

    #[inline]
    fn plus(self, here: f32) -> f32 {
        self + here
    }

    #[inline]
    fn beats(sum: f32, best: f32) -> bool {
        sum > best
    }

    #[inline]
    fn round(sum: f32) -> f32 {
        sum
    }

    #[inline]
    fn to_double(self) -> f64 {
        self as f64
    }

    #[inline]
    fn rebase_if_large(states: &mut [PathState<f32>], here: f32) -> f32 {
        if here.abs() <= MAX_STORED_SUM || here.is_nan() {
            return here;
        }
        rebase(states, here);
        0.0
    }
}

/// Subtracts `here` from the first state and from all other states that have a path.
#[cold]
fn rebase(states: &mut [PathState<f32>], here: f32) {
    for (i, state) in states.iter_mut().enumerate() {
        if i == 0 || state.link != NONE {
            state.score -= here;
        }
    }
}

/// A score whose sums are in double precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct WideScore(pub f64);

impl Score for WideScore {
    type Sum = f64;
    const MANTISSA_BITS: i32 = f64::MANTISSA_DIGITS as i32;
    const LARGEST_SUM: f64 = f64::MAX;
    const ZERO: WideScore = WideScore(-0.0);

    #[inline]
    fn plus(self, here: f64) -> WideScore {
        WideScore(self.0 + here)
    }

    #[inline]
    fn beats(sum: WideScore, best: f64) -> bool {
        sum.0 > best
    }

    #[inline]
    fn round(sum: WideScore) -> f64 {
        sum.0
    }

    #[inline]
    fn to_double(self) -> f64 {
        self.0
    }
}
