//! The split patterns that tokenizers use: regular expressions that cut a text into pieces.
//!
//! A [`Splitter`] is one compiled pattern. The family of patterns that tokenizers are published with goes through
//! `pattern` (text to tree), `classes` (Unicode to at most 63 character classes), `program` (tree to steps) and then one of two
//! ways over a text: in bulk with an `automaton` (steps to states) and what neighbouring characters tell (`rule`, `blocks`, with
//! `char_groups`), both in `stream`; or `dispatch` (where to start) and
//! `scanner` (steps over text), for every pattern of the family. Any other pattern is run by the general engine in `regex`. Both
//! give what `fancy_regex` gives, the engine that tiktoken uses: the leftmost match, and of those the first in the order
//! of alternatives; what no match covers is dropped.
//!
//! Unicode tables are those of the crate regex-syntax (0.8: Unicode 16.0). `\s` is White_Space, `(?i:…)` folds by simple
//! case folding, so `(?i:s)` also is U+017F and `(?i:k)` also U+212A. `$` is the end of the text only; Python's
//! `regex` module lets it match before a last `\n` too. A look-ahead sees the text that is given and nothing after it.

mod automaton;
mod blocks;
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
mod regex;
mod rule;
mod scanner;
mod stream;
mod unicode;
mod utf8;

pub use char_ranges::CharRanges;
pub use class_table::ClassTable;
pub use cursor::Cursor;
pub use error::{Error, Result};
pub use unicode::restrict;

use pattern::Tree;
use program::Program;

/// One split pattern, compiled.
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
    /// Compiles `pattern`: to a scanner when it is of the known family, else for the general engine.
    pub fn compile(pattern: &str) -> Result<Splitter> {
        let proven = |proof: fn(&Tree) -> bool| pattern::parse_outline(pattern).is_some_and(|tree| proof(&tree));
        if let Some(program) = pattern::parse(pattern).and_then(|tree| Program::compile(&tree)) {
            let covers_text = program.leaves_no_gap().unwrap_or_else(|| proven(coverage::covers_text));
            return Ok(Splitter { engine: Engine::Scanner(Box::new(program)), covers_text, never_empty: true });
        }
        let engine = Engine::Regex(Box::new(regex::Regex::compile(pattern)?));
        Ok(Splitter { engine, covers_text: proven(coverage::covers_text), never_empty: proven(coverage::never_empty) })
    }

    /// The same with the Unicode tables of a version, e.g. "15.0"; None for the engine's own.
    pub fn compile_for(pattern: &str, version: Option<&str>) -> Result<Splitter> {
        Splitter::compile(&unicode::restrict(pattern, version)?)
    }

    /// The pattern is run by the scanner, which is linear in the text, and not by the general engine.
    pub fn is_scanner(&self) -> bool {
        matches!(self.engine, Engine::Scanner(_))
    }

    /// Reports whether the matches provably cover every text.
    pub fn covers_text(&self) -> bool {
        self.covers_text
    }

    /// Reports whether every match provably has a character.
    pub fn never_empty(&self) -> bool {
        self.never_empty
    }

    /// `fill` goes on from where it stopped, so that pieces are known before the end of the text.
    pub fn is_stream(&self) -> bool {
        self.streamed().is_some()
    }

    /// A place behind `from` in `text` where a match ends whatever stands before it; None where there is no fast way to tell.
    pub fn certain(&self, text: &str, from: usize) -> Option<usize> {
        self.streamed()?.certain(text.as_bytes(), from)
    }

    fn streamed(&self) -> Option<&Program> {
        match &self.engine {
            Engine::Scanner(program) if program.stream.is_some() => Some(program),
            _ => None,
        }
    }

    /// Derives at once what `fill` otherwise derives when it has read enough.
    pub fn prepare(&self) {
        if let Engine::Scanner(program) = &self.engine {
            program.prepare();
        }
    }

    /// Calls `piece(start, end)` for each match in `text`, left to right. `Error::Encode` if the general engine gives up.
    #[inline]
    pub fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) -> Result<()> {
        match &self.engine {
            Engine::Scanner(program) => {
                program.scan(text, piece);
                Ok(())
            }
            Engine::Regex(regex) => regex.split(text, &mut piece),
        }
    }

    /// Writes the next matches that are not empty to `pieces`, which has room for 128 or more, and returns their number; 0 when there
    /// are no more. `cursor` is new at first and then that of the call before. `Error::Search` if the general engine gives up.
    pub fn fill(&self, text: &str, cursor: &mut Cursor, pieces: &mut [(u32, u32)]) -> Result<usize> {
        match &self.engine {
            Engine::Scanner(program) => Ok(program.fill(text, cursor, pieces)),
            Engine::Regex(regex) => {
                // It may have looked at any place of the text.
                cursor.at = text.len() + 1;
                regex.fill(text, &mut cursor.search, pieces)
            }
        }
    }
}
