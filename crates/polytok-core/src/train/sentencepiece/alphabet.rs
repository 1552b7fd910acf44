//! The characters of a vocabulary: as many of the frequent ones as cover the text.
//!
//! Reference: `LoadSentences`. Characters that the user requires come first, then by count, then by code point; they
//! are taken until their part of all characters reaches the coverage, both numbers as float32. The boundary counts but
//! is no character; U+0000 does not count.

use super::options::{RARE, SentencePieceOptions};
use crate::error::{Error, Result};

const CODES: usize = 0x11_0000;

/// How often each character occurs.
pub struct CharCounts {
    counts: Vec<u64>,
}

impl Default for CharCounts {
    fn default() -> CharCounts {
        CharCounts { counts: vec![0; CODES] }
    }
}

impl CharCounts {
    /// Counts the characters of a text that occurs so many times.
    pub fn add(&mut self, text: &str, times: u64) -> Result<()> {
        for c in text.chars() {
            let count = &mut self.counts[c as usize];
            *count = count.checked_add(times).ok_or_else(too_many)?;
        }
        Ok(())
    }

    /// How often a character occurs.
    pub fn of(&self, c: char) -> u64 {
        self.counts[c as usize]
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &CharCounts) -> Result<()> {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.checked_add(*more).ok_or_else(too_many)?;
        }
        Ok(())
    }
}

fn too_many() -> Error {
    Error::Argument("the count of a character exceeds 64 bits; scale the counts down".into())
}

/// The characters, each of which is a piece, with their counts.
pub struct Alphabet {
    /// The most frequent first, then by code point. A required one may have the count 0.
    pub chars: Vec<(char, u64)>,
    /// The place of each in `chars`.
    places: Vec<u32>,
}

/// Not in the alphabet.
const NONE: u32 = u32::MAX;

impl Alphabet {
    /// Chooses them.
    pub fn choose(counts: &CharCounts, options: &SentencePieceOptions) -> Result<Alphabet> {
        let mut found = candidates(counts, options);
        let total = found.iter().try_fold(0u64, |sum, entry| sum.checked_add(entry.1)).ok_or_else(too_many)?;
        if total == 0 {
            return Err(Error::Argument(
                "there is nothing to train on: the input is empty, or all sentences were skipped; give more text"
                    .into(),
            ));
        }
        found.sort_unstable_by_key(|&(is_required, count, c)| (!is_required, !count, c));
        let mut chars = Vec::new();
        let mut covered = 0;
        for (_, count, c) in found {
            if !options.use_all_vocab && (covered as f64 / total as f64) as f32 >= options.character_coverage {
                break;
            }
            covered += count;
            if c != options.boundary() && !(c == RARE && options.keeps_reserved) {
                chars.push((c, count));
            }
        }
        if chars.iter().any(|&(c, _)| c == RARE) {
            return Err(Error::Argument(format!(
                "U+{:04X} is reserved and cannot be a character of a vocabulary; remove it from required_chars",
                RARE as u32
            )));
        }
        Ok(Alphabet::of(chars))
    }

    /// All characters that occur, but U+0000 and the boundary.
    pub fn all(counts: &CharCounts, options: &SentencePieceOptions) -> Result<Alphabet> {
        let all = Alphabet::choose(counts, &SentencePieceOptions { use_all_vocab: true, ..options.clone() })?;
        Ok(all)
    }

    /// An error if the pieces that are not reserved are fewer than the characters.
    pub fn check_fits(&self, most: usize, options: &SentencePieceOptions) -> Result<()> {
        if self.chars.len() <= most {
            return Ok(());
        }
        Err(Error::Argument(format!(
            "vocab_size={} is too small for {} characters and {} reserved pieces; raise it, or lower character_coverage",
            options.vocab_size,
            self.chars.len(),
            options.vocab_size.saturating_sub(most),
        )))
    }

    fn of(mut chars: Vec<(char, u64)>) -> Alphabet {
        chars.sort_unstable_by_key(|&(c, count)| (!count, c));
        let mut places = vec![NONE; CODES];
        for (place, &(c, _)) in chars.iter().enumerate() {
            places[c as usize] = place as u32;
        }
        Alphabet { chars, places }
    }

    /// The place of a character in `chars`.
    #[inline]
    pub fn place(&self, c: char) -> Option<usize> {
        Some(self.places[c as usize]).filter(|&place| place != NONE).map(|place| place as usize)
    }

    /// Whether it is one of them.
    #[inline]
    pub fn contains(&self, c: char) -> bool {
        self.places[c as usize] != NONE
    }

    /// Appends the text, with U+2585 for what is not one of them.
    pub fn mask(&self, text: &str, out: &mut String) {
        out.extend(text.chars().map(|c| if self.contains(c) { c } else { RARE }));
    }
}

/// What occurs or is required: whether it is required, the count, the character.
fn candidates(counts: &CharCounts, options: &SentencePieceOptions) -> Vec<(bool, u64, char)> {
    let mut is_required = vec![false; CODES];
    options.required_chars.chars().for_each(|c| is_required[c as usize] = true);
    let all = ('\u{1}'..=char::MAX).filter(|&c| counts.counts[c as usize] > 0 || is_required[c as usize]);
    all.map(|c| (is_required[c as usize], counts.counts[c as usize], c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str, options: &SentencePieceOptions) -> String {
        let mut counts = CharCounts::default();
        counts.add(text, 1).unwrap();
        Alphabet::choose(&counts, options).unwrap().chars.iter().map(|&(c, _)| c).collect()
    }

    #[test]
    fn frequent_ones_come_first() {
        assert_eq!(
            chosen(
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
        assert_eq!(chosen("cabbbb", &required), "bcz");
        assert!(Alphabet::choose(&CharCounts::default(), &required).is_err());
    }

    #[test]
    fn rare_ones_are_masked() {
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
