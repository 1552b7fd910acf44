//! Converts text to lower case, each character by its own mapping.
//!
//! Reference: Hugging Face's Lowercase, which calls `char::to_lowercase` of Rust's standard library. A capital sigma at
//! the end of a word has no special rule. U+0130 converts to two characters; the second counts as an inserted
//! character. Cost: linear.

use super::output::Output;
use super::transform::Transform;
use super::unchanged::Unchanged;

/// The compiled step.
pub struct Lowercase {
    unchanged: Unchanged,
}

impl Lowercase {
    /// Compiles the step.
    pub fn compile() -> Lowercase {
        Lowercase { unchanged: Unchanged::new(is_own_lower_case) }
    }

    /// Writes `text` in lower case.
    pub fn apply<O: Output>(&self, text: &str, out: &mut O) {
        self.unchanged.rewrite(text, out, false, |from, to, out| {
            let mut writer = Transform::new(text, from, out);
            for c in text[from..to].chars() {
                c.to_lowercase().enumerate().for_each(|(i, lower)| writer.push(lower, (i > 0) as isize));
            }
        });
    }
}

/// Reports whether the lower case of a character is the character itself.
pub(super) fn is_own_lower_case(c: char) -> bool {
    c.to_lowercase().eq(std::iter::once(c))
}
