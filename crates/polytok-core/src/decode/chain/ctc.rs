//! CTC: of equal tokens in a row one stays, the padding goes, the delimiter becomes a space; tokens that are empty then go.

use super::cleanup::cleanup;
use super::flow::Flow;
use super::step::{State, Step};
use super::taken;
use crate::error::Result;

pub(super) struct Ctc {
    pub pad: String,
    pub delimiter: String,
    pub cleanup: bool,
}

impl Step for Ctc {
    fn text(&self, state: &mut State, text: &[u8], _out: &mut Flow) {
        state.held.extend_from_slice(text);
    }

    fn end(&self, state: &mut State, out: &mut Flow) -> Result<()> {
        if state.before.as_ref() == Some(&state.held) {
            state.held.clear();
            return Ok(());
        }
        state.before = Some(state.held.clone());
        let mut token = taken(&mut state.held).replace(&self.pad, "");
        if self.cleanup {
            token = cleanup(token).replace(&self.delimiter, " ");
        }
        if !token.is_empty() {
            out.token(token.as_bytes());
        }
        Ok(())
    }
}
