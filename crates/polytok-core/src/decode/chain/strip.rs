//! Strip: removes a character from both ends of each token, up to `start` times at the start and `stop` times at the
//! end.
//!
//! The start is stripped first, then the end of the remainder. The reference panics if the two stripped parts overlap
//! or if `stop` exceeds the length of the token. At the end of an incomplete token, up to `stop` of these characters
//! are held back; only their count is stored.

use super::flow::Flow;
use super::step::{ChainStep, StepState};
use crate::error::Result;

pub(super) struct StripDecoder {
    content: Vec<u8>,
    start: usize,
    stop: usize,
    /// True after a Fuse, when there is a single token that ends with the input.
    is_fused: bool,
}

impl StripDecoder {
    pub fn new(content: char, start: usize, stop: usize, is_fused: bool) -> StripDecoder {
        StripDecoder { content: content.to_string().into_bytes(), start, stop, is_fused }
    }

    /// Strips the start of a token; `count` is the number of characters stripped. Returns true once the start is
    /// complete.
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

    /// Writes the text that is not stripped at the end; `held_count` is the number of characters held back.
    fn write(&self, held_count: &mut usize, text: &[u8], out: &mut Flow) {
        let mut kept_text = text;
        let mut suffix_count = 0;
        while suffix_count < self.stop {
            let Some(shorter) = kept_text.strip_suffix(self.content.as_slice()) else { break };
            kept_text = shorter;
            suffix_count += 1;
        }
        // If the text has only characters to strip, the characters beyond `stop` are written; otherwise all characters
        // that were held back are written.
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
    fn text(&self, state: &mut StepState, mut text: &[u8], out: &mut Flow) {
        if !state.passes {
            state.passes = self.strip_start(&mut state.count, &mut text);
            if !state.passes {
                return;
            }
            state.count = 0;
        }
        if !text.is_empty() {
            self.write(&mut state.count, text, out);
        }
    }

    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        *state = StepState::default();
        out.end();
        Ok(())
    }

    fn settled(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        if is_part {
            return (self.stop == 0).then(|| token.to_vec());
        }
        let mut out = Flow::default();
        self.text(&mut StepState::default(), token, &mut out);
        Some(out.text().to_vec())
    }

    fn is_settled(&self, state: &StepState) -> bool {
        state.passes || !self.is_fused
    }

    fn is_idle(&self) -> bool {
        self.is_fused && self.stop == 0
    }
}
