//! BPEDecoder: replaces the word suffix in each token by a space, and removes the suffix from the last token.
//!
//! Only the end of the input shows which token is the last, so the step writes a token when the next token arrives. An
//! empty suffix matches before and after every character, as in `str::replace`.

use super::flow::TokenFlow;
use super::step::{ChainStep, StepState};
use super::take_text;
use crate::error::Result;

pub(super) struct BpeDecoder {
    pub suffix: String,
}

impl BpeDecoder {
    /// Writes the token that is held back, with its suffix replaced.
    fn write_held(&self, state: &mut StepState, replacement: &str, out: &mut TokenFlow) {
        if let Some(mut token) = state.previous_token.take() {
            out.push_token(take_text(&mut token).replace(&self.suffix, replacement).as_bytes());
        }
    }
}

impl ChainStep for BpeDecoder {
    fn push_text(&self, state: &mut StepState, text: &[u8], _out: &mut TokenFlow) {
        state.held_text.extend_from_slice(text);
    }

    fn end_token(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        self.write_held(state, " ", out);
        state.previous_token = Some(std::mem::take(&mut state.held_text));
        Ok(())
    }

    fn finish(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        self.write_held(state, "", out);
        Ok(())
    }
}
