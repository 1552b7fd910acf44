//! The best path of a word, and up to which sum before it no rounding can change that path.
//!
//! The references add floats from the start of the text, so how a decision is rounded depends on the sum P before the word. Here the
//! word is searched without P, in double precision, and each place v on its best path gets the margin m(v) by which the best way
//! there beats the next one. Let every sum that the reference makes inside the word be below 2^e in magnitude. Then each of its
//! additions errs by at most h = 2^(e-1-MANTISSA), half a unit in the last place. By induction over the places:
//! - every candidate for v is at most P + (its true sum) + c(v)·h, where c(v) is the number of characters up to v, for no path to v has
//!   more pieces, and the maximum of sums that err by so much errs by no more;
//! - the candidate on the best path is at least P + (its true sum) - b(v)·h, where b(v) is the number of its pieces, for the best float
//!   sum at each earlier place is at least the one that the best path gives.
//!
//! So with m(v) > (b(v) + c(v))·h for all v on the path, the reference finds the same path, in whatever order it compares, and its sum
//! behind the word is that of the path's pieces added one by one. From the smallest m/(b + c) follows e, and from that how big |P| may
//! be: 2^e less the largest sum in the word. Nor may any sum get so big that it is rebased. Equal sums have margin 0: never certain.
//!
//! Slack covers the rounding of this computation itself, which is relative to 2^-53. Scores are finite and far from the largest floats
//! (`is_tame`). Cost: that of the search; worst input: the same.

use super::best_path::Score;
use super::best_path::UNKNOWN_ENTRY;
use crate::trie::Trie;
use crate::utf8::char_len;

/// Longer words are not proven.
pub(super) const LONGEST: usize = 63;

/// Larger scores are left to the plain search.
const LARGEST_SCORE: f64 = 1e9;

/// Codes count eighths of a power of two from 1 on: the bits of a float from here on.
const CODE_SHIFT: u32 = 20;
const CODE_OF_ONE: u32 = 1f32.to_bits() >> CODE_SHIFT;

/// The magnitude of a sum, rounded down to one of 256 steps up to 2^31. Values that are no numbers are beyond all.
#[inline]
pub(super) fn code(sum: f32) -> u32 {
    (sum.abs().to_bits() >> CODE_SHIFT).saturating_sub(CODE_OF_ONE)
}

/// Sums whose `code` is below this are below `limit`.
fn code_below(limit: f64) -> u8 {
    if limit < 1.0 { 0 } else { code(limit as f32).min(255) as u8 }
}

/// Whether the proof holds for a score.
pub(super) fn is_tame(score: f64) -> bool {
    score.abs() <= LARGEST_SCORE
}

/// The best way to a place.
#[derive(Clone, Copy)]
struct WordPosition {
    sum: f64,
    /// Of the next best.
    second: f64,
    entry: u32,
    /// Where its last piece starts.
    link: u8,
    /// Its pieces.
    pieces: u8,
    /// The characters before the place.
    chars: u8,
}

const UNREACHED: WordPosition = WordPosition {
    sum: f64::NEG_INFINITY,
    second: f64::NEG_INFINITY,
    entry: UNKNOWN_ENTRY,
    link: 0,
    pieces: 0,
    chars: 0,
};

const START: WordPosition = WordPosition { sum: 0.0, ..UNREACHED };

impl WordPosition {
    /// Which way is the better one cannot be foreseen, so it is no branch.
    #[inline]
    fn offer(&mut self, sum: f64, link: usize, entry: u32, pieces: u8) {
        let is_better = sum > self.sum;
        let other = if is_better { self.sum } else { sum };
        self.second = if other > self.second { other } else { self.second };
        self.sum = if is_better { sum } else { self.sum };
        self.entry = if is_better { entry } else { self.entry };
        self.link = if is_better { link as u8 } else { self.link };
        self.pieces = if is_better { pieces } else { self.pieces };
    }

    /// By how much it beats the next best.
    fn margin(&self) -> f64 {
        self.sum - self.second
    }
}

/// A word that is searched.
pub(super) struct SearchedWord {
    places: [WordPosition; LONGEST + 1],
    /// The last search's path.
    path: [(u32, u32); LONGEST],
    len: usize,
}

impl Default for SearchedWord {
    fn default() -> SearchedWord {
        SearchedWord { places: [UNREACHED; LONGEST + 1], path: [(0, 0); LONGEST], len: 0 }
    }
}

impl SearchedWord {
    /// Searches a word of at most `LONGEST` bytes. The code of sums below which the path is certain; 0 if it never is.
    pub fn search<S: Score>(&mut self, trie: &Trie, scores: &[S], unknown_score: f64, word: &[u8]) -> u8 {
        let places = &mut self.places[..=word.len()];
        places.fill(UNREACHED);
        places[0] = START;
        let (mut start, mut chars, mut reach) = (0, 0, 0f64);
        while start < word.len() {
            places[start].chars = chars;
            let WordPosition { sum: here, pieces, .. } = places[start];
            let char_end = start + char_len(&word[start..]);
            let mut single = false;
            trie.prefixes(&word[start..], |len, entry| {
                single |= start + len == char_end;
                let sum = here + scores[entry as usize].exact();
                reach = reach.max(sum.abs());
                places[start + len].offer(sum, start, entry, pieces + 1);
            });
            if !single {
                let sum = here + unknown_score;
                reach = reach.max(sum.abs());
                places[char_end].offer(sum, start, UNKNOWN_ENTRY, pieces + 1);
            }
            (start, chars) = (char_end, chars + 1);
        }
        places[start].chars = chars;
        let slack = reach * chars as f64 * 2f64.powi(-44);
        code_below(largest_sum::<S>(self.trace(word.len(), slack), reach))
    }

    /// Notes the path; the smallest margin on it for each addition that may err.
    fn trace(&mut self, end: usize, slack: f64) -> f64 {
        let (mut at, mut error) = (end, f64::INFINITY);
        self.len = self.places[end].pieces as usize;
        for slot in self.path[..self.len].iter_mut().rev() {
            let place = self.places[at];
            error = error.min((place.margin() - slack) / (place.pieces as u32 + place.chars as u32) as f64);
            *slot = (place.entry, at as u32);
            at = place.link as usize;
        }
        error
    }

    /// The entries of the path, [`UNKNOWN_ENTRY`] for unknown characters, and where in the word they end.
    pub fn path(&self) -> &[(u32, u32)] {
        &self.path[..self.len]
    }
}

/// The largest sum before a word at which additions err by less than `error`, if no sum in the word is larger than `reach`.
fn largest_sum<S: Score>(error: f64, reach: f64) -> f64 {
    if error <= 0.0 {
        return 0.0;
    }
    // The power of two at or below: additions of sums below 2^e err by 2^(e - 1 - MANTISSA).
    let exponent = ((error * 0.99).to_bits() >> 52) as i32 - 1023;
    let bound = 2f64.powi((exponent + 1 + S::MANTISSA).min(64));
    (bound * 0.9999).min(S::FARTHEST) - reach * 1.0001 - 1.0
}
