//! Splits text to pieces of a fixed number of characters; the last piece can be shorter.
//!
//! Reference: Hugging Face's FixedLength, which refuses a length of 0. Cost: linear.

use crate::error::{Error, Result};

/// The compiled step.
pub struct FixedLength {
    /// The number of characters of a piece.
    length: usize,
}

impl FixedLength {
    /// Compiles the step.
    pub fn compile(length: usize) -> Result<FixedLength> {
        match length {
            0 => Err(Error::Spec("split: the fixed length of pieces is 0; it must be at least 1".into())),
            _ => Ok(FixedLength { length }),
        }
    }

    /// Calls `piece(start, end)` for each piece of `text`, from left to right.
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
