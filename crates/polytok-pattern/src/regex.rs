//! The general engine: `fancy_regex`, for patterns that the scanner does not know.
//!
//! Reference: tiktoken, which loops over `find_iter` of the same crate with its default limits. The cost is the engine's;
//! it backtracks, so a hostile pattern may take long, but never longer than its limit of steps for each match.

use fancy_regex::RegexBuilder;

use crate::error::{Error, Result};

/// Instructions of a compiled pattern; calls of groups within groups could make any number of them.
const MAX_PROGRAM: usize = 1 << 16;

pub(super) struct Regex {
    regex: fancy_regex::Regex,
}

impl Regex {
    pub(super) fn compile(pattern: &str) -> Result<Regex> {
        let limited = RegexBuilder::new(pattern).max_prog_size(MAX_PROGRAM).build();
        match limited {
            Ok(regex) => Ok(Regex { regex }),
            Err(error) => Err(Error::Pattern(format!(
                "the split pattern {pattern:?} cannot be compiled: {error}; write it in the syntax of fancy_regex"
            ))),
        }
    }

    pub(super) fn split(&self, text: &str, piece: &mut dyn FnMut(usize, usize)) -> Result<()> {
        let mut done = 0;
        for found in self.regex.find_iter(text) {
            let found = found.map_err(|error| gave_up(self.regex.as_str(), done, &error))?;
            piece(found.start(), found.end());
            done = found.end();
        }
        Ok(())
    }
}

fn gave_up(pattern: &str, offset: usize, error: &fancy_regex::Error) -> Error {
    Error::Search(format!(
        "the split pattern {pattern:?} gave up in the text after byte {offset}: {error}; \
         split the text into shorter ones or use a pattern that needs less backtracking"
    ))
}
