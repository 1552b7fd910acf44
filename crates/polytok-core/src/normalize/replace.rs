//! Every match of a pattern becomes a text.
//!
//! Reference: Hugging Face's Replace. The text is taken literally, without references to groups, and gets the span of
//! the last byte of the match. An empty text stays empty. Cost: that of the search.

use super::output::Output;
use crate::error::Result;
use crate::finder::PatternFinder;
use crate::space_mark;
use crate::spec;

/// A compiled step.
pub struct Replacer {
    finder: PatternFinder,
    content: String,
}

impl Replacer {
    /// Compiles a step.
    pub fn compile(spec: &spec::Replace) -> Result<Replacer> {
        Ok(Replacer { finder: PatternFinder::compile(&spec.pattern)?, content: spec.content.clone() })
    }

    /// Writes `text` with its matches replaced; bytes that are not UTF-8 match nothing. `Error::Encode` if the search
    /// gives up.
    pub fn apply<O: Output>(&self, text: &[u8], out: &mut O) -> Result<()> {
        let (mut done, mut at) = (0, 0);
        for chunk in text.utf8_chunks() {
            self.finder.matches(chunk.valid(), |start, end| {
                if done < at + start {
                    out.keep(text, done, at + start);
                }
                out.insert(self.content.as_bytes(), at + end);
                done = at + end;
            })?;
            at += chunk.valid().len() + chunk.invalid().len();
        }
        if done < text.len() {
            out.keep(text, done, text.len());
        }
        Ok(())
    }

    /// Spaces are made visible, and nothing else.
    pub fn is_escape(&self) -> bool {
        self.finder.is_of(" ") && self.content == space_mark::TEXT
    }

    /// The text that is replaced, if it is a plain one.
    pub fn replaced(&self) -> Option<&str> {
        self.finder.plain()
    }

    /// A plain text is replaced, so that bytes that are no UTF-8 need not be mended first.
    pub fn is_plain(&self) -> bool {
        self.finder.is_plain()
    }
}
