//! Rules of rewriting, compiled to the character map of a model.
//!
//! Reference: `Builder` of SentencePiece, whose layout is kept to the byte: the replacements in order, each ended by a zero, behind a
//! double array of the keys with their offsets. [`named`] derives the rule sets that have names.

mod dawg;
mod double_array;
pub mod named;

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::error::{Error, Result};

/// What becomes what, in the order of code points; each key once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CharsmapRules(Vec<(String, String)>);

impl CharsmapRules {
    /// Of rules in any order; a later one takes the place of an earlier one for the same key.
    pub fn new(mut rules: Vec<(String, String)>) -> CharsmapRules {
        rules.reverse();
        rules.sort_by(|one, other| one.0.cmp(&other.0)); // stable: the last of equal keys comes first
        rules.dedup_by(|later, first| later.0 == first.0);
        CharsmapRules(rules)
    }
}

/// So many keys may be prefixes of one key, itself with them.
const MOST_NESTED: usize = 31;

/// The character map of a model.
pub fn compile(rules: &CharsmapRules) -> Result<Vec<u8>> {
    check(rules)?;
    let mut offsets: BTreeMap<&str, u32> = rules.0.iter().map(|(_, text)| (text.as_str(), 0)).collect();
    let mut replacements = Vec::new();
    for (text, offset) in &mut offsets {
        *offset = replacements.len() as u32;
        replacements.extend_from_slice(text.as_bytes());
        replacements.push(0);
    }
    let keys = rules.0.iter().map(|(key, text)| (key.as_bytes(), offsets[text.as_str()]));
    let units = double_array::units(&dawg::Dawg::build(keys));
    let mut blob = (units.len() as u32 * 4).to_le_bytes().to_vec();
    blob.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    blob.extend(replacements);
    Ok(blob)
}

fn check(rules: &CharsmapRules) -> Result<()> {
    let wrong = |what: String| Err(Error::Argument(format!("normalization rules: {what}")));
    if rules.0.is_empty() {
        return wrong("there are no rules; give at least one".into());
    }
    // Keys that are prefixes of the one at hand.
    let mut open: Vec<&str> = Vec::new();
    for (key, text) in &rules.0 {
        if key.is_empty() {
            return wrong("one has nothing to replace".into());
        }
        if key == text {
            return wrong(format!("a rule replaces {key:?} by itself; remove it"));
        }
        if key.contains('\0') || text.contains('\0') {
            return wrong(format!("the rule for {key:?} contains U+0000, which is not allowed; remove it"));
        }
        while open.last().is_some_and(|prefix| !key.starts_with(prefix)) {
            open.pop();
        }
        open.push(key);
        if open.len() > MOST_NESTED {
            return wrong(format!("more than {MOST_NESTED} rules begin like {key:?}; use fewer"));
        }
    }
    Ok(())
}

/// Rules of a file: in each line hexadecimal code points, a tab, and those that they become; what is behind another tab does
/// not count. A later rule takes the place of an earlier one for the same characters.
pub fn parse(file: &str) -> Result<CharsmapRules> {
    let mut rules = Vec::new();
    for (number, line) in file.lines().enumerate() {
        let mut columns = line.split('\t');
        let mut column = || characters(columns.next().unwrap_or_default(), number + 1);
        let (key, text) = (column()?, column()?);
        if key.is_empty() {
            return Err(Error::Argument(format!("normalization rules: line {} has nothing to replace", number + 1)));
        }
        rules.push((key, text));
    }
    Ok(CharsmapRules::new(rules))
}

fn characters(column: &str, line: usize) -> Result<String> {
    let wrong =
        |code| Error::Argument(format!("normalization rules: line {line}: {code:?} is not a hexadecimal code point"));
    let codes = column.split(' ').map(str::trim).filter(|code| !code.is_empty());
    codes
        .map(|code| {
            let digits = code.strip_prefix("U+").unwrap_or(code);
            let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")).unwrap_or(digits);
            u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).ok_or_else(|| wrong(code))
        })
        .collect()
}

/// Leaves out what the rules for fewer characters do as well.
fn without_redundant(rules: CharsmapRules) -> CharsmapRules {
    let lengths: Vec<usize> = rules.0.iter().map(|(key, _)| key.chars().count()).collect();
    let mut is_needed = vec![false; rules.0.len()];
    let mut kept: HashMap<&str, &str> = HashMap::new();
    let mut rewritten = String::new();
    for len in 1..=lengths.iter().copied().max().unwrap_or(0) {
        let of_len = || (0..lengths.len()).filter(|&at| lengths[at] == len);
        for at in of_len() {
            let (key, text) = &rules.0[at];
            rewritten.clear();
            rewrite(&kept, key, len - 1, &mut rewritten);
            is_needed[at] = len == 1 || rewritten != *text;
        }
        kept.extend(of_len().filter(|&at| is_needed[at]).map(|at| (rules.0[at].0.as_str(), rules.0[at].1.as_str())));
    }
    drop(kept);
    let all = rules.0.into_iter().zip(is_needed);
    CharsmapRules(all.filter_map(|(rule, is_needed)| is_needed.then_some(rule)).collect())
}

/// A text by rules for at most so many characters, the longest first.
fn rewrite(rules: &HashMap<&str, &str>, text: &str, most: usize, out: &mut String) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut end = rest.char_indices().nth(most).map_or(rest.len(), |(at, _)| at).max(first.len_utf8());
        let mut found = rules.get(&rest[..end]);
        while found.is_none() && end > first.len_utf8() {
            end = rest[..end].char_indices().next_back().map_or(0, |(at, _)| at);
            found = rules.get(&rest[..end]);
        }
        out.push_str(found.copied().unwrap_or(&rest[..end]));
        rest = &rest[end..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::charsmap::Charsmap;
    use crate::spec::Line;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_rule_is_found(rules in proptest::collection::vec(("[a-cé漢\u{1F600}]{1,4}", "[x-z]{0,3}"), 1..60)) {
            let rules = CharsmapRules::new(rules);
            let blob = compile(&rules).unwrap();
            let map = Charsmap::parse(blob, Line::V0_2_3).unwrap();
            for (key, text) in &rules.0 {
                prop_assert_eq!(map.longest_prefix(key.as_bytes()), Some((key.len(), text.as_bytes())));
            }
            let none = map.longest_prefix("w".as_bytes());
            prop_assert_eq!(none, None);
        }
    }

    #[test]
    fn files_of_rules() {
        let rules = parse("41\t61\r\nU+42 43\t\t# gone\n0x44\n41\t62").unwrap();
        let expected = [("A", "b"), ("BC", ""), ("D", "")];
        assert_eq!(rules.0, expected.map(|(key, text)| (key.to_string(), text.to_string())));
        for wrong in ["", "41\t41", "\t41", "xyz\t41", "41\n\n42", "D800\t41", "0\t41"] {
            assert!(parse(wrong).and_then(|rules| compile(&rules)).is_err(), "{wrong:?}");
        }
    }
}
