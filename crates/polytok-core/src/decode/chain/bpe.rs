//! BPEDecoder: the suffix of words becomes a space; in the last token it becomes nothing.
//!
//! A token is known to be the last only at the end, so each token is held back until the next one. An empty suffix
//! matches between all characters, as in `str::replace`.

use super::flow::Flow;
use super::step::{ChainStep, StepState};
use super::take_text;
use crate::error::Result;

pub(super) struct BpeDecoder {
    pub suffix: String,
}

impl BpeDecoder {
    fn pass(&self, state: &mut StepState, with: &str, out: &mut Flow) {
        if let Some(mut token) = state.before.take() {
            out.token(take_text(&mut token).replace(&self.suffix, with).as_bytes());
        }
    }
}

impl ChainStep for BpeDecoder {
    fn text(&self, state: &mut StepState, text: &[u8], _out: &mut Flow) {
        state.held.extend_from_slice(text);
    }

    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        self.pass(state, " ", out);
        state.before = Some(std::mem::take(&mut state.held));
        Ok(())
    }

    fn finish(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        self.pass(state, "", out);
        Ok(())
    }
}
