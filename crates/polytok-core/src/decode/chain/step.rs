//! A step of the chain: a state machine that takes tokens in parts and passes tokens on in parts.

use super::flow::Flow;
use crate::error::Result;

/// A compiled step. Each call appends to `out` everything that can no longer change.
pub(super) trait ChainStep: Send + Sync {
    /// More of the token that is growing.
    fn text(&self, state: &mut StepState, text: &[u8], out: &mut Flow);

    /// The token is complete.
    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()>;

    /// There are no more tokens.
    fn finish(&self, _state: &mut StepState, _out: &mut Flow) -> Result<()> {
        Ok(())
    }

    /// The output for a token in a settled state, if it depends only on the token and the state stays settled. With
    /// `is_part` the input is a part of a token that never ends.
    fn settled(&self, _token: &[u8], _is_part: bool) -> Option<Vec<u8>> {
        None
    }

    /// Whether the state is settled.
    fn is_settled(&self, _state: &StepState) -> bool {
        true
    }

    /// Whether every token passes unchanged in a settled state.
    fn is_idle(&self) -> bool {
        false
    }

    /// The byte that a whole token stands for, if this is the step that collects bytes.
    fn byte(&self, _token: &[u8]) -> Option<u8> {
        None
    }

    /// Whether it passes on a single token, which ends with the input.
    fn fuses(&self) -> bool {
        false
    }
}

/// The state of a step; each step uses the fields that it needs.
#[derive(Clone, Debug, Default)]
pub(super) struct StepState {
    /// Text of the growing token that is held back.
    pub held: Vec<u8>,
    /// Bytes of earlier tokens that are held back.
    pub run: Vec<u8>,
    /// The previous token.
    pub before: Option<Vec<u8>>,
    /// A number of characters or bytes of the growing token.
    pub count: usize,
    /// Whether the growing token passes unchanged.
    pub passes: bool,
    /// Whether there was a token before this one.
    pub is_later: bool,
}
