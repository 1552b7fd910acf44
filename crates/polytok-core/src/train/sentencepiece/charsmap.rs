//! Rules of rewriting, compiled to the character map of a model.
//!
//! Reference: `Builder` of SentencePiece, whose layout is kept to the byte: the replacements in order, each ended by a zero, behind a
//! double array of the keys with their offsets. [`named`] derives the rule sets that have names.

mod dawg;
mod double_array;
pub mod named;

use std::collections::{BTreeMap, HashMap};

use crate::error::{Error, Result};

/// What becomes what; texts in the order of their code points.
pub type Rules = BTreeMap<String, String>;

/// So many keys may be prefixes of one key, itself with them.
const MOST_NESTED: usize = 31;

/// The character map of a model.
pub fn compile(rules: &Rules) -> Result<Vec<u8>> {
    check(rules)?;
    let mut offsets: BTreeMap<&str, u32> = rules.values().map(|text| (text.as_str(), 0)).collect();
    let mut replacements = Vec::new();
    for (text, offset) in &mut offsets {
        *offset = replacements.len() as u32;
        replacements.extend_from_slice(text.as_bytes());
        replacements.push(0);
    }
    let keys = rules.iter().map(|(key, text)| (key.as_bytes(), offsets[text.as_str()]));
    let units = double_array::units(&dawg::Dawg::build(keys));
    let mut blob = (units.len() as u32 * 4).to_le_bytes().to_vec();
    blob.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    blob.extend(replacements);
    Ok(blob)
}

fn check(rules: &Rules) -> Result<()> {
    let wrong = |what: String| Err(Error::Argument(format!("normalization rules: {what}")));
    if rules.is_empty() {
        return wrong("there is none".into());
    }
    for (key, text) in rules {
        if key.is_empty() {
            return wrong("one has nothing to replace".into());
        }
        if key == text {
            return wrong(format!("one replaces {key:?} by itself"));
        }
        if key.contains('\0') || text.contains('\0') {
            return wrong(format!("U+0000 can stand in none, but it does in that of {key:?}"));
        }
        let ends = key.char_indices().map(|(at, c)| at + c.len_utf8());
        if ends.filter(|&end| rules.contains_key(&key[..end])).count() > MOST_NESTED {
            return wrong(format!("more than {MOST_NESTED} begin like {key:?}"));
        }
    }
    Ok(())
}

/// Rules of a file: in each line hexadecimal code points, a tab, and those that they become; what is behind another tab does
/// not count. A later rule takes the place of an earlier one for the same characters.
pub fn parse(file: &str) -> Result<Rules> {
    let mut rules = Rules::new();
    for (number, line) in file.lines().enumerate() {
        let mut columns = line.split('\t');
        let mut column = || characters(columns.next().unwrap_or_default(), number + 1);
        let (key, text) = (column()?, column()?);
        if key.is_empty() {
            return Err(Error::Argument(format!("normalization rules: line {} has nothing to replace", number + 1)));
        }
        rules.insert(key, text);
    }
    Ok(rules)
}

fn characters(column: &str, line: usize) -> Result<String> {
    let wrong =
        |code| Error::Argument(format!("normalization rules: line {line}: {code:?} is no hexadecimal code point"));
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
fn without_redundant(rules: Rules) -> Rules {
    let len = |text: &str| text.chars().count();
    let most = rules.keys().map(|key| len(key)).max().unwrap_or(0);
    let mut by_len: Vec<Vec<(&str, &str)>> = vec![Vec::new(); most + 1];
    rules.iter().for_each(|(key, text)| by_len[len(key)].push((key, text)));
    let mut kept: HashMap<&str, &str> = HashMap::new();
    for (len, rules) in by_len.iter().enumerate() {
        let needed = rules.iter().filter(|(key, text)| len < 2 || rewritten(&kept, key, len - 1) != *text);
        let needed: Vec<_> = needed.copied().collect();
        kept.extend(needed);
    }
    kept.into_iter().map(|(key, text)| (key.to_string(), text.to_string())).collect()
}

/// A text by rules for at most so many characters, the longest first.
fn rewritten(rules: &HashMap<&str, &str>, text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let ends: Vec<usize> = rest.char_indices().map(|(at, c)| at + c.len_utf8()).take(most).collect();
        let found = ends.iter().rev().find_map(|&end| rules.get(&rest[..end]).map(|text| (end, *text)));
        let (end, text) = found.unwrap_or((first.len_utf8(), &rest[..first.len_utf8()]));
        out.push_str(text);
        rest = &rest[end..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::charsmap::Charsmap;
    use crate::spec::Line;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_rule_is_found(rules in proptest::collection::btree_map("[a-cé漢\u{1F600}]{1,4}", "[x-z]{0,3}", 1..60)) {
            let blob = compile(&rules).unwrap();
            let map = Charsmap::parse(blob, Line::V0_2_3).unwrap();
            for (key, text) in &rules {
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
        assert_eq!(rules, expected.map(|(key, text)| (key.to_string(), text.to_string())).into());
        for wrong in ["", "41\t41", "\t41", "xyz\t41", "41\n\n42", "D800\t41", "0\t41"] {
            assert!(parse(wrong).and_then(|rules| compile(&rules)).is_err(), "{wrong:?}");
        }
    }
}
