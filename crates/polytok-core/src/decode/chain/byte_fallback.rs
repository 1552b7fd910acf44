//! ByteFallback: replaces a run of tokens `<0xHH>` by the text of their bytes, or by one U+FFFD for each byte if the
//! bytes are not UTF-8.
//!
//! A run is decoded as a whole, so it is held back until the next token. A token represents a byte if the token has six
//! bytes and Rust parses the two bytes after `<0x` as a number; so `<0x+F>` represents a byte too. A longer token
//! passes unchanged.

use super::flow::Flow;
use super::step::{ChainStep, StepState};
use crate::error::Result;

/// The length of `<0xHH>`.
const LEN: usize = 6;

pub(super) struct ByteFallbackDecoder;

impl ChainStep for ByteFallbackDecoder {
    fn text(&self, state: &mut StepState, text: &[u8], out: &mut Flow) {
        if !state.passes && state.held.len() + text.len() <= LEN {
            state.held.extend_from_slice(text);
            return;
        }
        if !state.passes {
            flush(state, out);
            out.push(&state.held);
            state.held.clear();
            state.passes = true;
        }
        out.push(text);
    }

    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        if std::mem::take(&mut state.passes) {
            out.end();
        } else if let Some(byte) = byte_of(&state.held) {
            state.run.push(byte);
        } else {
            flush(state, out);
            out.token(&state.held);
        }
        state.held.clear();
        Ok(())
    }

    fn finish(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        flush(state, out);
        Ok(())
    }

    fn settled(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        (!is_part && byte_of(token).is_none()).then(|| token.to_vec())
    }

    fn is_settled(&self, state: &StepState) -> bool {
        state.run.is_empty()
    }

    fn byte(&self, token: &[u8]) -> Option<u8> {
        byte_of(token)
    }
}

/// Appends the text of a run and empties it.
pub(super) fn append_run(run: &mut Vec<u8>, out: &mut Vec<u8>) {
    if std::str::from_utf8(run).is_ok() {
        out.extend_from_slice(run);
    } else {
        out.extend_from_slice("\u{FFFD}".repeat(run.len()).as_bytes());
    }
    run.clear();
}

fn byte_of(token: &[u8]) -> Option<u8> {
    let digits = token.strip_prefix(b"<0x")?.strip_suffix(b">").filter(|_| token.len() == LEN)?;
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Writes the tokens of the run and empties it.
fn flush(state: &mut StepState, out: &mut Flow) {
    if std::str::from_utf8(&state.run).is_err() {
        for _ in 0..state.run.len() {
            out.token("\u{FFFD}".as_bytes());
        }
    } else if !state.run.is_empty() {
        out.token(&state.run);
    }
    state.run.clear();
}
