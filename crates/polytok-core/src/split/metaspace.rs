//! Makes spaces visible as Hugging Face's Metaspace does.
//!
//! Reference: Metaspace. The step replaces every U+0020 by the replacement. Then it inserts the replacement before
//! pieces that do not start with the replacement: before all such pieces, only before the first piece of the text, or
//! never. The inserted text gets the span of the first character. Splitting before each replacement is a step of its
//! own ([`Metaspace::compile_split`]). Cost: linear.

use super::behavior::PatternSplit;
use crate::error::Result;
use crate::normalize::escape::{Escape, Prefix};
use crate::normalize::output::Output;
use crate::space_mark;
use crate::spec::{Behavior, Pattern, Scheme};

/// The compiled step that replaces spaces and inserts the replacement.
pub struct Metaspace {
    replacement: String,
    prepend: Scheme,
}

impl Metaspace {
    /// Compiles the step that replaces spaces and inserts the replacement.
    pub fn compile(replacement: &str, prepend: Scheme) -> Metaspace {
        Metaspace { replacement: replacement.to_string(), prepend }
    }

    /// Compiles the step that splits before each replacement.
    pub fn compile_split(replacement: &str) -> Result<PatternSplit> {
        let pattern = Pattern { text: replacement.to_string(), is_regex: false, unicode: None };
        PatternSplit::compile(&pattern, Behavior::MergedWithNext, false)
    }

    /// Reports whether the replacement is inserted before some pieces.
    pub(super) fn inserts_prefix(&self) -> bool {
        self.prepend != Scheme::Never
    }

    /// Returns the text that replaces a space.
    pub(super) fn replacement(&self) -> &str {
        &self.replacement
    }

    /// Returns how the step makes spaces visible, if the replacement is U+2581.
    pub fn as_escape(&self) -> Option<Escape> {
        let prefix = match self.prepend {
            Scheme::Always => Prefix::UnlessSpace,
            Scheme::First => Prefix::FirstUnlessSpace,
            Scheme::Never => Prefix::Never,
        };
        let escape = Escape { prefix, covers_first: true, replaces_invalid: false };
        (self.replacement == space_mark::TEXT).then_some(escape)
    }

    /// Writes the rewritten piece `input[start..end]`. `is_first` is true for a piece at the start of the original
    /// text.
    pub fn apply<O: Output>(&self, input: &[u8], (start, end): (usize, usize), is_first: bool, out: &mut O) {
        let piece = &input[start..end];
        let replacement = self.replacement.as_bytes();
        let needs_prefix = match self.prepend {
            Scheme::Always => true,
            Scheme::First => is_first,
            Scheme::Never => false,
        };
        if needs_prefix && !piece.is_empty() && piece[0] != b' ' && !piece.starts_with(replacement) {
            out.change(replacement, start);
        }
        let mut kept_from = 0;
        for space in memchr::memchr_iter(b' ', piece) {
            if kept_from < space {
                out.keep(input, start + kept_from, start + space);
            }
            out.change(replacement, start + space);
            kept_from = space + 1;
        }
        if kept_from < piece.len() {
            out.keep(input, start + kept_from, end);
        }
    }
}
