//! Removes control characters and replaces unusual white space by a space.
//!
//! Reference: Hugging Face's Nmt; the lists are those of its source. Cost: linear.

use super::output::Output;
use super::unchanged::Unchanged;

/// The compiled step.
pub struct Nmt {
    unchanged: Unchanged,
}

impl Nmt {
    /// Compiles the step.
    pub fn compile() -> Nmt {
        Nmt { unchanged: Unchanged::new(|c| !is_removed(c) && !is_replaced_by_space(c)) }
    }

    /// Writes the cleaned text.
    pub fn apply<O: Output>(&self, text: &str, out: &mut O) {
        self.unchanged.rewrite(text, out, false, |from, to, out| {
            let spaces = text[from..to].char_indices().filter(|&(_, c)| is_replaced_by_space(c));
            spaces.for_each(|(at, _)| out.change(b" ", from + at));
        });
    }
}

fn is_removed(c: char) -> bool {
    matches!(c, '\u{1}'..='\u{8}' | '\u{B}' | '\u{E}'..='\u{1F}' | '\u{7F}' | '\u{8F}' | '\u{9F}')
}

fn is_replaced_by_space(c: char) -> bool {
    matches!(c as u32, 0x9 | 0xA | 0xC | 0xD | 0x1680 | 0x200B..=0x200F | 0x2028 | 0x2029 | 0x2581 | 0xFEFF | 0xFFFD)
}
