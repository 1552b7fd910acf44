//! A step of the chain: a state machine that reads tokens in parts and writes tokens in parts.

use super::super::traced::TracedText;
use super::flow::TokenFlow;
use crate::error::Result;

/// A compiled step. Each call appends to `out` all text that later input cannot change.
pub(super) trait ChainStep: Send + Sync {
    /// Processes the next part of the current token.
    fn push_text(&self, state: &mut StepState, text: &[u8], out: &mut TokenFlow);

    /// Ends the current token.
    fn end_token(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()>;

    /// Ends the list of tokens.
    fn finish(&self, _state: &mut StepState, _out: &mut TokenFlow) -> Result<()> {
        Ok(())
    }

    /// Returns the output for a whole token in a settled state; None if the output depends on more than the token, or
    /// if the state would not stay settled. If `is_part` is true, `_token` is only a part of the single token that an
    /// earlier step writes.
    fn settled_output(&self, _token: &[u8], _is_part: bool) -> Option<Vec<u8>> {
        None
    }

    /// Reports whether the step holds back no bytes and has done all changes to the start of the text.
    fn is_settled(&self, _state: &StepState) -> bool {
        true
    }

    /// Reports whether the step keeps every token unchanged in a settled state.
    fn keeps_tokens(&self) -> bool {
        false
    }

    /// Returns the byte that a token such as `<0xHH>` represents; only the ByteFallback step returns bytes.
    fn represented_byte(&self, _token: &[u8]) -> Option<u8> {
        None
    }

    /// Runs the step over all tokens, and keeps the sources of their bytes.
    fn apply_traced(&self, tokens: Vec<TracedText>) -> Result<Vec<TracedText>>;

    /// Reports whether the step writes a single token, which ends with the input.
    fn writes_one_token(&self) -> bool {
        false
    }
}

/// The state of a step; each step uses the fields that it needs.
#[derive(Clone, Debug, Default)]
pub(super) struct StepState {
    /// The text of the incomplete token, if the step holds back this text.
    pub held_text: Vec<u8>,
    /// The bytes of earlier tokens that the step holds back.
    pub held_bytes: Vec<u8>,
    /// The previous token.
    pub previous_token: Option<Vec<u8>>,
    /// A number of characters or bytes of the incomplete token; each step counts something else.
    pub count: usize,
    /// True if the step no longer changes the incomplete token.
    pub passes_unchanged: bool,
    /// True if a token was complete before the incomplete token.
    pub is_later: bool,
    /// True if the decoder writes each character of a run of byte tokens at once.
    pub is_eager: bool,
    /// True if the step has written a part of a run of byte tokens.
    pub has_open_run: bool,
    /// True if a run of byte tokens has a byte that is not part of a character.
    pub has_broken_run: bool,
}
