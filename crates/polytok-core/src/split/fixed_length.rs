//! Pieces of so many characters, the last one of what is left.
//!
//! Reference: Hugging Face's FixedLength, which refuses a length of 0. Cost: linear.

use crate::error::{Error, Result};

/// A compiled step.
pub struct FixedLength {
    length: usize,
}

impl FixedLength {
    /// Compiles a step.
    pub fn compile(length: usize) -> Result<FixedLength> {
        match length {
            0 => Err(Error::Spec("split: a fixed length of 0 cuts nothing; it must be at least 1".into())),
            _ => Ok(FixedLength { length }),
        }
    }

    /// Calls `piece(start, end)` for each piece of `text`, left to right.
    pub fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) -> Result<()> {
        let mut start = 0;
        while start < text.len() {
            let len = text[start..].char_indices().nth(self.length).map_or(text.len() - start, |(len, _)| len);
            piece(start, start + len);
            start += len;
        }
        Ok(())
    }
}
