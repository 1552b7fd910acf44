//! CTC: removes repetitions of a token, removes the padding, replaces the delimiter by a space, and removes tokens that
//! are then empty.

use super::cleanup::cleanup;
use super::flow::Flow;
use super::step::{ChainStep, StepState};
use super::take_text;
use crate::error::Result;

pub(super) struct CtcDecoder {
    pub pad: String,
    pub delimiter: String,
    pub cleanup: bool,
}

impl ChainStep for CtcDecoder {
    fn text(&self, state: &mut StepState, text: &[u8], _out: &mut Flow) {
        state.held.extend_from_slice(text);
    }

    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        if state.previous.as_ref() == Some(&state.held) {
            state.held.clear();
            return Ok(());
        }
        state.previous = Some(state.held.clone());
        let mut token = take_text(&mut state.held).replace(&self.pad, "");
        if self.cleanup {
            token = cleanup(token).replace(&self.delimiter, " ");
        }
        if !token.is_empty() {
            out.token(token.as_bytes());
        }
        Ok(())
    }
}
