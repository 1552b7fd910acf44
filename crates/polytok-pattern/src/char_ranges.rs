//! Represents sets of characters as ranges.

use polytok_memory::Collect;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::error::{Error, Result};

/// A set of one or more characters: sorted, disjoint, inclusive ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CharRanges(Vec<(char, char)>);

impl CharRanges {
    /// Parses one character or one class of a regular expression, such as `\p{L}`, with the tables of Unicode 16.0.
    pub fn parse(class: &str) -> Result<CharRanges> {
        CharRanges::parse_with_case(class, false)
    }

    /// Parses a class as [`CharRanges::parse`] does; if `ignores_case`, adds each character that folds to the same
    /// character as one in the class.
    pub(super) fn parse_with_case(class: &str, ignores_case: bool) -> Result<CharRanges> {
        let refuse = |reason: &dyn std::fmt::Display| {
            Error::Pattern(format!("cannot read the class {class:?}: {reason}; write one character or one class"))
        };
        let parsed = ParserBuilder::new().case_insensitive(ignores_case).build().parse(class);
        ranges(&parsed.map_err(|error| refuse(&error))?)
            .map(CharRanges)
            .ok_or_else(|| refuse(&"it has several parts, or no characters"))
    }

    /// Reports whether the set has a character.
    #[inline]
    pub fn contains(&self, c: char) -> bool {
        let index = self.0.partition_point(|&(first, _)| first <= c);
        index > 0 && c <= self.0[index - 1].1
    }

    /// Iterates over the ranges in order; yields the first and the last character of each range.
    pub fn iter(&self) -> impl Iterator<Item = (char, char)> + '_ {
        self.0.iter().copied()
    }
}

fn ranges(hir: &Hir) -> Option<Vec<(char, char)>> {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Some(class.ranges().iter().map(|range| (range.start(), range.end())).checked_collect())
        }
        // regex-syntax parses a class of one character to a literal.
        HirKind::Literal(literal) => {
            let mut chars = std::str::from_utf8(&literal.0).ok()?.chars();
            let c = chars.next()?;
            chars.next().is_none().then(|| vec![(c, c)])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_exactly_their_characters() {
        let set = CharRanges::parse("[b-dx]").unwrap();
        assert_eq!(set.iter().collect::<Vec<_>>(), [('b', 'd'), ('x', 'x')]);
        assert_eq!(('a'..='z').filter(|&c| set.contains(c)).collect::<String>(), "bcdx");
        assert!(CharRanges::parse("[a&&a]").unwrap().contains('a'));
    }

    #[test]
    fn other_expressions_are_refused() {
        for class in ["", "ab", "[a&&b]", "a|bc", "[a", "a+", "^"] {
            assert!(matches!(CharRanges::parse(class), Err(Error::Pattern(_))), "{class}");
        }
    }
}
