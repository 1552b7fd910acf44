//! Compiles and searches the split patterns of tokenizers: regular expressions whose matches are the pieces of a text.
//!
//! A [`Splitter`] is a compiled pattern. Published tokenizers have patterns of one family. A pattern of the family is
//! compiled in three steps: `pattern` parses the pattern to a tree, `classes` sorts all characters into at most 63
//! classes, and `program` compiles the tree to steps. Two engines run the steps:
//!
//! * `stream` finds many pieces per call. An `automaton` reads classes and finds the ends of pieces. A `rule` decides
//!   at most offsets from five adjacent characters whether a piece ends, for many offsets together (`blocks`,
//!   `char_groups`). Some patterns of the family have no automaton. `redundant` proves with an automaton that a pattern
//!   does not split the matches of another pattern. `breaks` proves that matches end between two characters in every
//!   text.
//! * `scanner` finds one match per call, for every pattern of the family, and reads short texts. `dispatch` chooses its
//!   first steps.
//!
//! Patterns outside the family are run by `regex`, the general engine. All engines find the same matches as
//! `fancy_regex`, the engine of tiktoken: the leftmost match, and among matches with the same start the match of the
//! first alternative. Text outside the matches is dropped. `coverage` proves for some patterns that the matches cover
//! every text.
//!
//! The Unicode tables are those of the crate regex-syntax (0.8: Unicode 16.0). `\s` is White_Space. `(?i:…)` uses
//! simple case folding, so `(?i:s)` also matches U+017F, and `(?i:k)` also U+212A. `$` matches only at the end of the
//! text; in Python's `regex` module `$` also matches before a last `\n`. A look-ahead ends at the end of the text that
//! the caller passes.

// Vector code, which is written for x86-64, has constants, tables and fields of its own.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]

mod automaton;
mod blocks;
mod breaks;
mod char_groups;
mod char_ranges;
mod class_table;
mod classes;
mod coverage;
mod cursor;
mod dispatch;
mod error;
mod pattern;
mod program;
mod redundant;
mod regex;
mod rule;
mod scanner;
mod stream;
mod unicode;
mod utf8;

pub use breaks::{Break, BreakSide};
pub use char_ranges::CharRanges;
pub use class_table::ClassTable;
pub use cursor::Cursor;
pub use error::{Error, Result};
pub use redundant::literals_split_again;
pub use unicode::restrict;

use pattern::Tree;
use program::Program;

/// A compiled split pattern.
pub struct Splitter {
    engine: Engine,
    covers_text: bool,
    never_empty: bool,
}

enum Engine {
    Scanner(Box<Program>),
    Regex(Box<regex::Regex>),
}

impl Splitter {
    /// Compiles `pattern`: to a program if the pattern is in the family of the scanner, else for the general engine.
    pub fn compile(pattern: &str) -> Result<Splitter> {
        let proven = |proof: fn(&Tree) -> bool| pattern::parse_outline(pattern).is_some_and(|tree| proof(&tree));
        if let Some(program) = pattern::parse(pattern).and_then(|tree| Program::compile(&tree)) {
            let covers_text = program.covers_text() || proven(coverage::covers_text);
            return Ok(Splitter { engine: Engine::Scanner(Box::new(program)), covers_text, never_empty: true });
        }
        let engine = Engine::Regex(Box::new(regex::Regex::compile(pattern)?));
        Ok(Splitter { engine, covers_text: proven(coverage::covers_text), never_empty: proven(coverage::never_empty) })
    }

    /// Compiles `pattern` with the Unicode tables of a version, such as "15.0"; None means the tables of this crate.
    pub fn compile_for(pattern: &str, version: Option<&str>) -> Result<Splitter> {
        Splitter::compile(&unicode::restrict(pattern, version)?)
    }

    /// Reports whether the pattern is in the family of the scanner, so that splitting takes time linear in the text.
    pub fn is_scanner(&self) -> bool {
        matches!(self.engine, Engine::Scanner(_))
    }

    /// Reports whether the matches provably cover every text.
    pub fn covers_text(&self) -> bool {
        self.covers_text
    }

    /// Reports whether every match provably has at least one character.
    pub fn never_empty(&self) -> bool {
        self.never_empty
    }

    /// Reports whether `fill` reads the text only as far as needed, so that the first pieces of a text are found before
    /// the end of the text is read.
    pub fn is_stream(&self) -> bool {
        self.streaming_program().is_some()
    }

    /// Returns an offset at or after `from` at which a match ends, whatever the text before `from` is; None if no rule
    /// finds such an offset.
    pub fn certain_end(&self, text: &str, from: usize) -> Option<usize> {
        self.streaming_program()?.certain_end(text.as_bytes(), from)
    }

    /// Returns the two sides of the offset between two characters if a match or a gap ends there in every text, so that
    /// the text before the offset and the text after it can be split alone; None if this is not proven.
    pub fn break_between(&self, left: char, right: char) -> Option<Break> {
        self.streaming_program()?.break_between(left, right)
    }

    fn streaming_program(&self) -> Option<&Program> {
        match &self.engine {
            Engine::Scanner(program) if program.stream.is_some() => Some(program),
            _ => None,
        }
    }

    /// Derives the rule now; without this call, `fill` derives the rule after enough bytes.
    pub fn prepare(&self) {
        if let Engine::Scanner(program) = &self.engine {
            program.prepare();
        }
    }

    /// Reports whether `fill` has no rule to derive later.
    pub fn is_prepared(&self) -> bool {
        self.streaming_program().is_none_or(Program::is_prepared)
    }

    /// Calls `piece(start, end)` for each match in `text`, left to right. Fails with `Error::Search` if the general
    /// engine gives up.
    #[inline]
    pub fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) -> Result<()> {
        match &self.engine {
            Engine::Scanner(program) => {
                program.split(text, piece);
                Ok(())
            }
            Engine::Regex(regex) => regex.split(text, &mut piece),
        }
    }

    /// Writes the next matches that are not empty to `pieces`, which must have room for 128 or more, and returns their
    /// number; 0 after the last match. The first call for a text must pass a new `cursor`; later calls must pass the
    /// same cursor. Fails with `Error::Search` if the general engine gives up.
    pub fn fill(&self, text: &str, cursor: &mut Cursor, pieces: &mut [(u32, u32)]) -> Result<usize> {
        match &self.engine {
            Engine::Scanner(program) => Ok(program.fill(text, cursor, pieces)),
            Engine::Regex(regex) => {
                // The general engine can read the text to its end for any match.
                cursor.at = text.len() + 1;
                regex.fill(text, &mut cursor.search, pieces)
            }
        }
    }
}
