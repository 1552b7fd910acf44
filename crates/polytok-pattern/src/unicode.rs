//! Rewrites patterns for an older version of Unicode, in which characters of later versions count as unassigned.
//!
//! Every class escape (`\p{..}`, `\s`, `\w`, `\d` and their negations, inside and outside brackets) is rewritten as the
//! intersection of its class with the characters of the version, so that all engines run the same pattern. A negated
//! class has every character that is not in the class, including characters of later versions. Characters of the older
//! version have their current properties. `\b` and `(?i)` use the current tables. Cost: one pass over the pattern.

use std::borrow::Cow;

use crate::error::{Error, Result};

/// Rewrites `pattern` for a version of Unicode, such as "15.0"; None means the version of this crate. Fails with
/// `Error::Pattern` for an unknown version.
pub fn restrict<'p>(pattern: &'p str, version: Option<&str>) -> Result<Cow<'p, str>> {
    let Some(version) = version else { return Ok(Cow::Borrowed(pattern)) };
    let age = age_class(version)?;
    let mut rewritten_pattern = String::with_capacity(2 * pattern.len());
    let mut remaining_pattern = pattern;
    while let Some(at) = remaining_pattern.find('\\') {
        let (before, escape) = remaining_pattern.split_at(at);
        rewritten_pattern += before;
        let len = escape_len(escape);
        match escape[1..].chars().next() {
            Some('p' | 's' | 'd' | 'w' | 'P' | 'S' | 'D' | 'W') => {
                rewritten_pattern += &intersect_escape(&escape[..len], &age)
            }
            _ => rewritten_pattern += &escape[..len],
        }
        remaining_pattern = &escape[len..];
    }
    Ok(Cow::Owned(rewritten_pattern + remaining_pattern))
}

/// Returns the class of the characters that are assigned in `version`.
fn age_class(version: &str) -> Result<String> {
    let name = format!(r"\p{{Age=V{}}}", version.replace('.', "_"));
    let is_plain = version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_plain && regex_syntax::parse(&name).is_ok() {
        return Ok(name);
    }
    Err(Error::Pattern(format!("Unicode {version:?} is not a known version; use one of 1.1 to 16.0, e.g. \"15.0\"")))
}

/// Returns the length of the escape at the start of a text, including the braces.
fn escape_len(escape: &str) -> usize {
    let name = escape[1..].chars().next().map_or(0, char::len_utf8);
    let after = &escape[1 + name..];
    if !escape[1..].starts_with(['p', 'P']) {
        return 1 + name;
    }
    let arguments = match after.starts_with('{') {
        true => after.find('}').map_or(after.len(), |end| end + 1),
        false => after.chars().next().map_or(0, char::len_utf8),
    };
    1 + name + arguments
}

/// Returns the class of an escape, in which characters of later versions count as unassigned.
fn intersect_escape(escape: &str, age: &str) -> String {
    let positive_escape = escape.to_ascii_lowercase();
    let is_negated = escape[1..].starts_with(|c: char| c.is_ascii_uppercase());
    let is_flipped = escape[2..].starts_with("{^");
    let class = format!(r"\{}{}", &positive_escape[1..2], escape[2..].replacen("{^", "{", 1));
    format!("[{}{class}&&{age}]", if is_negated != is_flipped { "^" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_intersected() {
        let rewritten_pattern = |pattern| restrict(pattern, Some("15.0")).unwrap().into_owned();
        assert_eq!(rewritten_pattern(r"\\p\p{L}x"), r"\\p[\p{L}&&\p{Age=V15_0}]x");
        assert_eq!(
            rewritten_pattern(r"[^\s\PN]\p{^Lu}"),
            r"[^[\s&&\p{Age=V15_0}][^\pN&&\p{Age=V15_0}]][^\p{Lu}&&\p{Age=V15_0}]"
        );
        assert_eq!(rewritten_pattern("a|b\\"), "a|b\\");
        assert_eq!(restrict(r"\p{L}", None).unwrap(), r"\p{L}");
        for version in ["", "99.0", "15.0}", "x"] {
            assert!(matches!(restrict("a", Some(version)), Err(Error::Pattern(_))));
        }
    }
}
