//! Proves that a second pattern does not split the matches of a first pattern, so that a text need not be split again.
//!
//! The proof follows the automaton of the second pattern through every text that an alternative of the first pattern
//! can match, as sets of states. The second pattern keeps these texts whole if the automaton writes no end before the
//! end of each text, and exactly one end there. Runs with different limits are treated alike, so the proof considers
//! more texts than the alternative matches. An alternative that is a literal and is split is an exception, which the
//! caller searches for. CLIP's pattern has two: `<|startoftext|>` and `<|endoftext|>`.
//!
//! None means "not proven". Cost: the automaton, and one step for each pair of a state and a class in each item.

use std::collections::BTreeSet;

use polytok_memory::{Collect, Grow};

use crate::automaton::Automaton;
use crate::classes::{Classes, Mask};
use crate::pattern::{self, Node, Tree};
use crate::program::Program;

/// Returns the literal alternatives of `first` that `second` splits. Every match of `first` that contains none of these
/// literals is a single match or gap of `second`. None if this cannot be proven.
pub fn literals_split_again(first: &str, second: &str) -> Option<Vec<String>> {
    let (first, second) = (pattern::parse(first)?, pattern::parse(second)?);
    let first_set = second.sets.len();
    let sets = [&second.sets[..], &first.sets].concat();
    let (classes, masks) = Classes::build(&sets)?;
    let program = Program::compile(&Tree { alternatives: second.alternatives, sets })?;
    let walk = Walk { automaton: program.automaton()?, masks: &masks[first_set..], end: classes.end };
    let mut literals = Vec::new();
    for alternative in &first.alternatives {
        if !walk.keeps_whole(alternative) {
            literals.checked_push(literal_text(alternative, &first)?);
        }
    }
    Some(literals)
}

/// Returns the text of an alternative that matches a single text.
fn literal_text(alternative: &[Node], tree: &Tree) -> Option<String> {
    let only_char = |node: &Node| match *node {
        Node::Run { set, min: 1, max: 1, .. } => match tree.sets[set].iter().checked_collect()[..] {
            [(c, last)] if c == last => Some(c),
            _ => None,
        },
        _ => None,
    };
    alternative.iter().map(only_char).collect()
}

/// A walk through an automaton, in parallel for all texts of an alternative.
struct Walk<'a> {
    automaton: &'a Automaton,
    /// The classes of each set of the first pattern.
    masks: &'a [Mask],
    /// The class of the end of the text.
    end: u8,
}

impl Walk<'_> {
    /// Reports whether every text that the alternative matches is provably one match or gap.
    fn keeps_whole(&self, alternative: &[Node]) -> bool {
        let rows = alternative.iter().try_fold(BTreeSet::from([0]), |rows, node| self.after_node(rows, node));
        let has_one_end = |row: usize| self.automaton.cells[row + self.end as usize].ends() == 1;
        rows.is_some_and(|rows| rows.into_iter().all(has_one_end))
    }

    /// Returns the rows after the texts of an item; None if a piece can end inside of such a text, or if the item is
    /// not a run.
    fn after_node(&self, mut rows: BTreeSet<usize>, node: &Node) -> Option<BTreeSet<usize>> {
        let &Node::Run { set, min, max, .. } = node else { return None };
        for _ in 0..min {
            rows = self.after_char(&rows, self.masks[set])?;
        }
        let mut row_count = 0;
        while min < max && row_count < rows.len() {
            row_count = rows.len();
            rows.extend(self.after_char(&rows, self.masks[set])?);
        }
        Some(rows)
    }

    /// Returns the rows after one character of the classes in `mask`; None if a piece can end there.
    fn after_char(&self, rows: &BTreeSet<usize>, mask: Mask) -> Option<BTreeSet<usize>> {
        let mut next_rows = BTreeSet::new();
        for &row in rows {
            for class in (0..self.end).filter(|class| mask >> class & 1 != 0) {
                let cell = self.automaton.cells[row + class as usize];
                if cell.ends() > 0 {
                    return None;
                }
                next_rows.insert(cell.row());
            }
        }
        Some(next_rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Splitter;
    use proptest::prelude::*;

    const CLIP: &str = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";
    const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

    #[test]
    fn gpt2s_pattern_keeps_clips_pieces_except_two_literals() {
        assert_eq!(literals_split_again(CLIP, GPT2).unwrap(), ["<|startoftext|>", "<|endoftext|>"]);
        assert_eq!(literals_split_again(GPT2, GPT2), None); // a run of spaces before a word
        assert_eq!(literals_split_again(r"\p{L}+|\p{N}{1,3}|a1", GPT2).unwrap(), ["a1"]);
        assert_eq!(literals_split_again(r"\p{N}{1,3}|\S\p{N}", GPT2), None);
        assert_eq!(literals_split_again(r"\p{N}+", r"\p{N}{1,3}"), None);
        assert_eq!(literals_split_again(r"\p{N}", "x").unwrap(), [""; 0]);
        assert_eq!(literals_split_again(r"\p{N}+", "x"), None);
        assert_eq!(literals_split_again("(?:a|b)", "x"), None);
    }

    proptest! {
        #[test]
        fn matches_without_the_literals_are_kept(
            alternatives in prop::collection::vec(prop::sample::select(vec![
                "[ab1' ]", "a1", "b'", "[ab]{1,3}", r"\s", "[ab]+", r"\d{1,2}", r"\S+", r"[^\sa]+", " [ab]", "'s",
            ]), 1..4),
            text in "[ab1s' ]{0,12}",
            second in prop::sample::select(vec![GPT2, r" ?[ab]+|\d{1,2}|\s", r"[ab]{1,2}|'[ab]|\S", "a", r"\s+"]),
        ) {
            let first = alternatives.join("|");
            let Some(literals) = literals_split_again(&first, second) else { return Ok(()) };
            let second = Splitter::compile(second).unwrap();
            Splitter::compile(&first).unwrap().split(&text, |start, end| {
                let piece = &text[start..end];
                let mut ends = Vec::new();
                second.split(piece, |start, end| ends.extend([start, end])).unwrap();
                let is_gap = ends.is_empty() && piece.chars().count() == 1;
                let is_whole = is_gap || ends == [0, piece.len()];
                assert!(is_whole || literals.iter().any(|literal| piece == literal), "{first} {piece:?}");
            }).unwrap();
        }
    }
}
