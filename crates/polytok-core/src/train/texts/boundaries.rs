//! Finds certain boundaries. A certain boundary is a position in a text where a word ends, whatever the remaining text
//! is.

use super::rules::TextRules;
use crate::error::Result;
use crate::utf8::is_start;

/// [`TextRules::boundary`] proves a boundary from at most this number of bytes after it.
pub(super) const AHEAD: usize = 64;

/// The number of bytes that are searched for a boundary.
const SEARCH_BYTES: usize = 1 << 12;

/// The highest number of positions to try.
const MAX_TRIES: usize = 16;

impl TextRules {
    /// Returns a certain boundary near the start of `text[from..]`, if the bytes around it prove one.
    pub(super) fn boundary(&self, text: &[u8], from: usize) -> Option<usize> {
        let end = from.checked_add(SEARCH_BYTES)?.min(text.len());
        let start = (from..end).find(|&at| is_start(text[at]))?;
        let searched = &text[start..end];
        let valid = match std::str::from_utf8(searched) {
            Ok(valid) => valid,
            Err(error) => std::str::from_utf8(&searched[..error.valid_up_to()]).ok()?,
        };
        let mut at = 0;
        for _ in 0..MAX_TRIES {
            at = self.splits.certain_end(valid, at)?;
            let boundary = start + at;
            let (before, after) =
                (boundary.checked_sub(self.max_special_len)?, boundary.checked_add(AHEAD + self.max_special_len)?);
            if !self.has_special(text.get(before..after)?) {
                return Some(boundary);
            }
            at += self.max_special_len;
        }
        None
    }

    /// Returns the end of the words that stay the same whatever is appended to the text.
    pub(super) fn certain_end(&self, text: &[u8]) -> Result<usize> {
        for step in 1..=MAX_TRIES {
            let from = text.len().saturating_sub(step * SEARCH_BYTES);
            if let Some(boundary) = self.boundary(text, from) {
                return Ok(boundary);
            }
        }
        self.certain_end_by_reading(text)
    }

    /// Returns the same as `certain_end`, for a text that has no certain boundary near its end. Reads the whole text.
    pub(super) fn certain_end_by_reading(&self, text: &[u8]) -> Result<usize> {
        // An incomplete special token or character can begin in the last bytes.
        let Some(end) = text.len().checked_sub(self.max_special_len.max(4)) else { return Ok(0) };
        let mut certain_end = 0;
        self.between_special(text, end, &mut |from, to| {
            // A special token ends the text before it.
            if to <= end {
                certain_end = to;
                return Ok(());
            }
            let mut at = from;
            for chunk in text[from..end].utf8_chunks() {
                let after = at + chunk.valid().len() + chunk.invalid().len();
                let ends_text = after < end;
                certain_end = if ends_text { after } else { at + self.pieces(chunk.valid(), true, |_| Ok(true))? };
                at = after;
            }
            Ok(())
        })?;
        Ok(certain_end)
    }
}
