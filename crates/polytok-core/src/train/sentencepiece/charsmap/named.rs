//! The rule sets that have names: nfkc, nmt_nfkc, and both with case folding.
//!
//! Reference: SentencePiece makes them with ICU and ships the result: Unicode 16.0 in 0.2.1, 17.0 in 0.2.3. They are derived here in the
//! same way. nfkc has a rule for every character that NFKC changes, and for every sequence of characters that decompose to one
//! each and compose together; rules that others make superfluous are left out. nmt_nfkc maps controls and odd
//! spaces besides. The folding is the simple one, of what rules give and of characters without a rule.
//!
//! The tables at hand are newer than Unicode 17.0 and 16.0, so characters that came later are left alone; what a version
//! says of its characters never changes.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use polytok_pattern::CharRanges;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_compatible;

use super::{CharsmapRules, without_redundant};
use crate::error::{Error, Result};
use crate::spec::Line;

/// The one character of 17.0 that decomposes.
const NEW_DECOMPOSED: char = '\u{A7F1}';

/// The upper-case letters of 17.0, and how far below their lower-case ones they are.
const NEW_UPPER: [(char, char, u32); 4] = [
    ('\u{A7CE}', '\u{A7CE}', 1),
    ('\u{A7D2}', '\u{A7D2}', 1),
    ('\u{A7D4}', '\u{A7D4}', 1),
    ('\u{16EA0}', '\u{16EB8}', 0x1B),
];

/// The rules of a name.
pub fn rules(name: &str, line: Line) -> Result<CharsmapRules> {
    let known = Known::new(line)?;
    let (base, folds) = match name.strip_suffix("_cf") {
        Some(base) => (base, true),
        None => (name, false),
    };
    let mut rules = match base {
        "nfkc" => nfkc(&known),
        "nmt_nfkc" => without_redundant(with_nmt(nfkc(&known), line)),
        _ => {
            return Err(Error::Argument(format!(
                "normalization_rule_name={name:?} is none of identity, nfkc, nmt_nfkc, nfkc_cf, nmt_nfkc_cf"
            )));
        }
    };
    if folds {
        rules = with_folding(rules, &known);
    }
    Ok(rules)
}

/// The characters of a version.
struct Known {
    is_known: Vec<bool>,
    line: Line,
}

impl Known {
    fn new(line: Line) -> Result<Known> {
        let mut is_known = vec![false; 0x11_0000];
        for (first, last) in CharRanges::parse(r"\p{age=16.0}")?.iter() {
            is_known[first as usize..=last as usize].fill(true);
        }
        is_known[NEW_DECOMPOSED as usize] = line == Line::V0_2_3;
        Ok(Known { is_known, line })
    }

    fn has(&self, c: char) -> bool {
        self.is_known[c as usize]
    }

    /// Whether the character is another or several ones in NFKD; if not, NFKC leaves it alone too.
    fn decomposes(&self, c: char) -> bool {
        let mut differs = false;
        decompose_compatible(c, |part| differs |= part != c);
        differs && self.has(c)
    }

    /// Simple case folding.
    fn fold(&self, c: char) -> char {
        let new = NEW_UPPER.iter().find(|(first, last, _)| (*first..=*last).contains(&c));
        match (new, self.line) {
            (Some((_, _, below)), Line::V0_2_3) => char::from_u32(c as u32 + below).unwrap_or(c),
            _ if self.has(c) => folded(c),
            _ => c,
        }
    }
}

/// Simple case folding: to the lower-case letter of the upper-case one, but for a few.
fn folded(c: char) -> char {
    match c {
        // Cherokee folds to upper case.
        '\u{13A0}'..='\u{13F5}' => return c,
        '\u{13F8}'..='\u{13FD}' => return char::from_u32(c as u32 - 8).unwrap_or(c),
        '\u{AB70}'..='\u{ABBF}' => return char::from_u32(c as u32 - 0xAB70 + 0x13A0).unwrap_or(c),
        // The dotless i has no other case than that of i; two Greek letters and a ligature have no upper case of their own.
        'ı' => return c,
        '\u{1FD3}' => return '\u{390}',
        '\u{1FE3}' => return '\u{3B0}',
        '\u{FB05}' => return '\u{FB06}',
        _ => (),
    }
    let upper = single(c.to_uppercase()).unwrap_or(c);
    single(upper.to_lowercase()).unwrap_or(c)
}

fn single(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next();
    if chars.next().is_none() { first } else { None }
}

fn characters() -> impl Iterator<Item = char> {
    let is_character = |c: &char| !matches!(*c as u32, 0xFDD0..=0xFDEF) && *c as u32 & 0xFFFE != 0xFFFE;
    ('\u{1}'..=char::MAX).filter(is_character)
}

fn nfkc(known: &Known) -> CharsmapRules {
    let mut rules = Vec::new();
    // The other characters that decompose to a character, and what characters decompose to.
    let mut others: HashMap<char, Vec<char>> = HashMap::new();
    let mut decomposed = BTreeSet::new();
    for c in characters().filter(|&c| known.decomposes(c)) {
        let parts: String = std::iter::once(c).nfkd().collect();
        let composed: String = parts.nfkc().collect();
        if single(composed.chars()) != Some(c) {
            rules.push((c.to_string(), composed));
        }
        match single(parts.chars()) {
            Some(part) => others.entry(part).or_default().push(c),
            None => {
                decomposed.insert(parts);
            }
        }
    }
    for parts in decomposed {
        let composed: String = parts.nfkc().collect();
        if composed != parts {
            let all = sequences(&parts, &others).into_iter().filter(|sequence| *sequence != composed);
            rules.extend(all.map(|sequence| (sequence, composed.clone())));
        }
    }
    without_redundant(CharsmapRules::new(rules))
}

/// All sequences of characters that decompose to these.
fn sequences(parts: &str, others: &HashMap<char, Vec<char>>) -> Vec<String> {
    let mut found = vec![String::new()];
    for part in parts.chars() {
        let others = others.get(&part).map_or(&[][..], Vec::as_slice);
        let choices = || std::iter::once(part).chain(others.iter().copied());
        let longer = found.iter().flat_map(|text| choices().map(move |c| with(text, c)));
        found = longer.collect();
    }
    found
}

fn with(text: &str, c: char) -> String {
    let mut longer = String::with_capacity(text.len() + c.len_utf8());
    longer.push_str(text);
    longer.push(c);
    longer
}

fn with_nmt(rules: CharsmapRules, line: Line) -> CharsmapRules {
    let spaces = "\t\n\u{C}\r\u{1680}\u{200B}\u{200C}\u{200E}\u{200F}\u{2028}\u{2029}\u{2581}\u{FEFF}\u{FFFD}";
    let new = if line == Line::V0_2_3 { "\u{61C}" } else { "" };
    let mut rules = rules.0;
    rules.extend(spaces.chars().chain(new.chars()).map(|c| (c.to_string(), " ".to_string())));
    let gone = ('\u{1}'..='\u{8}').chain(['\u{B}']).chain('\u{E}'..='\u{1F}').chain(['\u{7F}', '\u{8F}', '\u{9F}']);
    rules.extend(gone.map(|c| (c.to_string(), String::new())));
    // Both kinds of tilde are used in Japanese, each in its way.
    rules.retain(|(key, _)| key != "\u{FF5E}");
    CharsmapRules::new(rules)
}

fn with_folding(rules: CharsmapRules, known: &Known) -> CharsmapRules {
    let folded = characters().map(|c| (c, known.fold(c))).filter(|(c, folded)| c != folded);
    let mut all: Vec<(String, String)> = folded.map(|(c, folded)| (c.to_string(), folded.to_string())).collect();
    all.extend(rules.0.into_iter().map(|(key, text)| (key, text.chars().map(|c| known.fold(c)).collect())));
    without_redundant(CharsmapRules::new(all))
}
