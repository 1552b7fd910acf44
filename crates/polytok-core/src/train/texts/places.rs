//! Places in a text where a word ends whatever stands before, and whatever comes behind those few bytes that are there.

use super::rules::TextRules;
use crate::error::Result;
use crate::utf8::is_start;

/// How far behind a place of [`TextRules::place`] a text is looked at.
pub(super) const AHEAD: usize = 64;

/// Bytes in which a place is searched.
const SEARCHED: usize = 1 << 12;

/// Places that are tried.
const TRIES: usize = 16;

impl TextRules {
    /// A place in `text[from..]`, soon, if one can be told from the bytes around it.
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
            at = self.splits.certain(valid, at)?;
            let place = start + at;
            let (before, behind) = (place.checked_sub(self.longest)?, place.checked_add(AHEAD + self.longest)?);
            if !self.has_special(text.get(before..behind)?) {
                return Some(place);
            }
            at += self.longest;
        }
        None
    }

    /// Up to where the words of a text are certain of which more is to come.
    pub(super) fn sure(&self, text: &[u8]) -> Result<usize> {
        for step in 1..=TRIES {
            let from = text.len().saturating_sub(step * SEARCHED);
            if let Some(place) = self.place(text, from) {
                return Ok(place);
            }
        }
        self.sure_by_reading(text)
    }

    /// The same where no place can be told: all is read.
    pub(super) fn sure_by_reading(&self, text: &[u8]) -> Result<usize> {
        // A special token, or a character, may begin behind it.
        let Some(end) = text.len().checked_sub(self.longest.max(4)) else { return Ok(0) };
        let mut sure = 0;
        self.stretches(text, end, &mut |from, to| {
            // A special token ends what stands before it.
            if to <= end {
                sure = to;
                return Ok(());
            }
            let mut at = from;
            for chunk in text[from..end].utf8_chunks() {
                let behind = at + chunk.valid().len() + chunk.invalid().len();
                let is_ended = behind < end;
                sure = if is_ended { behind } else { at + self.pieces(chunk.valid(), true, |_| Ok(true))? };
                at = behind;
            }
            Ok(())
        })?;
        Ok(sure)
    }
}
