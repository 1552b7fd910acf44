//! Strip: removes up to `start` copies of a character at the start of each token, and up to `stop` copies at the end.
//!
//! The start is stripped first, and then the end of the remaining text. (The reference panics if the two stripped parts
//! overlap or if `stop` exceeds the length of the token.) If an incomplete token ends with copies of the character, up
//! to `stop` copies are held back as a number.

use polytok_memory::{Collect, Copied};

use super::super::traced::TracedText;
use super::flow::TokenFlow;
use super::step::{ChainStep, StepState};
use crate::error::Result;

pub(super) struct StripDecoder {
    content: Vec<u8>,
    start: usize,
    stop: usize,
    /// True if an earlier step writes a single token, which ends with the input.
    is_fused: bool,
}

impl StripDecoder {
    pub fn new(content: char, start: usize, stop: usize, is_fused: bool) -> StripDecoder {
        StripDecoder { content: content.to_string().into_bytes(), start, stop, is_fused }
    }

    /// Strips the start of a token; `count` is the number of copies removed so far. Returns true when nothing more is
    /// removed at the start.
    fn strip_start(&self, count: &mut usize, text: &mut &[u8]) -> bool {
        while *count < self.start {
            match text.strip_prefix(self.content.as_slice()) {
                Some(remaining_text) => *text = remaining_text,
                None => return !text.is_empty(),
            }
            *count += 1;
        }
        true
    }

    /// Writes the text except the copies of the character at its end; `held_count` is the number of copies held back.
    fn write(&self, held_count: &mut usize, text: &[u8], out: &mut TokenFlow) {
        let mut kept_text = text;
        let mut suffix_count = 0;
        while suffix_count < self.stop {
            let Some(shorter_text) = kept_text.strip_suffix(self.content.as_slice()) else { break };
            kept_text = shorter_text;
            suffix_count += 1;
        }
        // If the text consists of copies of the character, only the copies beyond `stop` are written; otherwise all
        // copies held back earlier are written.
        let written_count = match kept_text.is_empty() {
            true => (*held_count + suffix_count).saturating_sub(self.stop),
            false => *held_count,
        };
        for _ in 0..written_count {
            out.push(&self.content);
        }
        out.push(kept_text);
        *held_count = *held_count + suffix_count - written_count;
    }
}

impl ChainStep for StripDecoder {
    fn push_text(&self, state: &mut StepState, mut text: &[u8], out: &mut TokenFlow) {
        if !state.passes_unchanged {
            state.passes_unchanged = self.strip_start(&mut state.count, &mut text);
            if !state.passes_unchanged {
                return;
            }
            state.count = 0;
        }
        if !text.is_empty() {
            self.write(&mut state.count, text, out);
        }
    }

    fn end_token(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        *state = StepState::default();
        out.end_token();
        Ok(())
    }

    fn settled_output(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        if is_part {
            return (self.stop == 0).then(|| token.checked_to_vec());
        }
        let mut out = TokenFlow::default();
        self.push_text(&mut StepState::default(), token, &mut out);
        Some(out.text().checked_to_vec())
    }

    fn is_settled(&self, state: &StepState) -> bool {
        state.passes_unchanged || !self.is_fused
    }

    fn keeps_tokens(&self) -> bool {
        self.is_fused && self.stop == 0
    }

    fn apply_traced(&self, tokens: Vec<TracedText>) -> Result<Vec<TracedText>> {
        let strip = |token: &TracedText| {
            let (mut start, mut end) = (0, token.bytes.len());
            let len = self.content.len();
            for _ in 0..self.start.min(end) {
                start += if token.bytes[start..end].starts_with(&self.content) { len } else { break };
            }
            for _ in 0..self.stop.min(end) {
                end -= if token.bytes[start..end].ends_with(&self.content) { len } else { break };
            }
            let mut text = TracedText::empty(token.whole);
            text.push_part(token, start, end);
            text
        };
        Ok(tokens.iter().map(strip).checked_collect())
    }
}
