//! The two steps that join tokens: Fuse, and the spaces between tokens when there is no chain.

use super::flow::Flow;
use super::step::{ChainStep, StepState};
use crate::error::Result;

/// The step that joins all tokens to one, which is complete only at the end. Without tokens it writes an empty token.
pub(super) struct FuseDecoder;

impl ChainStep for FuseDecoder {
    fn text(&self, _state: &mut StepState, text: &[u8], out: &mut Flow) {
        out.push(text);
    }

    fn end(&self, _state: &mut StepState, _out: &mut Flow) -> Result<()> {
        Ok(())
    }

    fn finish(&self, _state: &mut StepState, out: &mut Flow) -> Result<()> {
        out.end();
        Ok(())
    }

    fn settled(&self, token: &[u8], _is_part: bool) -> Option<Vec<u8>> {
        Some(token.to_vec())
    }

    fn is_idle(&self) -> bool {
        true
    }

    fn fuses(&self) -> bool {
        true
    }
}

/// The step that writes a space before every token except the first.
pub(super) struct Join;

impl ChainStep for Join {
    fn text(&self, state: &mut StepState, text: &[u8], _out: &mut Flow) {
        state.held.extend_from_slice(text);
    }

    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        if std::mem::replace(&mut state.is_later, true) {
            out.push(b" ");
        }
        out.token(&state.held);
        state.held.clear();
        Ok(())
    }

    fn settled(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        (!is_part).then(|| [b" ", token].concat())
    }

    fn is_settled(&self, state: &StepState) -> bool {
        state.is_later
    }
}
