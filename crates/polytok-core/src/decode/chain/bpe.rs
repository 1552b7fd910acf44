//! BPEDecoder: replaces the word suffix in each token by a space, and removes the suffix from the last token.
//!
//! Whether a token is the last is known only at the end, so each token is held back until the next token. An empty
//! suffix matches between all characters, as in `str::replace`.

use super::flow::Flow;
use super::step::{ChainStep, StepState};
use super::take_text;
use crate::error::Result;

pub(super) struct BpeDecoder {
    pub suffix: String,
}

impl BpeDecoder {
    /// Writes the token that is held back, with its suffix replaced.
    fn write_held(&self, state: &mut StepState, replacement: &str, out: &mut Flow) {
        if let Some(mut token) = state.previous.take() {
            out.token(take_text(&mut token).replace(&self.suffix, replacement).as_bytes());
        }
    }
}

impl ChainStep for BpeDecoder {
    fn text(&self, state: &mut StepState, text: &[u8], _out: &mut Flow) {
        state.held.extend_from_slice(text);
    }

    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        self.write_held(state, " ", out);
        state.previous = Some(std::mem::take(&mut state.held));
        Ok(())
    }

    fn finish(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        self.write_held(state, "", out);
        Ok(())
    }
}
