//! Replaces every byte by the visible character that GPT-2's table has for it.
//!
//! Reference: Hugging Face's ByteLevel. Each visible character gets the span of the whole character whose byte it
//! replaces. Printable ASCII is kept in runs. Cost: linear.

use super::output::Output;
use crate::byte_level::char_of;

/// The byte-level step, which has no options.
pub struct ByteLevel;

impl ByteLevel {
    /// Writes a character for each byte of `text[start..end]`, which need not be UTF-8.
    pub fn apply<O: Output>(&self, text: &[u8], (start, end): (usize, usize), out: &mut O) {
        let mut at = start;
        while at < end {
            let run = text[at..end].iter().take_while(|byte| byte.is_ascii_graphic()).count();
            if run > 0 {
                out.keep(text, at, at + run);
                at += run;
            } else {
                out.change(char_of(text[at]).encode_utf8(&mut [0; 2]).as_bytes(), at);
                at += 1;
            }
        }
    }
}
