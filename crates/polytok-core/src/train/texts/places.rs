//! Finds places in a text where a word ends, whatever precedes them and whatever follows the few bytes looked at.

use super::rules::TextRules;
use crate::error::Result;
use crate::utf8::is_start;

/// Bytes after a place of [`TextRules::place`] that prove it.
pub(super) const AHEAD: usize = 64;

/// Bytes of text that are searched for a place.
const SEARCHED: usize = 1 << 12;

/// The most places to try.
const TRIES: usize = 16;

impl TextRules {
    /// A place near the start of `text[from..]`, if the bytes around one prove it.
    pub(super) fn place(&self, text: &[u8], from: usize) -> Option<usize> {
        let end = from.checked_add(SEARCHED)?.min(text.len());
        let start = (from..end).find(|&at| is_start(text[at]))?;
        let searched = &text[start..end];
        let valid = match std::str::from_utf8(searched) {
            Ok(valid) => valid,
            Err(error) => std::str::from_utf8(&searched[..error.valid_up_to()]).ok()?,
        };
        let mut at = 0;
        for _ in 0..TRIES {
            at = self.splits.certain_end(valid, at)?;
            let place = start + at;
            let (before, after) = (place.checked_sub(self.longest)?, place.checked_add(AHEAD + self.longest)?);
            if !self.has_special(text.get(before..after)?) {
                return Some(place);
            }
            at += self.longest;
        }
        None
    }

    /// The end of the words that stay the same whatever is appended to the text.
    pub(super) fn certain_end(&self, text: &[u8]) -> Result<usize> {
        for step in 1..=TRIES {
            let from = text.len().saturating_sub(step * SEARCHED);
            if let Some(place) = self.place(text, from) {
                return Ok(place);
            }
        }
        self.certain_end_by_reading(text)
    }

    /// The same for a text without a provable place: reads all of it.
    pub(super) fn certain_end_by_reading(&self, text: &[u8]) -> Result<usize> {
        // An incomplete special token or character can begin in the last bytes.
        let Some(end) = text.len().checked_sub(self.longest.max(4)) else { return Ok(0) };
        let mut certain = 0;
        self.between_special(text, end, &mut |from, to| {
            // A special token ends the text before it.
            if to <= end {
                certain = to;
                return Ok(());
            }
            let mut at = from;
            for chunk in text[from..end].utf8_chunks() {
                let after = at + chunk.valid().len() + chunk.invalid().len();
                let is_ended = after < end;
                certain = if is_ended { after } else { at + self.pieces(chunk.valid(), true, |_| Ok(true))? };
                at = after;
            }
            Ok(())
        })?;
        Ok(certain)
    }
}
