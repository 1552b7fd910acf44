//! Which characters are pieces, where bytes stand for the others: what saves the most.
//!
//! Reference: `PrunePiecesWithGlobalSearch` of 0.2.3 (auto_character_coverage). All characters take part in merging. Of the merges
//! the first so many are kept, with all of their characters, and the characters of several bytes that save the most fill
//! up the rest; a merge saves its count, a character its count for each byte but one. How many merges are kept is what
//! saves the most in all; of equals the most merges. Cost: two sums over a tree for each merge and each character.

use std::borrow::BorrowMut;
use std::collections::{BTreeSet, HashMap};

use super::{merges, ranked};
use crate::error::{Error, Result};
use crate::train::counter::WordCounter;
use crate::train::progress::Progress;
use crate::train::sentencepiece::ScoredPiece;
use crate::train::sentencepiece::alphabet::Alphabet;
use crate::train::sentencepiece::validity::Validity;

/// At most that many pieces; `alphabet` has all characters. `room` as for [`super::pieces`].
pub fn pieces(
    units: impl BorrowMut<WordCounter>,
    alphabet: &Alphabet,
    validity: &Validity,
    most: usize,
    room: Option<usize>,
    progress: &mut dyn Progress,
) -> Result<Vec<ScoredPiece>> {
    let merges = merges(units, alphabet, validity, most, room, progress)?;
    let singles = singles(alphabet)?;
    let (kept, filled) = best(&merges, &singles, most);
    let merges = &merges[..kept];
    let within: BTreeSet<char> = merges.iter().flat_map(|(text, _)| text.chars()).collect();
    let others = singles.iter().map(|single| single.0).filter(|c| !within.contains(c)).take(filled);
    let chars = within.iter().copied().chain(others).map(|c| c.to_string());
    Ok(ranked(merges.iter().map(|(text, _)| text.clone()).chain(chars)))
}

/// The characters of several bytes and what each saves, the most first.
fn singles(alphabet: &Alphabet) -> Result<Vec<(char, i128)>> {
    let several = alphabet.chars.iter().filter(|(c, count)| c.len_utf8() > 1 && *count > 0);
    let mut singles: Vec<(char, u64, i128)> =
        several.map(|&(c, count)| (c, count, i128::from(count) * (c.len_utf8() as i128 - 1))).collect();
    singles.sort_unstable_by_key(|&(c, count, gain)| (-gain, !count, c));
    if u32::try_from(singles.len()).is_err() {
        return Err(Error::Argument("the alphabet has too many characters; lower character_coverage".into()));
    }
    Ok(singles.into_iter().map(|(c, _, gain)| (c, gain)).collect())
}

/// How many merges to keep, and how many characters beside theirs.
fn best(merges: &[(String, u64)], singles: &[(char, i128)], budget: usize) -> (usize, usize) {
    let places: HashMap<char, usize> = singles.iter().enumerate().map(|(place, single)| (single.0, place)).collect();
    let mut free = Free::new(singles);
    let mut within = BTreeSet::new();
    let mut saved = 0;
    let mut found = (i128::MIN, 0, 0);
    for kept in 0..=merges.len() {
        if let Some(rest) = budget.checked_sub(kept + within.len()) {
            let filled = rest.min(free.len);
            let total = saved + free.first(filled);
            if total >= found.0 {
                found = (total, kept, filled);
            }
        }
        let Some((text, count)) = merges.get(kept) else { break };
        saved += i128::from(*count);
        for c in text.chars().filter(|&c| within.insert(c)) {
            if let Some(&place) = places.get(&c) {
                free.take(place);
                saved += singles[place].1;
            }
        }
    }
    (found.1, found.2)
}

/// The characters that no merge has yet: how many and what they save, as sums over a tree (Fenwick's).
struct Free {
    sums: Vec<(usize, i128)>,
    gains: Vec<i128>,
    len: usize,
}

impl Free {
    fn new(singles: &[(char, i128)]) -> Free {
        let gains: Vec<i128> = singles.iter().map(|single| single.1).collect();
        let mut free = Free { sums: vec![(0, 0); gains.len() + 1], gains, len: singles.len() };
        for place in 1..free.sums.len() {
            let (own, above) = (free.gains[place - 1], place + (place & place.wrapping_neg()));
            free.sums[place].0 += 1;
            free.sums[place].1 += own;
            let (count, gain) = free.sums[place];
            if let Some(sum) = free.sums.get_mut(above) {
                sum.0 += count;
                sum.1 += gain;
            }
        }
        free
    }

    fn take(&mut self, place: usize) {
        self.len -= 1;
        let mut at = place + 1;
        while at < self.sums.len() {
            self.sums[at].0 -= 1;
            self.sums[at].1 -= self.gains[place];
            at += at & at.wrapping_neg();
        }
    }

    /// What the first so many of them save.
    fn first(&self, count: usize) -> i128 {
        let (mut at, mut left, mut gain) = (0, count, 0);
        let mut step = self.sums.len().next_power_of_two();
        while step > 0 {
            if let Some(&(here, saved)) = self.sums.get(at + step).filter(|sum| sum.0 <= left) {
                at += step;
                left -= here;
                gain += saved;
            }
            step /= 2;
        }
        gain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_what_is_free() {
        let singles = [('é', 9), ('è', 7), ('漢', 4), ('字', 2)];
        let mut free = Free::new(&singles);
        assert_eq!((0..=4).map(|count| free.first(count)).collect::<Vec<_>>(), [0, 9, 16, 20, 22]);
        free.take(1);
        assert_eq!((0..=3).map(|count| free.first(count)).collect::<Vec<_>>(), [0, 9, 13, 15]);
    }

    #[test]
    fn merges_bring_their_characters() {
        let merges = [("éa".to_string(), 5), ("aa".to_string(), 1)];
        assert_eq!(best(&merges, &[('é', 3), ('漢', 2)], 3), (1, 0));
        assert_eq!(best(&merges, &[('é', 3), ('漢', 20)], 3), (0, 2));
    }
}
