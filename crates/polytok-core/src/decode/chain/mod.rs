//! Hugging Face's decoders: ids are converted to tokens, and a chain of steps rewrites the list of tokens to a text.
//!
//! Reference: `decode` of tokenizers 0.23. The text of an id is the text of the added token with this id or, without
//! such a token, the text of the row. An unknown id is skipped. Without a chain, tokens are joined with spaces. Each
//! step is a state machine that accepts its input in parts ([`ChainStep`]), so decoding in parts cannot differ from
//! decoding a whole sequence. A step holds back text that can still change. The whole text is held back only if a
//! regular expression, a WordPiece cleanup or a CTC comes after a Fuse.
//!
//! A chain is *settled* when no step holds back a run of bytes and the start of the text is already stripped. In a
//! settled chain the text of most rows does not depend on their neighbours, so it is computed once for each row. If no
//! step after ByteFallback changes text in a settled chain (as in Llama's chain), byte rows are decoded without running
//! the steps too. Cost: linear; each row whose text depends on its neighbours costs a pass through all steps.

mod bpe;
mod byte_fallback;
mod byte_level;
mod cleanup;
mod ctc;
mod flow;
mod fuse;
mod literal;
mod metaspace;
mod replace;
mod step;
mod strip;
mod wordpiece;

use std::borrow::Cow;

use super::row_texts::{RowTexts, Settled};
use crate::byte_level::to_text;
use crate::error::Result;
use crate::normalize::growth::{growth_error, limit};
use crate::spec::{DecodeStep, Kind};
use crate::special::Specials;
use crate::token_id::TokenId;
use crate::vocab::{Row, Vocab};
use byte_fallback::append_run;
use flow::Flow;
use step::{ChainStep, StepState};

/// A compiled chain.
pub struct DecodeChain {
    steps: Vec<Box<dyn ChainStep>>,
    byte_level: bool,
    /// The index of the ByteFallback step, if all steps after it are idle.
    fallback: Option<usize>,
}

/// The state of a chain between ids.
#[derive(Clone, Debug, Default)]
pub struct ChainState {
    steps: Vec<StepState>,
    is_settled: bool,
    /// The run of bytes, while the steps are settled.
    run: Vec<u8>,
    input: Flow,
    output: Flow,
}

impl ChainState {
    /// Reports whether every step is settled and there is no run of bytes.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.is_settled && self.run.is_empty()
    }
}

/// Returns the largest total size, in bytes, of the stored texts of a vocabulary; the steps decode the rows whose texts
/// are not stored.
pub fn max_text_bytes(vocab: &Vocab) -> usize {
    (vocab.blob().len() * 8 + vocab.len() * 16).saturating_add(1 << 20)
}

impl DecodeChain {
    /// Compiles the steps; without `steps`, tokens are joined with spaces. With `byte_level`, rows are bytes, which are
    /// first converted to GPT-2's characters.
    pub fn compile(steps: Option<&[DecodeStep]>, byte_level: bool) -> Result<DecodeChain> {
        let steps = match steps {
            None => vec![Box::new(fuse::Join) as Box<dyn ChainStep>],
            Some(steps) => compile_steps(steps)?,
        };
        let fallback = find_fallback(&steps);
        Ok(DecodeChain { steps, byte_level, fallback })
    }

    /// Returns the output of a row when every step is settled, and subtracts its length from `room`.
    pub(super) fn settled_text<'a>(
        &self,
        vocab: &'a Vocab,
        specials: &'a Specials,
        row: Row,
        room: &mut usize,
    ) -> Settled<'a> {
        let token = token_text(vocab, specials, vocab.id(row), self.byte_level).unwrap_or_default();
        let settled = settle(&self.steps, self.fallback, &token);
        let Settled::Text(text) = &settled else { return settled };
        match room.checked_sub(text.len()) {
            Some(remaining_room) => *room = remaining_room,
            None => return Settled::Depends,
        }
        settled
    }

    /// Appends the bytes of one id.
    pub(super) fn push(
        &self,
        vocab: &Vocab,
        specials: &Specials,
        texts: &RowTexts,
        id: TokenId,
        state: &mut ChainState,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if state.is_settled
            && let Some(row) = vocab.row(id)
        {
            match texts.get(row) {
                Settled::Byte(byte) => {
                    state.run.push(byte);
                    return Ok(());
                }
                Settled::Text(text) => {
                    append_run(&mut state.run, out);
                    out.extend_from_slice(&text);
                    return Ok(());
                }
                Settled::Depends => {}
            }
        }
        match token_text(vocab, specials, id, self.byte_level) {
            Some(token) => self.push_token(&token, state, out),
            None => Ok(()),
        }
    }

    /// Appends the bytes that are held back at the end, and resets the state.
    pub fn finish(&self, state: &mut ChainState, out: &mut Vec<u8>) -> Result<()> {
        self.resume_steps(state);
        let result = self.run(state, true, out);
        *state = ChainState::default();
        result
    }

    /// Sends a token through the steps.
    fn push_token(&self, token: &[u8], state: &mut ChainState, out: &mut Vec<u8>) -> Result<()> {
        self.resume_steps(state);
        state.input.token(token);
        self.run(state, false, out)?;
        if let Some(fallback) = self.fallback {
            std::mem::swap(&mut state.run, &mut state.steps[fallback].run);
        }
        state.is_settled = self.steps.iter().zip(&state.steps).all(|(step, state)| step.is_settled(state));
        Ok(())
    }

    /// Prepares the steps for input, and gives the run of bytes back to its step.
    fn resume_steps(&self, state: &mut ChainState) {
        state.steps.resize_with(self.steps.len(), StepState::default);
        if let Some(fallback) = self.fallback {
            std::mem::swap(&mut state.run, &mut state.steps[fallback].run);
        }
        state.input.clear();
    }

    /// Sends the input through all steps; `is_last` is true if no input follows.
    fn run(&self, state: &mut ChainState, is_last: bool, out: &mut Vec<u8>) -> Result<()> {
        let ChainState { steps, input, output, .. } = state;
        let held_len = steps.iter().map(|state| state.held.len() + state.run.len()).sum::<usize>();
        let max_len = limit(input.text().len() + held_len);
        for (step, state) in self.steps.iter().zip(steps) {
            output.reset(max_len);
            for (text, is_complete) in input.parts() {
                if !text.is_empty() {
                    step.text(state, text, output);
                }
                if is_complete {
                    step.end(state, output)?;
                }
            }
            if is_last {
                step.finish(state, output)?;
            }
            if output.is_over() {
                return Err(growth_error("decoding"));
            }
            std::mem::swap(input, output);
        }
        out.extend_from_slice(input.text());
        Ok(())
    }
}

/// Returns the text of an id, with U+FFFD for bytes that are not UTF-8; None if no token has the id.
fn token_text<'a>(vocab: &'a Vocab, specials: &'a Specials, id: TokenId, byte_level: bool) -> Option<Cow<'a, [u8]>> {
    if let Some(text) = specials.printed_text(id) {
        return Some(to_valid_utf8(text));
    }
    let row = vocab.row(id)?;
    let bytes = vocab.bytes(row);
    // A row of kind Unused has characters that are not in GPT-2's table, so the row is text, not bytes.
    Some(match byte_level && vocab.kind(row) != Kind::Unused {
        true => to_text(bytes).into_bytes().into(),
        false => to_valid_utf8(bytes),
    })
}

/// Replaces bytes that are not UTF-8 by U+FFFD.
fn to_valid_utf8(text: &[u8]) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(text) {
        Cow::Borrowed(_) => text.into(),
        Cow::Owned(text) => text.into_bytes().into(),
    }
}

fn compile_steps(steps: &[DecodeStep]) -> Result<Vec<Box<dyn ChainStep>>> {
    // A Fuse at the end changes no text, and a ByteLevel before it must be compiled as the last step.
    let len = steps.iter().rposition(|step| !matches!(step, DecodeStep::Fuse)).map_or(0, |last| last + 1);
    let mut compiled = Vec::with_capacity(len);
    let mut is_fused = false;
    for (i, step) in steps[..len].iter().enumerate() {
        let step = compile_step(step, i + 1 == len, is_fused)?;
        is_fused |= step.fuses();
        compiled.push(step);
    }
    Ok(compiled)
}

/// Compiles a step. `is_fused` is true after a Fuse, when there is a single token that ends with the input.
fn compile_step(step: &DecodeStep, is_last: bool, is_fused: bool) -> Result<Box<dyn ChainStep>> {
    Ok(match step {
        DecodeStep::ByteLevel => Box::new(byte_level::ByteLevelDecoder { is_last }),
        DecodeStep::Bpe { suffix } => Box::new(bpe::BpeDecoder { suffix: suffix.clone() }),
        DecodeStep::WordPiece { prefix, cleanup } => {
            Box::new(wordpiece::WordPieceDecoder { prefix: prefix.clone(), cleanup: *cleanup })
        }
        DecodeStep::Metaspace { replacement, prepend } => {
            Box::new(metaspace::MetaspaceDecoder::new(replacement, *prepend))
        }
        DecodeStep::Ctc { pad, delimiter, cleanup } => {
            Box::new(ctc::CtcDecoder { pad: pad.clone(), delimiter: delimiter.clone(), cleanup: *cleanup })
        }
        DecodeStep::Replace(spec) => replace::compile(spec)?,
        DecodeStep::Strip { content, start, stop } => {
            Box::new(strip::StripDecoder::new(*content, *start, *stop, is_fused))
        }
        DecodeStep::ByteFallback => Box::new(byte_fallback::ByteFallbackDecoder),
        DecodeStep::Fuse => Box::new(fuse::FuseDecoder),
    })
}

/// Returns the index of the step that collects bytes, if the steps before it pass whole tokens and the steps after it
/// are idle.
fn find_fallback(steps: &[Box<dyn ChainStep>]) -> Option<usize> {
    let index = steps.iter().position(|step| step.byte(b"<0x00>").is_some())?;
    let has_whole_tokens = !steps[..index].iter().any(|step| step.fuses());
    (has_whole_tokens && steps[index + 1..].iter().all(|step| step.is_idle())).then_some(index)
}

/// Computes the output of a token when every step is settled.
fn settle(steps: &[Box<dyn ChainStep>], fallback: Option<usize>, token: &[u8]) -> Settled<'static> {
    let mut text = token.to_vec();
    let mut is_part = false;
    for (i, step) in steps.iter().enumerate() {
        if let Some(byte) = step.byte(&text).filter(|_| fallback == Some(i)) {
            return Settled::Byte(byte);
        }
        match step.settled(&text, is_part) {
            Some(settled) if settled.len() <= limit(token.len()) => text = settled,
            _ => return Settled::Depends,
        }
        is_part |= step.fuses();
    }
    Settled::Text(text.into())
}

/// Returns the text of a token that came in parts, and empties `held`.
fn take_text(held: &mut Vec<u8>) -> String {
    match String::from_utf8(std::mem::take(held)) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}
