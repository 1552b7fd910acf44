//! Proves from the tree of a pattern that the matches cover every text.
//!
//! The proof: at every character, some alternative matches one or more characters, whatever follows. An alternative
//! promises a match at each character of a set if its only required item is one character of that set, as in ` ?\p{L}+`
//! and `\p{N}{1,3}`: every other item can match the empty text. An alternative with a look-around, with a second
//! required item, or with an item that must match two or more characters promises nothing. A possessive item before the
//! required item can take the required character, so the set of the possessive item is subtracted. If the promised sets
//! together hold all characters, and no alternative matches the empty text, then the matches cover every text: each
//! search begins where the last match ended, and some alternative matches there.
//!
//! False means "not proven". The proof treats lazy quantifiers as greedy quantifiers. Cost: linear in the pattern, plus
//! the cost of the classes.

use crate::classes::{Classes, Mask};
use crate::pattern::{Node, Tree};

/// Reports whether the matches of `tree` provably cover every text.
pub(super) fn covers_text(tree: &Tree) -> bool {
    let Some((classes, masks)) = Classes::build(&tree.sets) else { return false };
    let all_promised = tree.alternatives.iter().fold(0, |all, sequence| all | promised_classes(sequence, &masks));
    never_empty(tree) && all_promised == (1 << classes.end) - 1
}

/// Reports whether every match of `tree` provably has at least one character.
pub(super) fn never_empty(tree: &Tree) -> bool {
    tree.alternatives.iter().all(|sequence| requires_character(sequence))
}

/// Returns the classes of characters at which `sequence` matches, whatever text follows.
fn promised_classes(sequence: &[Node], masks: &[Mask]) -> Mask {
    let (mut required, mut possessive_classes) = (None, 0);
    for node in sequence {
        match *node {
            Node::Run { set, min: 0, possessive: true, .. } if required.is_none() => possessive_classes |= masks[set],
            Node::Run { min: 0, .. } | Node::Group { optional: true, .. } => {}
            Node::Run { set, min: 1, .. } if required.is_none() => required = Some(masks[set] & !possessive_classes),
            _ => return 0,
        }
    }
    required.unwrap_or(0)
}

/// Reports whether `sequence` matches only texts with at least one character.
fn requires_character(sequence: &[Node]) -> bool {
    sequence.iter().any(|node| match node {
        Node::Run { min, .. } => *min > 0,
        Node::Look { .. } | Node::End => false,
        Node::Group { alternatives, optional } => !optional && alternatives.iter().all(|each| requires_character(each)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Splitter;
    use crate::pattern::parse_outline;

    #[test]
    fn covering_patterns_are_proven() {
        for pattern in [
            r"\s|\S",
            r" ?\S+?|\s+?",
            r"a?+[^a]|a{1,3}",
            r"(?:\s\s)*?x??\S|\s",
            r"(?<!a)b|(?=.*x)y|[\s\S]{1,2}",
            r"\s{512}(?!\S)|\s{1}|'(?i:s|t)|\S+",
            r"^a|$b|(a|b){2}c|\w+|\W",
        ] {
            assert!(parse_outline(pattern).is_some_and(|tree| covers_text(&tree)), "{pattern}");
            assert!(Splitter::compile(pattern).unwrap().covers_text(), "{pattern}");
        }
    }

    #[test]
    fn patterns_with_gaps_are_not_proven() {
        for pattern in
            [r"\S", r"a*|\s|\S", r"a?+a|[^a]", r"\s{2}|\S", r"(?:a|b)?+a|[^a]", r"\s(?!a)|\S", r".|\s(?=x)", ""]
        {
            let splitter = Splitter::compile(pattern).unwrap();
            assert!(!splitter.covers_text(), "{pattern}");
        }
    }

    #[test]
    fn empty_matches_are_excluded_only_by_proof() {
        for (pattern, is_proven) in [
            (r"a*?b|c", true),
            (r"(?:a|b*)c?|d", false),
            (r"(?=a)|b", false),
            (r"(?<=a)b+?|(?:ab|c)+", true),
            (r"(a)\1", false),
            (r"(?:a|b)*", false),
        ] {
            assert_eq!(Splitter::compile(pattern).unwrap().never_empty(), is_proven, "{pattern}");
        }
    }
}
