//! ByteFallback: replaces a run of tokens `<0xHH>` by the text of their bytes, or by one U+FFFD for each byte if the
//! bytes are not UTF-8.
//!
//! A run is decoded as a whole, so its bytes are held back until a token arrives that represents no byte. An eager
//! decoder does not wait for the end of the run: it writes each character when the bytes of the character are complete,
//! and one U+FFFD for each byte from the first byte on that cannot be part of a character. The text is the same, except
//! for a run with a character before a byte that is not UTF-8. A token
//! represents a byte if the token has the form `<0x..>`, with six bytes, and Rust parses the two bytes after `<0x` as a
//! hexadecimal number; so `<0x+F>` represents a byte too. All other tokens pass unchanged.

use polytok_memory::{Copied, Grow};

use super::super::traced::TracedText;
use super::flow::TokenFlow;
use super::step::{ChainStep, StepState};
use crate::error::Result;

/// The length of `<0xHH>`.
const BYTE_TOKEN_LEN: usize = 6;

pub(super) struct ByteFallbackDecoder;

impl ChainStep for ByteFallbackDecoder {
    fn push_text(&self, state: &mut StepState, text: &[u8], out: &mut TokenFlow) {
        if !state.passes_unchanged && state.held_text.len() + text.len() <= BYTE_TOKEN_LEN {
            state.held_text.checked_extend_from_slice(text);
            return;
        }
        if !state.passes_unchanged {
            flush(state, out);
            out.push(&state.held_text);
            state.held_text.clear();
            state.passes_unchanged = true;
        }
        out.push(text);
    }

    fn end_token(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        if std::mem::take(&mut state.passes_unchanged) {
            out.end_token();
        } else if let Some(byte) = byte_of_token(&state.held_text) {
            state.held_bytes.checked_push(byte);
            if state.is_eager {
                let mut text = Vec::new();
                append_characters(&mut state.held_bytes, &mut state.has_broken_run, &mut text);
                state.has_open_run |= !text.is_empty();
                out.push(&text);
            }
        } else {
            flush(state, out);
            out.push_token(&state.held_text);
        }
        state.held_text.clear();
        Ok(())
    }

    fn finish(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        flush(state, out);
        Ok(())
    }

    fn settled_output(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        (!is_part && byte_of_token(token).is_none()).then(|| token.checked_to_vec())
    }

    fn is_settled(&self, state: &StepState) -> bool {
        state.held_bytes.is_empty() && !state.has_open_run && !state.has_broken_run
    }

    fn represented_byte(&self, token: &[u8]) -> Option<u8> {
        byte_of_token(token)
    }

    fn apply_traced(&self, tokens: Vec<TracedText>) -> Result<Vec<TracedText>> {
        let (mut out, mut run) = (Vec::new(), Vec::new());
        for token in tokens {
            match byte_of_token(&token.bytes) {
                Some(byte) => {
                    run.checked_push(TracedText { bytes: vec![byte], sources: vec![token.whole], whole: token.whole })
                }
                None => {
                    append_traced_run(&mut run, &mut out);
                    out.checked_push(token);
                }
            }
        }
        append_traced_run(&mut run, &mut out);
        Ok(out)
    }
}

/// Appends the text of a run of bytes, and empties the run.
pub(super) fn append_run(run: &mut Vec<u8>, out: &mut Vec<u8>) {
    if std::str::from_utf8(run).is_ok() {
        out.checked_extend_from_slice(run);
    } else {
        run.iter().for_each(|_| out.checked_extend_from_slice("\u{FFFD}".as_bytes()));
    }
    run.clear();
}

/// Appends the tokens of a run of bytes, and empties the run.
fn append_traced_run(run: &mut Vec<TracedText>, out: &mut Vec<TracedText>) {
    let joined = TracedText::join(run);
    if std::str::from_utf8(&joined.bytes).is_err() {
        let replacement = |byte: &TracedText| {
            let mut text = TracedText::empty(byte.whole);
            text.push("\u{FFFD}".as_bytes(), byte.whole);
            text
        };
        out.checked_extend(run.iter().map(replacement));
    } else if !run.is_empty() {
        out.checked_push(joined);
    }
    run.clear();
}

fn byte_of_token(token: &[u8]) -> Option<u8> {
    let digits = token.strip_prefix(b"<0x")?.strip_suffix(b">").filter(|_| token.len() == BYTE_TOKEN_LEN)?;
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Appends the characters that are complete; the bytes of an incomplete character stay in the run. From the first byte on
/// that is not part of a character, the run is broken, and each byte becomes a U+FFFD.
pub(super) fn append_characters(run: &mut Vec<u8>, is_broken: &mut bool, out: &mut Vec<u8>) {
    let valid_len = match std::str::from_utf8(run) {
        _ if *is_broken => 0,
        Ok(text) => text.len(),
        Err(error) => {
            *is_broken = error.error_len().is_some();
            error.valid_up_to()
        }
    };
    out.checked_extend_from_slice(&run[..valid_len]);
    run.drain(..valid_len);
    if *is_broken {
        run.iter().for_each(|_| out.checked_extend_from_slice("\u{FFFD}".as_bytes()));
        run.clear();
    }
}

/// Writes the text of the run as tokens, and empties the run.
fn flush(state: &mut StepState, out: &mut TokenFlow) {
    state.has_broken_run = false;
    if std::mem::take(&mut state.has_open_run) {
        out.end_token();
    }
    if std::str::from_utf8(&state.held_bytes).is_err() {
        for _ in 0..state.held_bytes.len() {
            out.push_token("\u{FFFD}".as_bytes());
        }
    } else if !state.held_bytes.is_empty() {
        out.push_token(&state.held_bytes);
    }
    state.held_bytes.clear();
}
