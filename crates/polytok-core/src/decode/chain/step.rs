//! A step of the chain: a state machine that reads tokens in parts and writes tokens in parts.

use super::flow::Flow;
use crate::error::Result;

/// A compiled step. Each call appends to `out` everything that can no longer change.
pub(super) trait ChainStep: Send + Sync {
    /// Processes a part of a token.
    fn text(&self, state: &mut StepState, text: &[u8], out: &mut Flow);

    /// Ends the token.
    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()>;

    /// Ends the list of tokens.
    fn finish(&self, _state: &mut StepState, _out: &mut Flow) -> Result<()> {
        Ok(())
    }

    /// Returns the output for a token in a settled state, if the output depends only on the token and the state stays
    /// settled. If `is_part` is true, the input is a part of a token that ends only with the whole input.
    fn settled(&self, _token: &[u8], _is_part: bool) -> Option<Vec<u8>> {
        None
    }

    /// Reports whether the state is settled.
    fn is_settled(&self, _state: &StepState) -> bool {
        true
    }

    /// Reports whether every token passes unchanged in a settled state.
    fn is_idle(&self) -> bool {
        false
    }

    /// Returns the byte that a token such as `<0xHH>` represents, if this is the step that collects bytes.
    fn byte(&self, _token: &[u8]) -> Option<u8> {
        None
    }

    /// Reports whether the step writes a single token, which ends with the input.
    fn fuses(&self) -> bool {
        false
    }
}

/// The state of a step; each step uses the fields that it needs.
#[derive(Clone, Debug, Default)]
pub(super) struct StepState {
    /// The text of the incomplete token that is held back.
    pub held: Vec<u8>,
    /// The bytes of earlier tokens that are held back.
    pub run: Vec<u8>,
    /// The previous token.
    pub previous: Option<Vec<u8>>,
    /// The number of characters or bytes of the incomplete token that the step has counted.
    pub count: usize,
    /// True if the remainder of the incomplete token passes unchanged.
    pub passes: bool,
    /// True if the incomplete token is not the first.
    pub is_later: bool,
}
