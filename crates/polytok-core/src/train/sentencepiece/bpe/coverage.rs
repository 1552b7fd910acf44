//! Chooses the characters of a BPE vocabulary with byte fallback, so that encoded texts have the fewest tokens.
//!
//! Reference: `PrunePiecesWithGlobalSearch` of 0.2.3 (auto_character_coverage). Merges are first learned with all
//! characters. The vocabulary then keeps the first k merges and all characters in these merges. The remaining pieces
//! are the multi-byte characters that save the most tokens. A merge saves as many tokens as its count. A character of n
//! bytes saves n - 1 tokens for each occurrence. The search picks the k that saves the most tokens in total, and the
//! largest such k if there are several. Cost: two sums over a tree for each merge and each character.

use std::borrow::BorrowMut;
use std::collections::{BTreeSet, HashMap};

use polytok_memory::{self as memory, Collect};

use super::{merges, with_falling_scores};
use crate::error::{Error, Result};
use crate::train::counter::WordCounter;
use crate::train::progress::Progress;
use crate::train::sentencepiece::ScoredPiece;
use crate::train::sentencepiece::alphabet::Alphabet;
use crate::train::sentencepiece::validity::Validity;

/// Returns at most `max_pieces` pieces. `alphabet` must have all characters; `usable_memory` is the same limit as for
/// [`super::pieces`].
pub fn pieces(
    units: impl BorrowMut<WordCounter>,
    alphabet: &Alphabet,
    validity: &Validity,
    max_pieces: usize,
    usable_memory: Option<usize>,
    progress: &mut dyn Progress,
) -> Result<Vec<ScoredPiece>> {
    let merges = merges(units, alphabet, validity, max_pieces, usable_memory, progress)?;
    let savings_of_chars = compute_savings_of_chars(alphabet)?;
    let (merge_count, char_count) = choose_merges_and_chars(&merges, &savings_of_chars, max_pieces);
    let merges = &merges[..merge_count];
    let mut merge_chars = BTreeSet::new(); // collecting would sort a vector
    merge_chars.extend(merges.iter().flat_map(|(text, _)| text.chars()));
    let others = savings_of_chars.iter().map(|saving| saving.0).filter(|c| !merge_chars.contains(c)).take(char_count);
    let chars = merge_chars.iter().copied().chain(others).map(|c| c.to_string());
    Ok(with_falling_scores(merges.iter().map(|(text, _)| text.clone()).chain(chars)))
}

/// Returns the multi-byte characters with the number of tokens that each of them saves, the largest number first.
fn compute_savings_of_chars(alphabet: &Alphabet) -> Result<Vec<(char, i128)>> {
    let multi_byte_chars = alphabet.chars.iter().filter(|(c, count)| c.len_utf8() > 1 && *count > 0);
    let mut savings_of_chars: Vec<(char, u64, i128)> = multi_byte_chars
        .map(|&(c, count)| (c, count, i128::from(count) * (c.len_utf8() as i128 - 1)))
        .checked_collect();
    memory::sort_stably(&mut savings_of_chars, |a, b| (b.2, b.1).cmp(&(a.2, a.1)).then(a.0.cmp(&b.0)));
    if u32::try_from(savings_of_chars.len()).is_err() {
        return Err(Error::Argument("the alphabet has too many characters; lower character_coverage".into()));
    }
    Ok(savings_of_chars.into_iter().map(|(c, _, gain)| (c, gain)).checked_collect())
}

/// Returns the number of merges to keep, and the number of characters to add to the characters of these merges.
fn choose_merges_and_chars(
    merges: &[(String, u64)],
    savings_of_chars: &[(char, i128)],
    budget: usize,
) -> (usize, usize) {
    let index_of_char: HashMap<char, usize> =
        memory::map(savings_of_chars.iter().enumerate().map(|(index, saving)| (saving.0, index)));
    let mut free = FreeChars::new(savings_of_chars);
    let mut merge_chars = BTreeSet::new();
    let mut saved = 0;
    let mut best = (i128::MIN, 0, 0);
    for merge_count in 0..=merges.len() {
        if let Some(remaining) = budget.checked_sub(merge_count + merge_chars.len()) {
            let char_count = remaining.min(free.len);
            let total = saved + free.savings_of_first(char_count);
            if total >= best.0 {
                best = (total, merge_count, char_count);
            }
        }
        let Some((text, count)) = merges.get(merge_count) else { break };
        saved += i128::from(*count);
        for c in text.chars().filter(|&c| merge_chars.insert(c)) {
            if let Some(&index) = index_of_char.get(&c) {
                free.remove(index);
                saved += savings_of_chars[index].1;
            }
        }
    }
    (best.1, best.2)
}

/// The characters that no kept merge contains, in two Fenwick trees: one for their number, and one for the tokens that
/// they save.
struct FreeChars {
    sums: Vec<(usize, i128)>,
    savings: Vec<i128>,
    len: usize,
}

impl FreeChars {
    fn new(savings_of_chars: &[(char, i128)]) -> FreeChars {
        let savings: Vec<i128> = savings_of_chars.iter().map(|saving| saving.1).checked_collect();
        let mut free =
            FreeChars { sums: memory::filled((0, 0), savings.len() + 1), savings, len: savings_of_chars.len() };
        for index in 1..free.sums.len() {
            let (own, above) = (free.savings[index - 1], index + (index & index.wrapping_neg()));
            free.sums[index].0 += 1;
            free.sums[index].1 += own;
            let (count, gain) = free.sums[index];
            if let Some(sum) = free.sums.get_mut(above) {
                sum.0 += count;
                sum.1 += gain;
            }
        }
        free
    }

    /// Removes a character, because a kept merge contains it.
    fn remove(&mut self, index: usize) {
        self.len -= 1;
        let mut at = index + 1;
        while at < self.sums.len() {
            self.sums[at].0 -= 1;
            self.sums[at].1 -= self.savings[index];
            at += at & at.wrapping_neg();
        }
    }

    /// Returns the number of tokens that the first `count` of these characters save.
    fn savings_of_first(&self, count: usize) -> i128 {
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
    fn savings_of_free_characters() {
        let savings_of_chars = [('é', 9), ('è', 7), ('漢', 4), ('字', 2)];
        let mut free = FreeChars::new(&savings_of_chars);
        assert_eq!((0..=4).map(|count| free.savings_of_first(count)).collect::<Vec<_>>(), [0, 9, 16, 20, 22]);
        free.remove(1);
        assert_eq!((0..=3).map(|count| free.savings_of_first(count)).collect::<Vec<_>>(), [0, 9, 13, 15]);
    }

    #[test]
    fn kept_merges_need_their_characters() {
        let merges = [("éa".to_string(), 5), ("aa".to_string(), 1)];
        assert_eq!(choose_merges_and_chars(&merges, &[('é', 3), ('漢', 2)], 3), (1, 0));
        assert_eq!(choose_merges_and_chars(&merges, &[('é', 3), ('漢', 20)], 3), (0, 2));
    }
}
