//! The two ways to join tokens: Fuse, and the spaces between tokens when there is no chain.

use super::flow::Flow;
use super::step::{State, Step};
use crate::error::Result;

/// All tokens become one, which grows until the end; no tokens become an empty token.
pub(super) struct Fuse;

impl Step for Fuse {
    fn text(&self, _state: &mut State, text: &[u8], out: &mut Flow) {
        out.push(text);
    }

    fn end(&self, _state: &mut State, _out: &mut Flow) -> Result<()> {
        Ok(())
    }

    fn finish(&self, _state: &mut State, out: &mut Flow) -> Result<()> {
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

/// A space before every token but the first.
pub(super) struct Join;

impl Step for Join {
    fn text(&self, state: &mut State, text: &[u8], _out: &mut Flow) {
        state.held.extend_from_slice(text);
    }

    fn end(&self, state: &mut State, out: &mut Flow) -> Result<()> {
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

    fn is_settled(&self, state: &State) -> bool {
        state.is_later
    }
}
