//! Compiles normalization rules to the character map of a SentencePiece model.
//!
//! Reference: `Builder` of SentencePiece, whose output is reproduced byte for byte: a double array that maps keys to
//! offsets, then the sorted replacements, each ended by a zero byte. The module [`named`] derives the named rule sets.

mod dawg;
mod double_array;
pub mod named;

use std::collections::BTreeMap;

use hashbrown::HashMap;
use polytok_memory::{self as memory, Collect, Copied, Grow, GrowMap, GrowText};

use crate::error::{Error, Result};

/// Rules as (key, replacement), ordered by the code points of the keys; each key occurs once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CharsmapRules(Vec<(String, String)>);

impl CharsmapRules {
    /// Creates a rule set from rules in any order. If several rules have the same key, the last rule counts.
    pub fn new(mut rules: Vec<(String, String)>) -> CharsmapRules {
        rules.reverse();
        memory::sort_stably(&mut rules, |a, b| a.0.cmp(&b.0)); // stable: the last of equal keys comes first
        rules.dedup_by(|later, first| later.0 == first.0);
        CharsmapRules(rules)
    }
}

/// The maximum number of keys that are prefixes of the same key, including this key itself.
const MAX_NESTED_KEYS: usize = 31;

/// Compiles rules to the character map of a model.
pub fn compile(rules: &CharsmapRules) -> Result<Vec<u8>> {
    memory::catch(|| {
        check(rules)?;
        let mut offsets: BTreeMap<&str, u32> = BTreeMap::new(); // collecting would sort a vector
        offsets.extend(rules.0.iter().map(|(_, text)| (text.as_str(), 0)));
        let mut replacements = Vec::new();
        for (text, offset) in &mut offsets {
            *offset = replacements.len() as u32;
            replacements.checked_extend_from_slice(text.as_bytes());
            replacements.checked_push(0);
        }
        let keys = rules.0.iter().map(|(key, text)| (key.as_bytes(), offsets[text.as_str()]));
        let units = double_array::units(&dawg::Dawg::build(keys));
        let mut blob = (units.len() as u32 * 4).to_le_bytes().checked_to_vec();
        blob.checked_extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        blob.checked_extend(replacements);
        Ok(blob)
    })
}

fn check(rules: &CharsmapRules) -> Result<()> {
    let rule_error = |what: String| Err(Error::Argument(format!("normalization rules: {what}")));
    if rules.0.is_empty() {
        return rule_error("there are no rules; pass at least one".into());
    }
    // The keys that are prefixes of the current key.
    let mut prefix_keys: Vec<&str> = Vec::new();
    for (key, text) in &rules.0 {
        if key.is_empty() {
            return rule_error("a rule has an empty key; write the characters that it replaces".into());
        }
        if key == text {
            return rule_error(format!("a rule replaces {key:?} with itself; remove the rule"));
        }
        if key.contains('\0') || text.contains('\0') {
            return rule_error(format!("the rule for {key:?} contains U+0000, which is not allowed; remove the rule"));
        }
        while prefix_keys.last().is_some_and(|prefix| !key.starts_with(prefix)) {
            prefix_keys.pop();
        }
        prefix_keys.checked_push(key);
        if prefix_keys.len() > MAX_NESTED_KEYS {
            return rule_error(format!(
                "more than {MAX_NESTED_KEYS} keys are prefixes of {key:?}; remove some of these rules"
            ));
        }
    }
    Ok(())
}

/// Parses a file of rules. Each line has hexadecimal code points, a tab, and the code points that replace them; text
/// after a second tab is ignored. If several rules replace the same characters, the last rule counts.
pub fn parse(file: &str) -> Result<CharsmapRules> {
    memory::catch(|| {
        let mut rules = Vec::new();
        for (number, line) in file.lines().enumerate() {
            let mut columns = line.split('\t');
            let mut column = || characters(columns.next().unwrap_or_default(), number + 1);
            let (key, text) = (column()?, column()?);
            if key.is_empty() {
                return Err(Error::Argument(format!(
                    "normalization rules: line {} has no code points before the tab",
                    number + 1
                )));
            }
            rules.checked_push((key, text));
        }
        Ok(CharsmapRules::new(rules))
    })
}

fn characters(column: &str, line: usize) -> Result<String> {
    let rule_error =
        |code| Error::Argument(format!("normalization rules: line {line}: {code:?} is not a hexadecimal code point"));
    let codes = column.split(' ').map(str::trim).filter(|code| !code.is_empty());
    codes
        .map(|code| {
            let digits = code.strip_prefix("U+").unwrap_or(code);
            let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")).unwrap_or(digits);
            u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).ok_or_else(|| rule_error(code))
        })
        .collect()
}

/// Removes the rules whose result is the same as that of the rules for fewer characters.
fn remove_redundant_rules(rules: CharsmapRules) -> CharsmapRules {
    let lengths: Vec<usize> = rules.0.iter().map(|(key, _)| key.chars().count()).checked_collect();
    let mut is_needed = memory::filled(false, rules.0.len());
    let mut needed_rules: HashMap<&str, &str> = HashMap::new();
    let mut rewritten = String::new();
    for len in 1..=lengths.iter().copied().max().unwrap_or(0) {
        let rules_of_len = || (0..lengths.len()).filter(|&at| lengths[at] == len);
        for at in rules_of_len() {
            let (key, text) = &rules.0[at];
            rewritten.clear();
            rewrite(&needed_rules, key, len - 1, &mut rewritten);
            is_needed[at] = len == 1 || rewritten != *text;
        }
        for at in rules_of_len().filter(|&at| is_needed[at]) {
            needed_rules.checked_insert(&rules.0[at].0, &rules.0[at].1);
        }
    }
    drop(needed_rules);
    let all = rules.0.into_iter().zip(is_needed);
    CharsmapRules(all.filter_map(|(rule, is_needed)| is_needed.then_some(rule)).checked_collect())
}

/// Rewrites a text with the rules for at most `max_chars` characters, the longest matching rule first.
fn rewrite(rules: &HashMap<&str, &str>, text: &str, max_chars: usize, out: &mut String) {
    let mut remaining_text = text;
    while let Some(first) = remaining_text.chars().next() {
        let mut end = remaining_text
            .char_indices()
            .nth(max_chars)
            .map_or(remaining_text.len(), |(at, _)| at)
            .max(first.len_utf8());
        let mut replacement = rules.get(&remaining_text[..end]);
        while replacement.is_none() && end > first.len_utf8() {
            end = remaining_text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
            replacement = rules.get(&remaining_text[..end]);
        }
        out.checked_push_str(replacement.copied().unwrap_or(&remaining_text[..end]));
        remaining_text = &remaining_text[end..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::charsmap::Charsmap;
    use crate::spec::SentencePieceVersion;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn compiled_maps_have_every_rule(rules in proptest::collection::vec(("[a-cé漢\u{1F600}]{1,4}", "[x-z]{0,3}"), 1..60)) {
            let rules = CharsmapRules::new(rules);
            let blob = compile(&rules).unwrap();
            let map = Charsmap::parse(blob, SentencePieceVersion::V0_2_3).unwrap();
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
        for rule_error in ["", "41\t41", "\t41", "xyz\t41", "41\n\n42", "D800\t41", "0\t41"] {
            assert!(parse(rule_error).and_then(|rules| compile(&rules)).is_err(), "{rule_error:?}");
        }
    }
}
