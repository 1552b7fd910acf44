//! Finds cuts in a text that grows at its end, and encodes the text between two cuts.

use polytok_memory::{Copied, Grow};

use crate::error::{Error, Result};
use crate::normalize::output::Span;
use crate::tokenizer::cuts::{CUT_WINDOW, CutState};
use crate::tokenizer::{EncodeOptions, Tokenizer, Trusted};
use crate::trust::runs_of_part;

/// Text that is added to another text.
#[derive(Clone, Copy, Debug)]
pub struct Addition<'a> {
    /// The text.
    pub text: &'a [u8],
    /// The trusted runs of the text, from left to right, no two of which touch; None if the text is not in parts.
    pub runs: Option<&'a [Span]>,
}

/// How much of a text is trusted, which decides how the text is encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Trust {
    /// The text is not in parts; the options say which special tokens are recognized.
    #[default]
    Unparted,
    /// The whole text is trusted, and text that is not trusted would be encoded with the guard.
    Whole,
    /// Some text is not trusted, or there is no guard.
    Partial,
}

impl Trust {
    /// Returns the trust after text is added. `has_text` is false if no text stands before it, and `is_trusted` is true
    /// if all that stands before it is trusted.
    pub fn after(self, tokenizer: &Tokenizer, (has_text, is_trusted): (bool, bool), added: Addition) -> Result<Trust> {
        match added.runs {
            None if has_text && self != Trust::Unparted => Err(Error::Argument(
                "this text is in parts, so text that is added must say whether it is trusted: pass \
                 polytok.Parts([(text, False)])"
                    .into(),
            )),
            Some(_) if has_text && self == Trust::Unparted => Err(Error::Argument(
                "a polytok.Parts cannot be added to a text that is not in parts: begin with Parts".into(),
            )),
            None => Ok(Trust::Unparted),
            Some(runs) => {
                let has_guard = tokenizer.guard_tokenizer().flatten().is_some();
                let is_whole = is_trusted && has_guard && Trusted::of_text(runs, added.text.len()).is_whole;
                Ok(if is_whole { Trust::Whole } else { Trust::Partial })
            }
        }
    }
}

/// A text after its last cut, with the context of the cut.
#[derive(Debug, Default)]
pub(super) struct OpenText {
    /// The context, followed by the text after the cut.
    pub bytes: Vec<u8>,
    /// The trusted runs of `bytes`, no two of which touch.
    pub runs: Vec<Span>,
    pub trust: Trust,
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

impl Clone for OpenText {
    fn clone(&self) -> OpenText {
        OpenText {
            bytes: self.bytes.checked_to_vec(),
            runs: self.runs.checked_to_vec(),
            trust: self.trust,
            context_len: self.context_len,
            start: self.start,
            valid_len: self.valid_len,
            is_invalid: self.is_invalid,
            searched: self.searched,
        }
    }
}

impl OpenText {
    /// Appends text with its trusted runs.
    pub fn extend(&mut self, text: &[u8], runs: &[Span]) {
        let start = offset(self.bytes.len());
        for &(from, to) in runs {
            let (from, to) = (start.saturating_add(from), start.saturating_add(to));
            match self.runs.last_mut() {
                Some(last) if last.1 == from => last.1 = to,
                _ => self.runs.checked_push((from, to)),
            }
        }
        self.bytes.checked_extend_from_slice(text);
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
        self.runs = runs_of_part(&self.runs, 0, offset(len));
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
        let options = self.options_for(&[], options);
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
        let (text, runs) = (&self.bytes[start..end], runs_of_part(&self.runs, offset(start), offset(end)));
        let result = self
            .check(tokenizer, text, &runs, options)
            .and_then(|()| tokenizer.encode_from(text, cut - start, state, self.options_for(&runs, options), ids));
        result.map_err(|error| error.in_part_from(self.start + start))
    }

    /// Appends the ids of the text with the template around it. The text has no context.
    pub fn encode_all(&self, tokenizer: &Tokenizer, options: EncodeOptions, ids: &mut Vec<u32>) -> Result<()> {
        self.check(tokenizer, &self.bytes, &self.runs, options)?;
        tokenizer.encode(&self.bytes, self.options_for(&self.runs, options), ids)
    }

    /// Returns an error if special tokens that are not trusted are refused and the text has one.
    fn check(&self, tokenizer: &Tokenizer, text: &[u8], runs: &[Span], options: EncodeOptions) -> Result<()> {
        let is_checked = options.is_strict && self.trust != Trust::Unparted;
        if is_checked { tokenizer.reject_untrusted(text, runs) } else { Ok(()) }
    }

    /// Returns the options for a part of the text with these trusted runs.
    fn options_for<'a>(&self, runs: &'a [Span], options: EncodeOptions<'a>) -> EncodeOptions<'a> {
        let trusted = Trusted { runs, is_whole: self.trust == Trust::Whole };
        EncodeOptions { trusted: (self.trust != Trust::Unparted).then_some(trusted), ..options }
    }

    /// Removes the text before a cut, except for the context of the cut.
    pub fn remove_before(&mut self, tokenizer: &Tokenizer, cut: usize) {
        let start = tokenizer.context_start(&self.bytes, cut);
        self.bytes.drain(..start);
        self.runs = runs_of_part(&self.runs, offset(start), u32::MAX);
        self.start += start;
        self.context_len = cut - start;
        self.valid_len -= start;
        self.searched = self.searched.saturating_sub(start);
    }
}

/// Returns an offset in the open text as a 32-bit number. Encoding refuses longer texts.
pub(super) fn offset(at: usize) -> u32 {
    at.min(u32::MAX as usize) as u32
}
