//! Proves that the split divides a text at an offset, or never divides it there, whatever other text stands before and
//! after the two characters next to the offset.
//!
//! The steps run in turn. As long as no earlier step divides at the offset, one piece contains both characters, and the
//! next step decides. The first step that always divides there makes the pieces on both sides independent: every later
//! step reads one piece at a time.

use polytok_pattern::{Break, BreakSide};

use super::behavior::PatternSplit;
use super::chain::{DivideStep, RewriteStep, SplitChain, SplitStep};
use crate::normalize::byte_level::ByteLevel;
use crate::normalize::joint::Joint;
use crate::spec::Behavior;

/// Whether the split divides at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// Pieces end at the offset, in every text.
    Always,
    /// One piece contains both characters, in every text.
    Never,
}

impl SplitChain {
    /// Reports whether a step inserts text at the start of a text.
    pub fn changes_starts(&self) -> bool {
        let changes = |step: &SplitStep| match step {
            SplitStep::Rewrite(RewriteStep::Metaspace(step)) => step.inserts_prefix(),
            SplitStep::Rewrite(RewriteStep::PieceSpace) => true,
            SplitStep::Rewrite(RewriteStep::ByteLevel) | SplitStep::Divide(_) => false,
        };
        self.steps().iter().any(changes)
    }

    /// Returns whether the chain divides between the two characters of a joint; None if this is not proven. Steps that
    /// rewrite pieces also rewrite the joint.
    pub fn division(&self, joint: &mut Joint) -> Option<Division> {
        for step in self.steps() {
            match step {
                SplitStep::Divide(step) => {
                    if step.division(joint.left_char()?, joint.right_char()?)? == Division::Always {
                        return Some(Division::Always);
                    }
                }
                SplitStep::Rewrite(RewriteStep::PieceSpace) => {}
                SplitStep::Rewrite(RewriteStep::Metaspace(step)) => {
                    joint.rewrite(|text| Some(text.replace(' ', step.replacement()))).then_some(())?
                }
                SplitStep::Rewrite(RewriteStep::ByteLevel) => {
                    let rewrite = |text: &str| {
                        let mut out = Vec::new();
                        ByteLevel.apply(text.as_bytes(), (0, text.len()), &mut out);
                        String::from_utf8(out).ok()
                    };
                    joint.rewrite(rewrite).then_some(())?
                }
            }
        }
        Some(Division::Never)
    }
}

impl DivideStep {
    fn division(&self, left: char, right: char) -> Option<Division> {
        match self {
            DivideStep::Pattern(step) => step.division(left, right),
            DivideStep::Words(words) if words.joins(left, right) => Some(Division::Never),
            DivideStep::Words(_) => Some(Division::Always),
            // A run of numbers is divided, and no other text.
            DivideStep::DigitGroups(_) if !left.is_numeric() && !right.is_numeric() => Some(Division::Never),
            DivideStep::DigitGroups(_) | DivideStep::Script(_) | DivideStep::FixedLength(_) => None,
        }
    }
}

impl PatternSplit {
    fn division(&self, left: char, right: char) -> Option<Division> {
        let sides = match self.finder().literal() {
            Some(literal) => literal_sides(literal, left, right)?,
            None => self.finder().as_regex()?.break_between(left, right)?,
        };
        let has_match = sides.left == BreakSide::Match || sides.right == BreakSide::Match;
        let are_gaps = sides.left == BreakSide::Gap && sides.right == BreakSide::Gap;
        let is_divided = match (self.behavior(), self.is_inverted()) {
            // Gaps are dropped, so text on both sides of the offset is in different pieces, or in none.
            (Behavior::Matches, false) | (Behavior::Removed, true) => Some(true),
            (Behavior::Matches, true) | (Behavior::Removed, false) | (Behavior::Isolated, _) if has_match => Some(true),
            (Behavior::MergedWithPrevious, false) if sides.left == BreakSide::Match => Some(true),
            (Behavior::MergedWithNext, false) if sides.right == BreakSide::Match => Some(true),
            _ if are_gaps => Some(false),
            _ => None,
        }?;
        Some(if is_divided { Division::Always } else { Division::Never })
    }
}

/// Returns what stands on the two sides of an offset if the pattern is a literal text; None if a match could reach over
/// the offset.
fn literal_sides(literal: &str, left: char, right: char) -> Option<Break> {
    let side = |c: char| if literal.contains(c) { BreakSide::Match } else { BreakSide::Gap };
    let sides = Break { left: side(left), right: side(right) };
    let is_char = literal.chars().count() == 1;
    (is_char || sides.left == BreakSide::Gap && sides.right == BreakSide::Gap).then_some(sides)
}
