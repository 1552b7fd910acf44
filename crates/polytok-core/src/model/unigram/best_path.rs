//! The search that all Unigram models share: finds the best path to each offset of the text.
//!
//! Reference: SentencePiece's `EncodeOptimized`, which Hugging Face and llama.cpp adopted. Offsets are processed
//! character by character (lead-byte rule). Of paths with equal sums the first is kept, which is the path with the
//! longest last piece. The arithmetic differs: SentencePiece 0.2.1 adds a piece's score and the sum in double precision
//! and compares the result with the rounded float of the best sum; 0.2.3 computes in single precision and subtracts the
//! sum whenever it exceeds 100,000 in absolute value; the others compute in double precision.
//!
//! Invariant: when the search processes an offset, its best path is final. The end of every character has a path,
//! because a character that is not a piece is tried as unknown.
//!
//! Cost: one trie walk for each character, so the length of the text times the longest piece. Worst input: a text whose
//! every part is a piece.

use std::ops::Add;

use crate::trie::{NONE, Trie};
use crate::utf8::char_len;

/// The absolute value beyond which 0.2.3 rebases sums.
const REBASE_BEYOND: f32 = 100_000.0;

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

/// An arithmetic of scores.
pub(super) trait Score: Copy {
    /// The type of sums.
    type Sum: Copy + Default + PartialOrd + Add<Output = Self::Sum>;
    fn plus(self, here: Self::Sum) -> Self;
    fn beats(sum: Self, best: Self::Sum) -> bool;
    fn round(sum: Self) -> Self::Sum;
    /// Makes sums smaller where they need it: all of these, which start at the place with the sum `here`. That sum
    /// afterwards.
    fn rebased(_states: &mut [PathState<Self::Sum>], here: Self::Sum) -> Self::Sum {
        here
    }

    /// Bits of a sum's significand.
    const MANTISSA: i32;
    /// Sums within this stay as they are.
    const FARTHEST: f64;
    /// Adding it changes nothing.
    const NOTHING: Self;
    /// The score in double precision, which holds it exactly.
    fn exact(self) -> f64;
    /// A sum in single precision.
    fn magnitude(sum: Self::Sum) -> f32;
    /// The sum behind a piece that only one way leads over.
    #[inline]
    fn behind(self, here: Self::Sum) -> Self::Sum {
        let here = Self::rebased(&mut [], here);
        Self::round(self.plus(here))
    }
}

/// Finds the best way to each place; the pieces' scores are in `scores`, by their values in the trie, and `from` is the
/// sum before the text. The sum behind it, and whether an unknown character was ever the best way to a place.
pub(super) fn search<S: Score>(
    trie: &Trie,
    scores: &[S],
    unknown_score: S::Sum,
    text: &[u8],
    from: S::Sum,
    states: &mut Vec<PathState<S::Sum>>,
) -> (S::Sum, bool) {
    states.clear();
    states.resize(text.len() + 1, PathState { score: S::Sum::default(), link: NONE, entry: UNKNOWN_ENTRY });
    states[0].score = from;
    let (mut frontier, mut start, mut has_unknown) = (0, 0, false);
    while start < text.len() {
        let here = states[start].score;
        let here = S::rebased(&mut states[start..=frontier], here);
        let char_end = start + char_len(&text[start..]);
        let mut single = false;
        trie.prefixes(&text[start..], |len, entry| {
            let end = start + len;
            frontier = frontier.max(end);
            single |= end == char_end;
            let sum = scores[entry as usize].plus(here);
            let state = &mut states[end];
            if state.link == NONE || S::beats(sum, state.score) {
                *state = PathState { score: S::round(sum), link: start as u32, entry };
            }
        });
        if !single {
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
pub(super) fn walk<Sum>(states: &mut [PathState<Sum>], mut piece: impl FnMut(u32, u32, u32)) {
    reverse_links(states);
    let mut start = 0;
    while start + 1 < states.len() {
        let end = states[start].link;
        piece(start as u32, end, states[end as usize].entry);
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

/// SentencePiece 0.2.1's.
impl Score for f64 {
    type Sum = f32;
    const MANTISSA: i32 = f32::MANTISSA_DIGITS as i32;
    const FARTHEST: f64 = f32::MAX as f64;
    const NOTHING: f64 = -0.0;

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
    fn exact(self) -> f64 {
        self
    }

    #[inline]
    fn magnitude(sum: f32) -> f32 {
        sum
    }
}

/// SentencePiece 0.2.3's.
impl Score for f32 {
    type Sum = f32;
    const MANTISSA: i32 = f32::MANTISSA_DIGITS as i32;
    const FARTHEST: f64 = REBASE_BEYOND as f64;
    const NOTHING: f32 = -0.0;

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
    fn exact(self) -> f64 {
        self as f64
    }

    #[inline]
    fn magnitude(sum: f32) -> f32 {
        sum
    }

    #[inline]
    fn rebased(states: &mut [PathState<f32>], here: f32) -> f32 {
        if here.abs() <= REBASE_BEYOND || here.is_nan() {
            return here;
        }
        rebase(states, here);
        0.0
    }
}

/// Subtracts `here` from the first state and from all others that are reached.
#[cold]
fn rebase(states: &mut [PathState<f32>], here: f32) {
    for (i, state) in states.iter_mut().enumerate() {
        if i == 0 || state.link != NONE {
            state.score -= here;
        }
    }
}

/// A score whose sums keep double precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide(pub f64);

impl Score for Wide {
    type Sum = f64;
    const MANTISSA: i32 = f64::MANTISSA_DIGITS as i32;
    const FARTHEST: f64 = f64::MAX;
    const NOTHING: Wide = Wide(-0.0);

    #[inline]
    fn plus(self, here: f64) -> Wide {
        Wide(self.0 + here)
    }

    #[inline]
    fn beats(sum: Wide, best: f64) -> bool {
        sum.0 > best
    }

    #[inline]
    fn round(sum: Wide) -> f64 {
        sum.0
    }

    #[inline]
    fn exact(self) -> f64 {
        self.0
    }

    #[inline]
    fn magnitude(sum: f64) -> f32 {
        sum as f32
    }
}
