//! Spaces made visible, as Hugging Face's Metaspace does it.
//!
//! Reference: Metaspace. Every U+0020 becomes the replacement; then the replacement is put before the piece if the scheme says
//! so, unless it is there already. What was put there stands for what the first character stands for. The cut before each
//! replacement is a step of its own ([`Metaspace::cut`]). Cost: linear.

use super::behavior::PatternSplit;
use crate::error::Result;
use crate::normalize::escape::{Escape, Prefix};
use crate::normalize::output::Output;
use crate::space_mark;
use crate::spec::{Behavior, Pattern, Scheme};

/// A compiled step.
pub struct Metaspace {
    replacement: String,
    prepend: Scheme,
}

impl Metaspace {
    /// Compiles the rewriting part.
    pub fn compile(replacement: &str, prepend: Scheme) -> Metaspace {
        Metaspace { replacement: replacement.to_string(), prepend }
    }

    /// The cutting part: before each replacement.
    pub fn cut(replacement: &str) -> Result<PatternSplit> {
        let pattern = Pattern { text: replacement.to_string(), is_regex: false, unicode: None };
        PatternSplit::compile(&pattern, Behavior::MergedWithNext, false)
    }

    /// What is done to a text that is not split, if the replacement is U+2581.
    pub fn escape(&self) -> Option<Escape> {
        let prefix = match self.prepend {
            Scheme::Always => Prefix::UnlessSpace,
            Scheme::First => Prefix::FirstUnlessSpace,
            Scheme::Never => Prefix::Never,
        };
        let escape = Escape { prefix, covers_first: true, mends: false };
        (self.replacement == space_mark::TEXT).then_some(escape)
    }

    /// Writes the piece `input[start..end]` rewritten. `is_first`: it starts where the original text starts.
    pub fn apply<O: Output>(&self, input: &[u8], (start, end): (usize, usize), is_first: bool, out: &mut O) {
        let piece = &input[start..end];
        let replacement = self.replacement.as_bytes();
        let wanted = match self.prepend {
            Scheme::Always => true,
            Scheme::First => is_first,
            Scheme::Never => false,
        };
        if wanted && !piece.is_empty() && piece[0] != b' ' && !piece.starts_with(replacement) {
            out.change(replacement, start);
        }
        let mut done = 0;
        for space in memchr::memchr_iter(b' ', piece) {
            if done < space {
                out.keep(input, start + done, start + space);
            }
            out.change(replacement, start + space);
            done = space + 1;
        }
        if done < piece.len() {
            out.keep(input, start + done, end);
        }
    }
}
