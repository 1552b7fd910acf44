//! The two steps that join tokens: Fuse, and the step that puts spaces between the tokens of a tokenizer without a
//! decoder.

use polytok_memory::{self as memory, Collect, Copied, Grow};

use super::super::traced::TracedText;
use super::flow::TokenFlow;
use super::step::{ChainStep, StepState};
use crate::error::Result;

/// The step that joins all tokens to one, which is complete only at the end. If the input has no tokens, the output is
/// one empty token.
pub(super) struct FuseDecoder;

impl ChainStep for FuseDecoder {
    fn push_text(&self, _state: &mut StepState, text: &[u8], out: &mut TokenFlow) {
        out.push(text);
    }

    fn end_token(&self, _state: &mut StepState, _out: &mut TokenFlow) -> Result<()> {
        Ok(())
    }

    fn finish(&self, _state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        out.end_token();
        Ok(())
    }

    fn settled_output(&self, token: &[u8], _is_part: bool) -> Option<Vec<u8>> {
        Some(token.checked_to_vec())
    }

    fn keeps_tokens(&self) -> bool {
        true
    }

    fn writes_one_token(&self) -> bool {
        true
    }

    fn apply_traced(&self, tokens: Vec<TracedText>) -> Result<Vec<TracedText>> {
        Ok(vec![TracedText::join(&tokens)])
    }
}

/// The step that writes a space before every token except the first.
pub(super) struct SpaceJoiner;

impl ChainStep for SpaceJoiner {
    fn push_text(&self, state: &mut StepState, text: &[u8], _out: &mut TokenFlow) {
        state.held_text.checked_extend_from_slice(text);
    }

    fn end_token(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        if std::mem::replace(&mut state.is_later, true) {
            out.push(b" ");
        }
        out.push_token(&state.held_text);
        state.held_text.clear();
        Ok(())
    }

    fn settled_output(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        (!is_part).then(|| memory::concat(&[b" ", token]))
    }

    fn is_settled(&self, state: &StepState) -> bool {
        state.is_later
    }

    fn apply_traced(&self, tokens: Vec<TracedText>) -> Result<Vec<TracedText>> {
        let with_space = |(i, token): (usize, &TracedText)| {
            let mut text = TracedText::empty(token.whole);
            text.push(if i > 0 { b" " } else { b"" }, token.whole);
            text.push_part(token, 0, token.bytes.len());
            text
        };
        Ok(tokens.iter().enumerate().map(with_space).checked_collect())
    }
}
