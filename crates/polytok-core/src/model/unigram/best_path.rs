//! The search that all Unigram models share: for each place of the text the best way to get there.
//!
//! Reference: SentencePiece's `EncodeOptimized`, which Hugging Face and llama.cpp took over. Places are walked character by
//! character (lead-byte rule); of equal sums the first one tried stays, which is the one whose last piece is longest. The
//! arithmetic differs. SentencePiece 0.2.1 adds a piece's score and the sum so far in double precision and compares that with the
//! rounded float of the best so far; 0.2.3 does all of it in single precision and brings the sums back to 0 whenever they pass
//! 100,000 in absolute value; the others keep double precision.
//!
//! Invariant: when a place is reached, its state is final. Every character's end is reached, because a character that is
//! no piece by itself is offered as unknown.
//!
//! Cost: one trie walk per character, so the text's length times the longest piece. Worst input: a text of which every
//! stretch is a piece.

use std::ops::Add;

use crate::trie::{NONE, Trie};
use crate::utf8::char_len;

/// 0.2.3 rebases sums beyond this.
const REBASE_BEYOND: f32 = 100_000.0;

/// The entry of a character that no piece covers.
pub(super) const UNKNOWN_ENTRY: u32 = u32::MAX;

/// The best way to reach a place.
#[derive(Clone, Copy)]
pub(super) struct PathState<Sum> {
    score: Sum,
    /// Where its last piece starts; `NONE` while no way is known. After the search: where the next piece ends.
    link: u32,
    /// Its last piece, or [`UNKNOWN_ENTRY`].
    entry: u32,
}

/// An arithmetic of scores.
pub(super) trait Score: Copy {
    /// What sums are kept in.
    type Sum: Copy + Default + PartialOrd + Add<Output = Self::Sum>;
    fn plus(self, here: Self::Sum) -> Self;
    fn beats(sum: Self, best: Self::Sum) -> bool;
    fn round(sum: Self) -> Self::Sum;
    /// Makes sums smaller where they need it: all of these, which start at the place with the sum `here`. That sum afterwards.
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

/// Finds the best way to each place; the pieces' scores are in `scores`, by their values in the trie, and `from` is the sum before
/// the text. The sum behind it, and whether an unknown character was ever the best way to a place.
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

/// Calls `piece(start, end, entry)` for the pieces of the best way to the end, left to right.
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

/// Turns the links of the best path around: from each piece's start to its end.
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
