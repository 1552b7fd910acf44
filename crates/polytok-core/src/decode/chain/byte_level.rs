//! ByteLevel: converts the characters of GPT-2's table to bytes, and joins all tokens to one.
//!
//! A token with a character that is not in the table stays unchanged. If this is the last step of the chain, the bytes
//! are the output. If other steps follow, bytes that are not UTF-8 are replaced by U+FFFD, and an incomplete character
//! at the end of the bytes is held back.

use polytok_memory::{self as memory, Collect, Copied, Grow};

use super::super::traced::TracedText;
use super::flow::TokenFlow;
use super::step::{ChainStep, StepState};
use crate::byte_level::to_bytes;
use crate::error::Result;
use crate::utf8::is_start;

pub(super) struct ByteLevelDecoder {
    pub is_last: bool,
}

impl ChainStep for ByteLevelDecoder {
    fn push_text(&self, state: &mut StepState, text: &[u8], _out: &mut TokenFlow) {
        state.held_text.checked_extend_from_slice(text);
    }

    fn end_token(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        let bytes = bytes_of_token(&state.held_text);
        state.held_text.clear();
        if self.is_last {
            out.push(&bytes);
        } else {
            state.held_bytes.checked_extend_from_slice(&bytes);
            flush(&mut state.held_bytes, out);
        }
        Ok(())
    }

    fn finish(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        out.push_token(memory::lossy(&state.held_bytes).as_bytes());
        state.held_bytes.clear();
        Ok(())
    }

    fn settled_output(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        let bytes = bytes_of_token(token);
        (!is_part && (self.is_last || std::str::from_utf8(&bytes).is_ok())).then_some(bytes)
    }

    fn is_settled(&self, state: &StepState) -> bool {
        state.held_bytes.is_empty()
    }

    fn writes_one_token(&self) -> bool {
        true
    }

    fn apply_traced(&self, tokens: Vec<TracedText>) -> Result<Vec<TracedText>> {
        let joined = TracedText::join(&tokens.iter().map(traced_bytes_of_token).checked_collect());
        Ok(vec![if self.is_last { joined } else { joined.to_valid_utf8() }])
    }
}

fn bytes_of_token(token: &[u8]) -> Vec<u8> {
    std::str::from_utf8(token).ok().and_then(to_bytes).unwrap_or_else(|| token.checked_to_vec())
}

/// Does the same as [`bytes_of_token`], and keeps the sources.
fn traced_bytes_of_token(token: &TracedText) -> TracedText {
    let Some(bytes) = std::str::from_utf8(&token.bytes).ok().and_then(to_bytes) else { return token.clone() };
    let starts = (0..token.bytes.len()).filter(|&at| is_start(token.bytes[at]));
    TracedText { sources: starts.map(|at| token.sources[at]).checked_collect(), bytes, whole: token.whole }
}

/// Writes all bytes except an incomplete character at the end, which stays in `bytes`.
fn flush(bytes: &mut Vec<u8>, out: &mut TokenFlow) {
    let held_len = match bytes.utf8_chunks().last() {
        Some(chunk) if is_incomplete_char(chunk.invalid()) => chunk.invalid().len(),
        _ => 0,
    };
    let written_len = bytes.len() - held_len;
    out.push(memory::lossy(&bytes[..written_len]).as_bytes());
    bytes.drain(..written_len);
}

/// Reports whether more bytes can complete `bytes` to a character.
fn is_incomplete_char(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
