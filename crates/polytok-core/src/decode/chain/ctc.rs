//! CTC: drops each token that repeats the token before it, removes the padding text from tokens, replaces the delimiter
//! by a space if the cleanup is on, and drops tokens that are empty after these changes.

use super::cleanup::clean_punctuation;
use super::flow::TokenFlow;
use super::step::{ChainStep, StepState};
use super::take_text;
use crate::error::Result;

pub(super) struct CtcDecoder {
    pub pad: String,
    pub delimiter: String,
    pub cleanup: bool,
}

impl ChainStep for CtcDecoder {
    fn push_text(&self, state: &mut StepState, text: &[u8], _out: &mut TokenFlow) {
        state.held_text.extend_from_slice(text);
    }

    fn end_token(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        if state.previous_token.as_ref() == Some(&state.held_text) {
            state.held_text.clear();
            return Ok(());
        }
        state.previous_token = Some(state.held_text.clone());
        let mut token = take_text(&mut state.held_text).replace(&self.pad, "");
        if self.cleanup {
            token = clean_punctuation(token).replace(&self.delimiter, " ");
        }
        if !token.is_empty() {
            out.push_token(token.as_bytes());
        }
        Ok(())
    }
}
