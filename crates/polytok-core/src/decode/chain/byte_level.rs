//! ByteLevel: converts the characters of GPT-2's table to bytes, and joins all tokens to one.
//!
//! A token with a character that is not in the table is written unchanged, as UTF-8. At the end of the chain the bytes
//! are the output. If other steps follow, bytes that are not UTF-8 are replaced by U+FFFD, and an incomplete character
//! at the end is held back.

use super::flow::Flow;
use super::step::{ChainStep, StepState};
use crate::byte_level::to_bytes;
use crate::error::Result;

pub(super) struct ByteLevelDecoder {
    pub is_last: bool,
}

impl ChainStep for ByteLevelDecoder {
    fn text(&self, state: &mut StepState, text: &[u8], _out: &mut Flow) {
        state.held.extend_from_slice(text);
    }

    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        let bytes = bytes_of(&state.held);
        state.held.clear();
        if self.is_last {
            out.push(&bytes);
        } else {
            state.run.extend_from_slice(&bytes);
            flush(&mut state.run, out);
        }
        Ok(())
    }

    fn finish(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        out.token(String::from_utf8_lossy(&state.run).as_bytes());
        state.run.clear();
        Ok(())
    }

    fn settled(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        let bytes = bytes_of(token);
        (!is_part && (self.is_last || std::str::from_utf8(&bytes).is_ok())).then_some(bytes)
    }

    fn is_settled(&self, state: &StepState) -> bool {
        state.run.is_empty()
    }

    fn fuses(&self) -> bool {
        true
    }
}

fn bytes_of(token: &[u8]) -> Vec<u8> {
    std::str::from_utf8(token).ok().and_then(to_bytes).unwrap_or_else(|| token.to_vec())
}

/// Writes all bytes except an incomplete character at the end.
fn flush(bytes: &mut Vec<u8>, out: &mut Flow) {
    let held_len = match bytes.utf8_chunks().last() {
        Some(chunk) if can_continue(chunk.invalid()) => chunk.invalid().len(),
        _ => 0,
    };
    let written_len = bytes.len() - held_len;
    out.push(String::from_utf8_lossy(&bytes[..written_len]).as_bytes());
    bytes.drain(..written_len);
}

/// Reports whether the invalid bytes of a chunk of `Utf8Chunks` can be the start of a character.
fn can_continue(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
