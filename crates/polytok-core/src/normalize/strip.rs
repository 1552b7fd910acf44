//! Removes white space at the ends of a text.
//!
//! Reference: Hugging Face's Strip; white space is Unicode's White_Space. Cost: the length of the white space.

use super::output::Output;

/// The compiled step.
pub struct Strip {
    left: bool,
    right: bool,
}

impl Strip {
    /// Compiles a step that strips the left end, the right end or both.
    pub fn compile(left: bool, right: bool) -> Strip {
        Strip { left, right }
    }

    /// Writes `text` without the white space at its ends.
    pub fn apply<O: Output>(&self, text: &str, out: &mut O) {
        let end = if self.right { text.trim_end().len() } else { text.len() };
        let start = if self.left { end - text[..end].trim_start().len() } else { 0 };
        if start < end {
            out.keep(text.as_bytes(), start, end);
        }
    }
}
