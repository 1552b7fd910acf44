//! Every match of a pattern becomes a text.
//!
//! Reference: Hugging Face's Replace. The text is taken as it stands, without references to groups, and stands for what
//! the last byte of the match stood for. In an empty text nothing is looked for. Cost: that of the search.

use super::output::Output;
use crate::error::Result;
use crate::spec;
use crate::split::literal::Finder;

/// A compiled step.
pub struct Replace {
    finder: Finder,
    content: String,
}

impl Replace {
    /// Compiles a step.
    pub fn compile(spec: &spec::Replace) -> Result<Replace> {
        Ok(Replace { finder: Finder::compile(&spec.pattern)?, content: spec.content.clone() })
    }

    /// Writes `text` with its matches replaced. `Error::Encode` if the search gives up.
    pub fn apply<O: Output>(&self, text: &str, out: &mut O) -> Result<()> {
        let mut done = 0;
        self.finder.matches(text, |start, end| {
            if done < start {
                out.keep(text.as_bytes(), done, start);
            }
            out.insert(self.content.as_bytes(), end);
            done = end;
        })?;
        if done < text.len() {
            out.keep(text.as_bytes(), done, text.len());
        }
        Ok(())
    }
}
