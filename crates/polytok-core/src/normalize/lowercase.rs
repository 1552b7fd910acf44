//! Lower case, each character by its own mapping.
//!
//! Reference: Hugging Face's Lowercase, `char::to_lowercase` of Rust's standard library: a final sigma is not looked
//! at, and U+0130 becomes two characters, the second of them new. Cost: linear.

use super::output::Output;
use super::transform::Transform;
use super::unchanged::Unchanged;

/// A compiled step.
pub struct Lowercase {
    unchanged: Unchanged,
}

impl Lowercase {
    /// Compiles the step.
    pub fn compile() -> Lowercase {
        Lowercase { unchanged: Unchanged::new(is_lower) }
    }

    /// Whether a character stays as it is.
    pub fn leaves(&self, c: char) -> bool {
        is_lower(c)
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

/// Its lower case is the character itself.
pub(super) fn is_lower(c: char) -> bool {
    c.to_lowercase().eq(std::iter::once(c))
}
