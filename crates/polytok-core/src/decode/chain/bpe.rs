//! BPEDecoder: the suffix of words becomes a space, and nothing in the last token.
//!
//! Which token is the last is known when there is no more, so each waits for the next. An empty suffix stands between all
//! characters, as `str::replace` has it.

use super::flow::Flow;
use super::step::{State, Step};
use super::taken;
use crate::error::Result;

pub(super) struct Bpe {
    pub suffix: String,
}

impl Bpe {
    fn pass(&self, state: &mut State, with: &str, out: &mut Flow) {
        if let Some(mut token) = state.before.take() {
            out.token(taken(&mut token).replace(&self.suffix, with).as_bytes());
        }
    }
}

impl Step for Bpe {
    fn text(&self, state: &mut State, text: &[u8], _out: &mut Flow) {
        state.held.extend_from_slice(text);
    }

    fn end(&self, state: &mut State, out: &mut Flow) -> Result<()> {
        self.pass(state, " ", out);
        state.before = Some(std::mem::take(&mut state.held));
        Ok(())
    }

    fn finish(&self, state: &mut State, out: &mut Flow) -> Result<()> {
        self.pass(state, "", out);
        Ok(())
    }
}
