//! BPEDecoder: replaces the word suffix in each token by a space, and removes the suffix from the last token.
//!
//! Only the end of the input shows which token is the last, so the step holds back the end of a token, from the first
//! suffix on, until the next token arrives. An empty suffix matches before and after every character, as in
//! `str::replace`.

use polytok_memory::{Grow, TryCollect};

use super::super::traced::TracedText;
use super::flow::TokenFlow;
use super::step::{ChainStep, StepState};
use super::take_text;
use crate::error::Result;

pub(super) struct BpeDecoder {
    pub suffix: String,
}

impl BpeDecoder {
    /// Writes the end of the token that is held back, with its suffixes replaced.
    fn write_held(&self, state: &mut StepState, replacement: &str, out: &mut TokenFlow) {
        if let Some(mut token) = state.previous_token.take() {
            out.push_token(take_text(&mut token).replace(&self.suffix, replacement).as_bytes());
        }
    }
}

impl ChainStep for BpeDecoder {
    fn push_text(&self, state: &mut StepState, text: &[u8], _out: &mut TokenFlow) {
        state.held_text.checked_extend_from_slice(text);
    }

    fn end_token(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        self.write_held(state, " ", out);
        let mut token = take_text(&mut state.held_text);
        match token.find(&self.suffix) {
            Some(at) => {
                let held_text = token.split_off(at);
                out.push(token.as_bytes());
                state.previous_token = Some(held_text.into_bytes());
            }
            None => out.push_token(token.as_bytes()),
        }
        Ok(())
    }

    fn finish(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        self.write_held(state, "", out);
        Ok(())
    }

    fn apply_traced(&self, tokens: Vec<TracedText>) -> Result<Vec<TracedText>> {
        let last = tokens.len().wrapping_sub(1);
        let content = |i| if i == last { b"".as_slice() } else { b" " };
        tokens
            .iter()
            .enumerate()
            .map(|(i, token)| token.replace(self.suffix.as_bytes(), content(i)))
            .checked_try_collect()
    }
}
