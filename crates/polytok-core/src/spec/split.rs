//! The split steps, which split the text into pieces.

use super::Pattern;

/// A step that splits pieces further, or rewrites pieces.
#[derive(Clone, Debug, PartialEq)]
pub enum Split {
    /// Splits at the matches of a pattern.
    Pattern {
        /// The pattern to search for.
        pattern: Pattern,
        /// The rule for matches and gaps.
        behavior: Behavior,
        /// True if gaps count as matches, and matches as gaps.
        invert: bool,
    },
    /// Replaces spaces by a visible text, and can split before each such text.
    Metaspace {
        /// The text that replaces a space.
        replacement: String,
        /// The pieces before which the replacement is inserted.
        prepend: Scheme,
        /// True if pieces are split before each replacement.
        split: bool,
    },
    /// Inserts a space before each piece that does not start with a space.
    PieceSpace,
    /// Converts bytes to the characters of GPT-2's table.
    ByteLevel,
    /// Splits between characters of different scripts.
    Script,
    /// Splits to pieces of this number of characters.
    FixedLength(usize),
    /// Splits runs of number characters to groups of three, counted from the right.
    DigitGroups {
        /// The version of the Unicode tables.
        unicode: Option<String>,
    },
}

/// The rule that decides which pieces a split forms from the matches of its pattern and from the gaps between the
/// matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    /// Matches are pieces, and gaps are dropped.
    Matches,
    /// Gaps are pieces, and matches are dropped.
    Removed,
    /// Matches are pieces, and so are gaps.
    Isolated,
    /// A match joins the gap before it.
    MergedWithPrevious,
    /// A match joins the gap after it.
    MergedWithNext,
    /// Adjacent matches are one piece, and so are adjacent gaps.
    Contiguous,
}

/// The pieces before which Metaspace inserts its replacement for spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// All pieces.
    Always,
    /// The piece at the start of the text.
    First,
    /// No piece.
    Never,
}
