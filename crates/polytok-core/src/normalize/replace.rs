//! Replaces every match of a pattern by a text.
//!
//! Reference: Hugging Face's Replace. The replacement is literal, without references to groups, and gets the span of
//! the last byte of the match. An empty text stays empty. Cost: that of the search.

use super::output::Output;
use crate::error::Result;
use crate::finder::PatternFinder;
use crate::space_mark;
use crate::spec;
use crate::utf8::valid;

/// A compiled step.
pub struct Replacer {
    finder: PatternFinder,
    content: String,
    replaces_runs_of_spaces: bool,
}

impl Replacer {
    /// Compiles a step.
    pub fn compile(spec: &spec::Replace) -> Result<Replacer> {
        let is_run = spec.pattern.is_regex && matches!(spec.pattern.text.as_str(), " {2,}" | r"\s+");
        let replaces_runs_of_spaces = is_run && spec.content == " ";
        let finder = PatternFinder::compile(&spec.pattern)?;
        Ok(Replacer { finder, content: spec.content.clone(), replaces_runs_of_spaces })
    }

    /// Writes `text` with its matches replaced. Bytes that are not UTF-8 match nothing. Returns `Error::Encode` if the
    /// search exceeds its limit.
    pub fn apply<O: Output>(&self, text: &[u8], out: &mut O) -> Result<()> {
        let mut kept_until = 0;
        let mut replace_in = |chunk: &str, at: usize| {
            self.finder.for_each_match(chunk, |start, end| {
                if kept_until < at + start {
                    out.keep(text, kept_until, at + start);
                }
                out.insert(self.content.as_bytes(), at + end);
                kept_until = at + end;
            })
        };
        match valid(text) {
            Ok(text) => replace_in(text, 0)?,
            Err(_) => {
                let mut at = 0;
                for chunk in text.utf8_chunks() {
                    replace_in(chunk.valid(), at)?;
                    at += chunk.valid().len() + chunk.invalid().len();
                }
            }
        }
        if kept_until < text.len() {
            out.keep(text, kept_until, text.len());
        }
        Ok(())
    }

    /// Returns the literal text that the step replaces; None if the step has another kind of pattern.
    pub(super) fn literal(&self) -> Option<&str> {
        self.finder.literal()
    }

    /// Reports whether the step replaces runs of spaces or of white space by a space.
    pub(super) fn replaces_runs_of_spaces(&self) -> bool {
        self.replaces_runs_of_spaces
    }

    /// Reports whether the step replaces each space by U+2581.
    pub fn is_escape(&self) -> bool {
        self.finder.is_literal_of(" ") && self.content == space_mark::TEXT
    }

    /// Reports whether the step changes nothing, because it replaces a literal text that `text` does not contain.
    pub fn keeps(&self, text: &[u8]) -> bool {
        self.finder.is_literal_outside(text)
    }

    /// Reports whether the step replaces a literal text, so that bytes that are not UTF-8 need not be replaced first.
    pub fn is_literal(&self) -> bool {
        self.finder.is_literal()
    }
}
