//! Finds cuts in a text that grows at its end, and encodes the text between two cuts.

use crate::error::Result;
use crate::tokenizer::cuts::{CUT_WINDOW, CutState};
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// A text after its last cut, with the context of the cut.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenText {
    /// The context, followed by the text after the cut.
    pub bytes: Vec<u8>,
    /// The number of bytes of the context.
    pub context_len: usize,
    /// The offset of `bytes` in the whole text.
    pub start: usize,
    /// The number of bytes that are UTF-8. All later cuts are before the first byte that is not UTF-8.
    valid_len: usize,
    /// True if the byte at `valid_len` is not UTF-8, whatever follows.
    is_invalid: bool,
    /// The offset before which there is no cut.
    searched: usize,
}

impl OpenText {
    /// Appends text.
    pub fn extend(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        if self.is_invalid {
            return;
        }
        match std::str::from_utf8(&self.bytes[self.valid_len..]) {
            Ok(_) => self.valid_len = self.bytes.len(),
            Err(error) => {
                self.valid_len += error.valid_up_to();
                self.is_invalid = error.error_len().is_some();
            }
        }
    }

    /// Removes the text from an offset on, which is not in the context.
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
        self.is_invalid &= self.valid_len < len;
        self.valid_len = self.valid_len.min(len);
        self.searched = self.searched.min(len.saturating_sub(CUT_WINDOW));
    }

    /// Returns the last cut after `from`, at most `max_len` bytes after the searched text; continues after a part
    /// without a cut. None if no cut follows.
    pub fn next_cut(
        &mut self,
        tokenizer: &Tokenizer,
        from: usize,
        max_len: usize,
        options: EncodeOptions,
    ) -> Option<usize> {
        loop {
            let start = self.searched.max(from + 1);
            let end = self.valid_len.min(start.saturating_add(max_len));
            if let Some(cut) = tokenizer.safe_cut(&self.bytes[..self.valid_len], start, end, true, options) {
                self.searched = cut + 1;
                return Some(cut);
            }
            if end >= self.valid_len {
                // Cuts near the end of the text are found when the next characters are known.
                self.searched = self.searched.max(self.valid_len.saturating_sub(CUT_WINDOW));
                return None;
            }
            self.searched = end;
        }
    }

    /// Appends the ids of the text between two offsets. The first offset is a cut with this state, which becomes the
    /// state of the second offset.
    pub fn encode(
        &self,
        tokenizer: &Tokenizer,
        (cut, end): (usize, usize),
        state: &mut CutState,
        options: EncodeOptions,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        // The context of the text's start is empty, so the context before `bytes` is never needed.
        let start = if cut == self.context_len { 0 } else { tokenizer.context_start(&self.bytes, cut) };
        let result = tokenizer.encode_from(&self.bytes[start..end], cut - start, state, options, ids);
        result.map_err(|error| error.in_part_from(self.start + start))
    }

    /// Removes the text before a cut, except for the context of the cut.
    pub fn remove_before(&mut self, tokenizer: &Tokenizer, cut: usize) {
        let start = tokenizer.context_start(&self.bytes, cut);
        self.bytes.drain(..start);
        self.start += start;
        self.context_len = cut - start;
        self.valid_len -= start;
        self.searched = self.searched.saturating_sub(start);
    }
}
