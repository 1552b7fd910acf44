//! What a step of the chain is: a state machine that takes tokens in parts and passes tokens on in parts.

use super::flow::Flow;
use crate::error::Result;

/// A compiled step. Each call appends to `out` all that can no longer change.
pub(super) trait Step: Send + Sync {
    /// More of the token that is growing.
    fn text(&self, state: &mut State, text: &[u8], out: &mut Flow);

    /// The token is complete.
    fn end(&self, state: &mut State, out: &mut Flow) -> Result<()>;

    /// There are no more tokens.
    fn finish(&self, _state: &mut State, _out: &mut Flow) -> Result<()> {
        Ok(())
    }

    /// What becomes of a token in a settled state if that depends on nothing but the token and leaves the state settled. With
    /// `is_part` it is a part of a token that never ends.
    fn settled(&self, _token: &[u8], _is_part: bool) -> Option<Vec<u8>> {
        None
    }

    /// Whether `settled` holds from here on.
    fn is_settled(&self, _state: &State) -> bool {
        true
    }

    /// Whether all that it gets passes unchanged in a settled state.
    fn is_idle(&self) -> bool {
        false
    }

    /// The byte that a whole token stands for, if this is the step that collects bytes.
    fn byte(&self, _token: &[u8]) -> Option<u8> {
        None
    }

    /// Whether what it passes on is one token that ends with the input.
    fn fuses(&self) -> bool {
        false
    }
}

/// What a step remembers; each uses what it needs.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Text of the growing token that waits.
    pub held: Vec<u8>,
    /// Bytes of former tokens that wait.
    pub run: Vec<u8>,
    /// The whole token before.
    pub before: Option<Vec<u8>>,
    /// A number of characters or bytes of the growing token.
    pub count: usize,
    /// The growing token is passed on as it comes.
    pub passes: bool,
    /// A token was before this one.
    pub is_later: bool,
}
