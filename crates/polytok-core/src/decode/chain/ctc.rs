//! CTC: drops each token that repeats the token before it, removes the padding text from tokens, replaces the delimiter
//! by a space if the cleanup is on, and drops tokens that are empty after these changes.

use polytok_memory::Grow;

use super::super::traced::TracedText;
use super::cleanup::{clean_punctuation, clean_traced};
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
        state.held_text.checked_extend_from_slice(text);
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

    fn apply_traced(&self, tokens: Vec<TracedText>) -> Result<Vec<TracedText>> {
        let mut out: Vec<TracedText> = Vec::new();
        let repeats = |i: usize| i > 0 && tokens[i - 1].bytes == tokens[i].bytes;
        for (_, token) in tokens.iter().enumerate().filter(|&(i, _)| !repeats(i)) {
            let mut token = token.replace(self.pad.as_bytes(), b"")?;
            if self.cleanup {
                token = clean_traced(token)?.replace(self.delimiter.as_bytes(), b" ")?;
            }
            if !token.bytes.is_empty() {
                out.checked_push(token);
            }
        }
        Ok(out)
    }
}
