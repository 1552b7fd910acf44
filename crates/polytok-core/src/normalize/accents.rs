//! Removes combining marks (categories Mn, Mc and Me) without decomposing characters.
//!
//! Reference: Hugging Face's StripAccents, with the table of the crate used there (Unicode 9.0). Cost: linear.

use unicode_normalization_alignments::char::is_combining_mark;

use super::output::Output;
use super::unchanged::Unchanged;

/// The compiled step.
pub struct StripAccents {
    unchanged: Unchanged,
}

impl StripAccents {
    /// Compiles the step.
    pub fn compile() -> StripAccents {
        StripAccents { unchanged: Unchanged::new(|c| !is_combining_mark(c)) }
    }

    /// Writes `text` without its combining marks.
    pub fn apply<O: Output>(&self, text: &str, out: &mut O) {
        self.unchanged.rewrite(text, out, false, |_, _, _| {});
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization_alignments::char::canonical_combining_class;

    /// A decomposition before this step is local for this reason; see `by_char`.
    #[test]
    fn all_marks_that_a_normal_form_sorts_are_removed() {
        let mut sorted_marks = ('\0'..=char::MAX).filter(|&c| canonical_combining_class(c) != 0);
        assert!(sorted_marks.all(is_combining_mark));
    }
}
