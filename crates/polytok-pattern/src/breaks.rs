//! Proves that matches always end between two characters, whatever text stands before and after them.
//!
//! The proof follows the automaton from every state through the two characters. A *break* is certain if, for all
//! states, the transition of the second character makes the offset between the characters an end at once, and the
//! pending candidates before the offset become ends as they would if the text ended there. So the matches before a
//! break are those of the text that ends at the break, and the search after the break begins in the first state.
//!
//! None means "not proven". Cost: one step for each state.

use super::automaton::Automaton;

/// What stands on one side of a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakSide {
    /// A match, in every text.
    Match,
    /// A character that no match covers, in every text.
    Gap,
    /// A match in some texts, or not proven.
    Either,
}

/// The two sides of a certain break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Break {
    /// What ends at the break.
    pub left: BreakSide,
    /// What starts at the break.
    pub right: BreakSide,
}

impl Automaton {
    /// Returns the sides of the break between a character of class `left` and a character of class `right`; None if the
    /// break is not certain. `end` is the class of the end of the text.
    pub(super) fn break_between(&self, left: u8, right: u8, end: u8) -> Option<Break> {
        let (mut left_side, mut next_row) = (None, None);
        for row in (0..self.cells.len()).step_by(self.stride) {
            let after_left = self.cells[row + left as usize].row();
            let (cell, cell_at_end) = (self.cells[after_left + right as usize], self.cells[after_left + end as usize]);
            let is_end = cell.is_candidate() && cell.ends() > cell.slot();
            let is_equal_at_end = cell_at_end.is_candidate()
                && (cell_at_end.slot(), cell_at_end.ends(), cell_at_end.gap())
                    == (cell.slot(), cell.ends(), cell.gap());
            if !is_end || !is_equal_at_end || *next_row.get_or_insert(cell.row()) != cell.row() {
                return None;
            }
            let side = if cell.gap() == 0 { BreakSide::Match } else { BreakSide::Gap };
            let earlier_side = *left_side.get_or_insert(side);
            left_side = Some(if earlier_side == side { side } else { BreakSide::Either });
        }
        Some(Break { left: left_side?, right: self.side_after(next_row?, end) })
    }

    /// Returns what starts with the character after which the automaton is in a row, if a search began before the
    /// character.
    fn side_after(&self, row: usize, end: u8) -> BreakSide {
        if self.covers_text {
            return BreakSide::Match;
        }
        let mut cells = (0..=end).map(|class| self.cells[row + class as usize]);
        // A gap is known as soon as the next character is read, because a gap is tried last.
        let is_gap = cells.all(|cell| cell.is_candidate() && cell.slot() == 0 && cell.ends() > 0 && cell.gap() != 0);
        if is_gap { BreakSide::Gap } else { BreakSide::Either }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Splitter;
    use proptest::prelude::*;

    const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
    const CL100K: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+";

    fn sides(pattern: &str, left: char, right: char) -> Option<(BreakSide, BreakSide)> {
        Splitter::compile(pattern).unwrap().break_between(left, right).map(|sides| (sides.left, sides.right))
    }

    #[test]
    fn breaks_of_published_patterns() {
        let matches = Some((BreakSide::Match, BreakSide::Match));
        for pattern in [GPT2, CL100K] {
            assert_eq!(sides(pattern, 'a', ' '), matches);
            assert_eq!(sides(pattern, 'é', '.'), matches);
            assert_eq!(sides(pattern, 'a', 'b'), None);
            assert_eq!(sides(pattern, ' ', 'b'), None);
            assert_eq!(sides(pattern, ' ', ' '), None);
        }
        assert_eq!(sides(CL100K, '1', '2'), None);
        assert_eq!(sides(r"\p{N}{1,3}", 'a', ' '), Some((BreakSide::Gap, BreakSide::Gap)));
        assert_eq!(sides(r"\p{N}{1,3}", '1', ' '), Some((BreakSide::Match, BreakSide::Gap)));
        assert_eq!(sides(r"\p{N}{1,3}", 'a', '1'), Some((BreakSide::Gap, BreakSide::Either)));
        assert_eq!(sides(r"a(?!$)|b", 'a', 'b'), None);
    }

    fn pieces(splitter: &Splitter, text: &str) -> Vec<(usize, usize)> {
        let mut pieces = Vec::new();
        splitter.split(text, |start, end| pieces.push((start, end))).unwrap();
        pieces
    }

    proptest! {
        #[test]
        fn texts_split_at_breaks_as_one(
            alternatives in prop::collection::vec(prop::sample::select(vec![
                "[ab1' ]", "a1", "b'", "[ab]{1,3}", r"\s", "[ab]+", r"\d{1,2}", r"\S+", r"[^\sa]+", " [ab]", "'s",
                r" ?[ab]+", r"\s+(?!\S)", r"\s+$", r"\s*[1]+", r"[ab]+(?=1)", r"a(?!b)",
            ]), 1..5),
            left in "[ab1s' ]{1,8}",
            right in "[ab1s' ]{1,8}",
        ) {
            let splitter = Splitter::compile(&alternatives.join("|")).unwrap();
            let (Some(last), Some(first)) = (left.chars().next_back(), right.chars().next()) else { return Ok(()) };
            let Some(sides) = splitter.break_between(last, first) else { return Ok(()) };
            let (left_pieces, right_pieces) = (pieces(&splitter, &left), pieces(&splitter, &right));
            let ends_with_match = left_pieces.last().is_some_and(|piece| piece.1 == left.len());
            let starts_with_match = right_pieces.first().is_some_and(|piece| piece.0 == 0);
            for (side, is_match) in [(sides.left, ends_with_match), (sides.right, starts_with_match)] {
                prop_assert!(side == BreakSide::Either || (side == BreakSide::Match) == is_match);
            }
            let moved = right_pieces.iter().map(|(start, end)| (start + left.len(), end + left.len()));
            let both: Vec<_> = left_pieces.iter().copied().chain(moved).collect();
            prop_assert_eq!(pieces(&splitter, &format!("{left}{right}")), both);
        }
    }
}
