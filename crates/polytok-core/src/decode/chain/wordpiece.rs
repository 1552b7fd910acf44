//! WordPiece: joins tokens with spaces, but a token that starts with the prefix continues the word before it, without
//! the prefix. The cleanup of English punctuation can run on each token.

use polytok_memory::{Copied, Grow, TryCollect};

use super::super::traced::TracedText;
use super::cleanup::{clean_punctuation, clean_traced};
use super::flow::TokenFlow;
use super::step::{ChainStep, StepState};
use super::take_text;
use crate::error::Result;

pub(super) struct WordPieceDecoder {
    pub prefix: String,
    pub cleanup: bool,
}

impl WordPieceDecoder {
    /// Returns the text that a token adds to the output; `is_later` is false for the first token.
    fn added_text(&self, token: String, is_later: bool) -> String {
        let token = match token.strip_prefix(&self.prefix) {
            _ if !is_later => token,
            Some(suffix) => suffix.to_owned(),
            None => format!(" {token}"),
        };
        if self.cleanup { clean_punctuation(token) } else { token }
    }
}

impl ChainStep for WordPieceDecoder {
    fn push_text(&self, state: &mut StepState, text: &[u8], _out: &mut TokenFlow) {
        state.held_text.checked_extend_from_slice(text);
    }

    fn end_token(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        let is_later = std::mem::replace(&mut state.is_later, true);
        out.push_token(self.added_text(take_text(&mut state.held_text), is_later).as_bytes());
        Ok(())
    }

    fn settled_output(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        (!is_part).then(|| self.added_text(take_text(&mut token.checked_to_vec()), true).into_bytes())
    }

    fn is_settled(&self, state: &StepState) -> bool {
        state.is_later
    }

    fn apply_traced(&self, tokens: Vec<TracedText>) -> Result<Vec<TracedText>> {
        let prefix = self.prefix.as_bytes();
        let add = |(i, token): (usize, &TracedText)| {
            let mut text = TracedText::empty(token.whole);
            let is_suffix = i > 0 && token.bytes.starts_with(prefix);
            text.push(if i > 0 && !is_suffix { b" " } else { b"" }, (token.whole.0, token.whole.0));
            text.push_part(token, if is_suffix { prefix.len() } else { 0 }, token.bytes.len());
            if self.cleanup { clean_traced(text) } else { Ok(text) }
        };
        tokens.iter().enumerate().map(add).checked_try_collect()
    }
}
