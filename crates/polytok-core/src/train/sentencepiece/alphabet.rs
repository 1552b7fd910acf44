//! Chooses the alphabet of a vocabulary: the most frequent characters, as many as it takes to cover the requested share
//! of the text.
//!
//! Reference: `LoadSentences`. Required characters come first. The other characters follow in the order of falling
//! count; equally frequent characters in the order of code points. Characters are added until they cover the requested
//! share of the text. The covered share is computed in float32. The boundary character counts as covered but is never
//! in the alphabet. U+0000 is ignored.

use polytok_memory::{self as memory, Collect, Grow, GrowText};

use super::options::{RARE_CHAR, SentencePieceOptions};
use crate::error::{Error, Result};
use crate::train::sort_by_count;

const CODE_POINTS: usize = 0x11_0000;

/// The number of occurrences of each character.
pub struct CharCounts {
    counts: Vec<u64>,
}

impl Default for CharCounts {
    fn default() -> CharCounts {
        CharCounts { counts: memory::zeroed(CODE_POINTS) }
    }
}

impl CharCounts {
    /// Counts the characters of a text that occurs `times` times.
    pub fn add(&mut self, text: &str, times: u64) -> Result<()> {
        for c in text.chars() {
            let count = &mut self.counts[c as usize];
            *count = count.checked_add(times).ok_or_else(count_overflow)?;
        }
        Ok(())
    }

    /// Returns the number of occurrences of a character.
    pub fn count(&self, c: char) -> u64 {
        self.counts[c as usize]
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &CharCounts) -> Result<()> {
        for (count, other_count) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.checked_add(*other_count).ok_or_else(count_overflow)?;
        }
        Ok(())
    }
}

fn count_overflow() -> Error {
    Error::Argument("the count of a character exceeds 64 bits; scale the counts down".into())
}

/// The characters that are pieces, with their counts.
pub struct Alphabet {
    /// The characters and their counts: the most frequent first, then by code point. A required character can have
    /// count 0.
    pub chars: Vec<(char, u64)>,
    /// The index in `chars` of each code point, or `NONE`.
    char_indexes: Vec<u32>,
}

/// The index of a code point that is not in the alphabet.
const NONE: u32 = u32::MAX;

impl Alphabet {
    /// Chooses the alphabet for counted characters.
    pub fn choose(counts: &CharCounts, options: &SentencePieceOptions) -> Result<Alphabet> {
        let coverage = if options.use_all_vocab { f32::INFINITY } else { options.character_coverage };
        Alphabet::covering(counts, coverage, options)
    }

    /// Returns an alphabet of all characters that occur, except U+0000 and the boundary character.
    pub fn of_all_chars(counts: &CharCounts, options: &SentencePieceOptions) -> Result<Alphabet> {
        Alphabet::covering(counts, f32::INFINITY, options)
    }

    /// Returns the most frequent characters, until they are this share of all characters.
    fn covering(counts: &CharCounts, coverage: f32, options: &SentencePieceOptions) -> Result<Alphabet> {
        let mut candidates_by_priority = candidates(counts, options);
        let total = candidates_by_priority
            .iter()
            .try_fold(0u64, |sum, entry| sum.checked_add(entry.1))
            .ok_or_else(count_overflow)?;
        if total == 0 {
            return Err(Error::Argument(
                "there is nothing to train on: the input is empty, or all sentences were skipped; pass more text"
                    .into(),
            ));
        }
        let priority = |&(is_required, count, c): &(bool, u64, char)| (!is_required, !count, c);
        memory::sort_stably(&mut candidates_by_priority, |a, b| priority(a).cmp(&priority(b)));
        let mut chars = Vec::new();
        let mut covered_count = 0;
        for (_, count, c) in candidates_by_priority {
            if (covered_count as f64 / total as f64) as f32 >= coverage {
                break;
            }
            covered_count += count;
            if c != options.boundary() && !(c == RARE_CHAR && options.keeps_reserved) {
                chars.checked_push((c, count));
            }
        }
        if chars.iter().any(|&(c, _)| c == RARE_CHAR) {
            return Err(Error::Argument(format!(
                "U+{:04X} is reserved and cannot be a character of a vocabulary; remove it from required_chars",
                RARE_CHAR as u32
            )));
        }
        Ok(Alphabet::from_chars(chars))
    }

    /// Returns an error if the alphabet has more than `max_pieces` characters; `max_pieces` excludes the reserved
    /// pieces.
    pub fn check_fits(&self, max_pieces: usize, options: &SentencePieceOptions) -> Result<()> {
        if self.chars.len() <= max_pieces {
            return Ok(());
        }
        Err(Error::Argument(format!(
            "vocab_size={} is too small for {} characters and {} reserved pieces; raise it, or lower character_coverage",
            options.vocab_size,
            self.chars.len(),
            options.vocab_size.saturating_sub(max_pieces),
        )))
    }

    fn from_chars(mut chars: Vec<(char, u64)>) -> Alphabet {
        sort_by_count(&mut chars);
        let mut char_indexes = memory::filled(NONE, CODE_POINTS);
        for (index, &(c, _)) in chars.iter().enumerate() {
            char_indexes[c as usize] = index as u32;
        }
        Alphabet { chars, char_indexes }
    }

    /// Returns the index of a character in `chars`.
    #[inline]
    pub fn index_of(&self, c: char) -> Option<usize> {
        Some(self.char_indexes[c as usize]).filter(|&index| index != NONE).map(|index| index as usize)
    }

    /// Reports whether a character is in the alphabet.
    #[inline]
    pub fn contains(&self, c: char) -> bool {
        self.char_indexes[c as usize] != NONE
    }

    /// Appends `text` to `out` and replaces every character that is not in the alphabet by U+2585.
    pub fn mask(&self, text: &str, out: &mut String) {
        text.chars().for_each(|c| out.checked_push_char(if self.contains(c) { c } else { RARE_CHAR }));
    }
}

/// Returns each character that occurs or is required, as (is required, count, character).
fn candidates(counts: &CharCounts, options: &SentencePieceOptions) -> Vec<(bool, u64, char)> {
    let mut is_required = memory::filled(false, CODE_POINTS);
    options.required_chars.chars().for_each(|c| is_required[c as usize] = true);
    let chars = ('\u{1}'..=char::MAX).filter(|&c| counts.counts[c as usize] > 0 || is_required[c as usize]);
    chars.map(|c| (is_required[c as usize], counts.counts[c as usize], c)).checked_collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose_chars(text: &str, options: &SentencePieceOptions) -> String {
        let mut counts = CharCounts::default();
        counts.add(text, 1).unwrap();
        Alphabet::choose(&counts, options).unwrap().chars.iter().map(|&(c, _)| c).collect()
    }

    #[test]
    fn frequent_characters_come_first() {
        assert_eq!(
            choose_chars(
                "cabbacb\0\u{1F}",
                &SentencePieceOptions { character_coverage: 1.0, ..SentencePieceOptions::default() }
            ),
            "bac"
        );
        let required = SentencePieceOptions {
            required_chars: "zc".into(),
            character_coverage: 0.3,
            ..SentencePieceOptions::default()
        };
        assert_eq!(choose_chars("cabbbb", &required), "bcz");
        assert!(Alphabet::choose(&CharCounts::default(), &required).is_err());
    }

    #[test]
    fn rare_characters_are_masked() {
        let mut counts = CharCounts::default();
        counts.add("aab", 1).unwrap();
        let alphabet = Alphabet::choose(
            &counts,
            &SentencePieceOptions { character_coverage: 0.5, ..SentencePieceOptions::default() },
        )
        .unwrap();
        let mut out = String::new();
        alphabet.mask("abca", &mut out);
        assert_eq!(out, "a▅▅a");
    }
}
