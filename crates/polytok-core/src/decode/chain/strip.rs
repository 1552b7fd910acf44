//! Strip: a character is removed from both ends of each token, up to a number of times.
//!
//! The start is stripped first, then the end of the remainder; the reference panics if the two would overlap or if
//! `stop` exceeds the token. Up to `stop` of these characters at the end of a growing token are held back, as a number.

use super::flow::Flow;
use super::step::{ChainStep, StepState};
use crate::error::Result;

pub(super) struct StripDecoder {
    content: Vec<u8>,
    start: usize,
    stop: usize,
    /// After a Fuse: there is one token, and it ends with the input.
    grows: bool,
}

impl StripDecoder {
    pub fn new(content: char, start: usize, stop: usize, grows: bool) -> StripDecoder {
        StripDecoder { content: content.to_string().into_bytes(), start, stop, grows }
    }

    /// Strips the start; `count` is the number of characters stripped. True if the start is over.
    fn strip_start(&self, count: &mut usize, text: &mut &[u8]) -> bool {
        while *count < self.start {
            match text.strip_prefix(self.content.as_slice()) {
                Some(rest) => *text = rest,
                None => return !text.is_empty(),
            }
            *count += 1;
        }
        true
    }

    /// Passes on text that cannot be at the end; `count` is the number of characters held back.
    fn pass(&self, count: &mut usize, text: &[u8], out: &mut Flow) {
        let mut rest = text;
        let mut found = 0;
        while found < self.stop {
            let Some(before) = rest.strip_suffix(self.content.as_slice()) else { break };
            rest = before;
            found += 1;
        }
        // If the text is only such characters, those beyond `stop` pass; otherwise all that were held back pass.
        let done = if rest.is_empty() { (*count + found).saturating_sub(self.stop) } else { *count };
        for _ in 0..done {
            out.push(&self.content);
        }
        out.push(rest);
        *count = *count + found - done;
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
            self.pass(&mut state.count, text, out);
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
        state.passes || !self.grows
    }

    fn is_idle(&self) -> bool {
        self.grows && self.stop == 0
    }
}
