//! WordPiece: removes the prefix from each token that starts with it, writes a space before every other token, and then
//! cleans up each token.

use super::cleanup::cleanup;
use super::flow::Flow;
use super::step::{ChainStep, StepState};
use super::take_text;
use crate::error::Result;

pub(super) struct WordPieceDecoder {
    pub prefix: String,
    pub cleanup: bool,
}

impl WordPieceDecoder {
    /// Returns the text that a token adds.
    fn added_text(&self, token: String, is_later: bool) -> String {
        let token = match token.strip_prefix(&self.prefix) {
            _ if !is_later => token,
            Some(suffix) => suffix.to_owned(),
            None => format!(" {token}"),
        };
        if self.cleanup { cleanup(token) } else { token }
    }
}

impl ChainStep for WordPieceDecoder {
    fn text(&self, state: &mut StepState, text: &[u8], _out: &mut Flow) {
        state.held.extend_from_slice(text);
    }

    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        let is_later = std::mem::replace(&mut state.is_later, true);
        out.token(self.added_text(take_text(&mut state.held), is_later).as_bytes());
        Ok(())
    }

    fn settled(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        (!is_part).then(|| self.added_text(take_text(&mut token.to_vec()), true).into_bytes())
    }

    fn is_settled(&self, state: &StepState) -> bool {
        state.is_later
    }
}
