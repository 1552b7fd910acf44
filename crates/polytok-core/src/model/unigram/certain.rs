//! The best path of a word, and the largest sum before the word at which rounding cannot change that path.
//!
//! The references add floats from the start of the text, so the rounding of a comparison depends on the sum P before
//! the word. This module searches the word without P, in double precision. Each position v on the best path gets a
//! margin m(v): the difference between the sums of the best and the second best path to v. Assume that every sum of the
//! reference inside the word is below 2^e in magnitude. Then each addition of the reference has an error of at most h =
//! 2^(e-1-MANTISSA_BITS), half a unit in the last place. By induction over the positions:
//! - The reference's sum of every path to v is at most P + (its true sum) + c(v)·h, if c(v) is the number of characters
//!   before v. No path to v has more pieces, and the maximum of sums with a bounded error has the same bound.
//! - The reference's sum of the best path is at least P + (its true sum) - b(v)·h, if b(v) is the number of its pieces.
//!   The best float sum at each earlier position is at least the float sum of the best path there.
//!
//! So if m(v) > (b(v) + c(v))·h for all v on the path, the reference finds the same path, in whatever order it compares
//! sums. Its sum after the word is P plus the scores of the path's pieces, added in order. The smallest m/(b + c)
//! determines e, and e limits |P|: P can be at most 2^e minus the largest sum in the word. P must also be so small that
//! no sum is rebased. If the best and the second best sum are equal, the margin is 0, so the path is never certain.
//!
//! A slack covers the rounding errors of this computation itself, whose relative size is 2^-53. Scores are finite and
//! much smaller than the largest floats (`is_provable`). Cost and worst input: those of the search.

use super::best_path::Score;
use super::best_path::UNKNOWN_ENTRY;
use crate::trie::Trie;
use crate::utf8::char_len;

/// The largest number of bytes of a word whose path is proven.
pub(super) const MAX_WORD_BYTES: usize = 63;

/// The largest score of models whose words are proven; other models use the plain search.
const MAX_SCORE: f64 = 1e9;

/// The number of low bits of a float that a code omits. A code has three bits of the significand, and codes start at
/// the float 1.
const CODE_SHIFT: u32 = 20;
const CODE_OF_ONE: u32 = 1f32.to_bits() >> CODE_SHIFT;

/// Returns the code of the magnitude of a sum: the magnitude rounded down to one of 256 steps up to 2^31. The code of
/// NaN is above all steps.
#[inline]
pub(super) fn sum_code(sum: f32) -> u32 {
    (sum.abs().to_bits() >> CODE_SHIFT).saturating_sub(CODE_OF_ONE)
}

/// Returns a code such that all sums with lower codes are below `limit`.
fn code_below(limit: f64) -> u8 {
    if limit < 1.0 { 0 } else { sum_code(limit as f32).min(255) as u8 }
}

/// Reports whether the proof is valid for a score.
pub(super) fn is_provable(score: f64) -> bool {
    score.abs() <= MAX_SCORE
}

/// The best path to a position in a word.
#[derive(Clone, Copy)]
struct WordPosition {
    sum: f64,
    /// The sum of the second best path.
    second_sum: f64,
    entry: u32,
    /// The start of the last piece.
    link: u8,
    /// The number of pieces.
    pieces: u8,
    /// The number of characters before the position.
    chars: u8,
}

const UNREACHED: WordPosition = WordPosition {
    sum: f64::NEG_INFINITY,
    second_sum: f64::NEG_INFINITY,
    entry: UNKNOWN_ENTRY,
    link: 0,
    pieces: 0,
    chars: 0,
};

const START_POSITION: WordPosition = WordPosition { sum: 0.0, ..UNREACHED };

impl WordPosition {
    /// Replaces the path if the new sum is larger. The code does not branch, because the branch would be mispredicted.
    #[inline]
    fn offer_path(&mut self, sum: f64, link: usize, entry: u32, pieces: u8) {
        let is_better = sum > self.sum;
        let loser = if is_better { self.sum } else { sum };
        self.second_sum = if loser > self.second_sum { loser } else { self.second_sum };
        self.sum = if is_better { sum } else { self.sum };
        self.entry = if is_better { entry } else { self.entry };
        self.link = if is_better { link as u8 } else { self.link };
        self.pieces = if is_better { pieces } else { self.pieces };
    }

    /// Returns the difference between the sums of the best and the second best path.
    fn margin(&self) -> f64 {
        self.sum - self.second_sum
    }
}

/// The memory of the search for a word's best path.
pub(super) struct SearchedWord {
    positions: [WordPosition; MAX_WORD_BYTES + 1],
    /// The entries and ends of the pieces of the last path.
    path: [(u32, u32); MAX_WORD_BYTES],
    len: usize,
}

impl Default for SearchedWord {
    fn default() -> SearchedWord {
        SearchedWord { positions: [UNREACHED; MAX_WORD_BYTES + 1], path: [(0, 0); MAX_WORD_BYTES], len: 0 }
    }
}

impl SearchedWord {
    /// Searches a word of at most `MAX_WORD_BYTES` bytes. Returns the code of the sum below which the path is certain;
    /// 0 if the path is never certain.
    pub fn search<S: Score>(&mut self, trie: &Trie, scores: &[S], unknown_score: f64, word: &[u8]) -> u8 {
        let positions = &mut self.positions[..=word.len()];
        positions.fill(UNREACHED);
        positions[0] = START_POSITION;
        let (mut start, mut chars, mut largest) = (0, 0, 0f64);
        while start < word.len() {
            positions[start].chars = chars;
            let WordPosition { sum: here, pieces, .. } = positions[start];
            let char_end = start + char_len(&word[start..]);
            let mut has_single_char = false;
            trie.prefixes(&word[start..], |len, entry| {
                has_single_char |= start + len == char_end;
                let sum = here + scores[entry as usize].to_double();
                largest = largest.max(sum.abs());
                positions[start + len].offer_path(sum, start, entry, pieces + 1);
            });
            if !has_single_char {
                let sum = here + unknown_score;
                largest = largest.max(sum.abs());
                positions[char_end].offer_path(sum, start, UNKNOWN_ENTRY, pieces + 1);
            }
            (start, chars) = (char_end, chars + 1);
        }
        positions[start].chars = chars;
        let slack = largest * chars as f64 * 2f64.powi(-44);
        code_below(largest_sum::<S>(self.trace(word.len(), slack), largest))
    }

    /// Writes the path to `self.path`. Returns the smallest value of (margin of a position) / (number of rounded
    /// additions up to that position).
    fn trace(&mut self, end: usize, slack: f64) -> f64 {
        let (mut at, mut smallest) = (end, f64::INFINITY);
        self.len = self.positions[end].pieces as usize;
        for path_entry in self.path[..self.len].iter_mut().rev() {
            let position = self.positions[at];
            smallest =
                smallest.min((position.margin() - slack) / (position.pieces as u32 + position.chars as u32) as f64);
            *path_entry = (position.entry, at as u32);
            at = position.link as usize;
        }
        smallest
    }

    /// Returns the entries of the path, [`UNKNOWN_ENTRY`] for unknown characters, with the offsets in the word at which
    /// they end.
    pub fn path(&self) -> &[(u32, u32)] {
        &self.path[..self.len]
    }
}

/// Returns the largest sum before a word at which additions have errors below `error`, if no sum in the word is larger
/// than `largest`.
fn largest_sum<S: Score>(error: f64, largest: f64) -> f64 {
    if error <= 0.0 {
        return 0.0;
    }
    // The exponent of the power of two at or below `error`. Sums below 2^e have errors of 2^(e - 1 - MANTISSA_BITS).
    let exponent = ((error * 0.99).to_bits() >> 52) as i32 - 1023;
    let bound = 2f64.powi((exponent + 1 + S::MANTISSA_BITS).min(64));
    (bound * 0.9999).min(S::LARGEST_SUM) - largest * 1.0001 - 1.0
}
