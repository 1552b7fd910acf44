//! Derives the named rule sets: nfkc, nmt_nfkc, and nfkc_cf and nmt_nfkc_cf with case folding.
//!
//! Reference: SentencePiece generates these rule sets with ICU and ships the result: Unicode 16.0 in 0.2.1, 17.0 in
//! 0.2.3. This module derives the same rules. nfkc has a rule for every character that NFKC changes. It also has a rule
//! for every sequence of characters that compose together after each of them decomposes to one character. Redundant
//! rules are removed. nmt_nfkc also maps control characters and unusual spaces. Case folding is simple case folding; it
//! applies to replacements and to characters without a rule.
//!
//! The Unicode tables that this module uses can be newer than 16.0 and 17.0, so characters that were added later get no
//! rules. The rules of older characters agree, because Unicode never changes the normalization of an existing
//! character.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use polytok_memory::{self as memory, Collect, Grow, GrowText};
use polytok_pattern::CharRanges;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_compatible;

use super::{CharsmapRules, remove_redundant_rules};
use crate::error::{Error, Result};
use crate::spec::SentencePieceVersion;

/// The only character that Unicode 17.0 adds and that decomposes.
const NEW_DECOMPOSING_CHAR: char = '\u{A7F1}';

/// The upper-case letters that Unicode 17.0 adds, as (first, last, distance to the lower-case letter).
const NEW_UPPER_CASE_LETTERS: [(char, char, u32); 4] = [
    ('\u{A7CE}', '\u{A7CE}', 1),
    ('\u{A7D2}', '\u{A7D2}', 1),
    ('\u{A7D4}', '\u{A7D4}', 1),
    ('\u{16EA0}', '\u{16EB8}', 0x1B),
];

/// Returns the rule set with a name.
pub fn rules(name: &str, version: SentencePieceVersion) -> Result<CharsmapRules> {
    let known_chars = KnownChars::new(version)?;
    let (base, folds) = match name.strip_suffix("_cf") {
        Some(base) => (base, true),
        None => (name, false),
    };
    let mut rules = match base {
        "nfkc" => derive_nfkc(&known_chars),
        "nmt_nfkc" => remove_redundant_rules(add_nmt_rules(derive_nfkc(&known_chars), version)),
        _ => {
            return Err(Error::Argument(format!(
                "normalization_rule_name={name:?} does not exist; use identity, nfkc, nmt_nfkc, nfkc_cf or nmt_nfkc_cf"
            )));
        }
    };
    if folds {
        rules = add_folding(rules, &known_chars);
    }
    Ok(rules)
}

/// The characters that exist in the Unicode version of a SentencePiece version.
struct KnownChars {
    is_known: Vec<bool>,
    version: SentencePieceVersion,
}

impl KnownChars {
    fn new(version: SentencePieceVersion) -> Result<KnownChars> {
        let mut is_known = memory::filled(false, 0x11_0000);
        for (first, last) in CharRanges::parse(r"\p{age=16.0}")?.iter() {
            is_known[first as usize..=last as usize].fill(true);
        }
        is_known[NEW_DECOMPOSING_CHAR as usize] = version == SentencePieceVersion::V0_2_3;
        Ok(KnownChars { is_known, version })
    }

    fn has(&self, c: char) -> bool {
        self.is_known[c as usize]
    }

    /// Reports whether NFKD changes a character. A character that NFKD does not change is not changed by NFKC.
    fn decomposes(&self, c: char) -> bool {
        let mut is_changed = false;
        decompose_compatible(c, |part| is_changed |= part != c);
        is_changed && self.has(c)
    }

    /// Applies simple case folding to a character.
    fn fold(&self, c: char) -> char {
        let new = NEW_UPPER_CASE_LETTERS.iter().find(|(first, last, _)| (*first..=*last).contains(&c));
        match (new, self.version) {
            (Some((_, _, below)), SentencePieceVersion::V0_2_3) => char::from_u32(c as u32 + below).unwrap_or(c),
            _ if self.has(c) => fold_char(c),
            _ => c,
        }
    }
}

/// Applies simple case folding with the standard library's tables: converts the character to upper case, then to lower
/// case, with a few exceptions.
fn fold_char(c: char) -> char {
    match c {
        // Cherokee letters fold to upper case.
        '\u{13A0}'..='\u{13F5}' => return c,
        '\u{13F8}'..='\u{13FD}' => return char::from_u32(c as u32 - 8).unwrap_or(c),
        '\u{AB70}'..='\u{ABBF}' => return char::from_u32(c as u32 - 0xAB70 + 0x13A0).unwrap_or(c),
        // The dotless i has the same upper-case letter as i. Two Greek letters and a ligature share the upper case of
        // other characters.
        'ı' => return c,
        '\u{1FD3}' => return '\u{390}',
        '\u{1FE3}' => return '\u{3B0}',
        '\u{FB05}' => return '\u{FB06}',
        _ => (),
    }
    let upper = only_char(c.to_uppercase()).unwrap_or(c);
    only_char(upper.to_lowercase()).unwrap_or(c)
}

/// Returns the character of a sequence of one character, or `None` for a longer sequence.
fn only_char(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next();
    if chars.next().is_none() { first } else { None }
}

fn characters() -> impl Iterator<Item = char> {
    let is_character = |c: &char| !matches!(*c as u32, 0xFDD0..=0xFDEF) && *c as u32 & 0xFFFE != 0xFFFE;
    ('\u{1}'..=char::MAX).filter(is_character)
}

/// Derives the rules of NFKC.
fn derive_nfkc(known_chars: &KnownChars) -> CharsmapRules {
    let mut rules = Vec::new();
    // `chars_with_decomposition` has the characters that decompose to a character; `decomposed` has the decompositions
    // of several characters.
    let mut chars_with_decomposition: HashMap<char, Vec<char>> = HashMap::new();
    let mut decomposed = BTreeSet::new();
    for c in characters().filter(|&c| known_chars.decomposes(c)) {
        let parts: String = std::iter::once(c).nfkd().collect();
        let composed: String = parts.nfkc().collect();
        if only_char(composed.chars()) != Some(c) {
            rules.checked_push((c.to_string(), composed));
        }
        match only_char(parts.chars()) {
            Some(part) => chars_with_decomposition.entry(part).or_default().checked_push(c),
            None => {
                decomposed.insert(parts);
            }
        }
    }
    for parts in decomposed {
        let composed: String = parts.nfkc().collect();
        if composed != parts {
            let all = sequences_decomposing_to(&parts, &chars_with_decomposition)
                .into_iter()
                .filter(|sequence| *sequence != composed);
            rules.checked_extend(all.map(|sequence| (sequence, composed.clone())));
        }
    }
    remove_redundant_rules(CharsmapRules::new(rules))
}

/// Returns all sequences of characters that decompose to `parts`.
fn sequences_decomposing_to(parts: &str, chars_with_decomposition: &HashMap<char, Vec<char>>) -> Vec<String> {
    let mut sequences_decomposing_to = vec![String::new()];
    for part in parts.chars() {
        let chars_with_decomposition = chars_with_decomposition.get(&part).map_or(&[][..], Vec::as_slice);
        let choices = || std::iter::once(part).chain(chars_with_decomposition.iter().copied());
        let longer = sequences_decomposing_to.iter().flat_map(|text| choices().map(move |c| append_char(text, c)));
        sequences_decomposing_to = longer.checked_collect();
    }
    sequences_decomposing_to
}

/// Returns `text` followed by `c`.
fn append_char(text: &str, c: char) -> String {
    let mut longer = String::with_capacity(text.len() + c.len_utf8());
    longer.checked_push_str(text);
    longer.checked_push_char(c);
    longer
}

fn add_nmt_rules(rules: CharsmapRules, version: SentencePieceVersion) -> CharsmapRules {
    let spaces = "\t\n\u{C}\r\u{1680}\u{200B}\u{200C}\u{200E}\u{200F}\u{2028}\u{2029}\u{2581}\u{FEFF}\u{FFFD}";
    let new = if version == SentencePieceVersion::V0_2_3 { "\u{61C}" } else { "" };
    let mut rules = rules.0;
    rules.checked_extend(spaces.chars().chain(new.chars()).map(|c| (c.to_string(), " ".to_string())));
    let removed_chars =
        ('\u{1}'..='\u{8}').chain(['\u{B}']).chain('\u{E}'..='\u{1F}').chain(['\u{7F}', '\u{8F}', '\u{9F}']);
    rules.checked_extend(removed_chars.map(|c| (c.to_string(), String::new())));
    // Japanese uses the full-width tilde and the wave dash differently, so the full-width tilde is kept.
    rules.retain(|(key, _)| key != "\u{FF5E}");
    CharsmapRules::new(rules)
}

fn add_folding(rules: CharsmapRules, known_chars: &KnownChars) -> CharsmapRules {
    let folded = characters().map(|c| (c, known_chars.fold(c))).filter(|(c, folded)| c != folded);
    let mut all: Vec<(String, String)> =
        folded.map(|(c, folded)| (c.to_string(), folded.to_string())).checked_collect();
    all.checked_extend(
        rules.0.into_iter().map(|(key, text)| (key, text.chars().map(|c| known_chars.fold(c)).collect())),
    );
    remove_redundant_rules(CharsmapRules::new(all))
}
