//! Hugging Face's decoders: ids are converted to tokens, and a chain of steps rewrites the list of tokens to a text.
//!
//! Reference: `decode` of tokenizers 0.23. The text of an id is the text of the added token with this id or, without
//! such a token, the text of the vocabulary row. An id that no token has is skipped. If a tokenizer has no decoder, its
//! tokens are joined with spaces. Each step is a state machine that accepts its input in parts ([`ChainStep`]), so
//! decoding ids in several calls cannot differ from decoding them in one call. A step holds back the text that later
//! input can still change. Only a chain with a regular expression, a WordPiece cleanup or a CTC after a Fuse holds back
//! the whole text.
//!
//! A chain is *settled* when no step holds back bytes and all changes to the start of the text are done. In a settled
//! chain most ids always print the same text, so the text of each vocabulary row is computed once and stored. If no
//! step after ByteFallback changes text in a settled chain (as in Llama's chain), ids of bytes are decoded without
//! running the steps too. Cost: linear; only an id without a stored text runs through all steps.

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

use byte_fallback::{append_characters, append_run};
use flow::TokenFlow;
use polytok_memory::{self as memory, Collect, Copied, Grow};
use step::{ChainStep, StepState};

use super::row_texts::{RowTexts, SettledOutput};
use super::traced::TracedText;
use crate::byte_level::to_text;
use crate::error::Result;
use crate::normalize::growth::{growth_error, limit};
use crate::spec::{DecodeStep, Kind};
use crate::special::Specials;
use crate::token_id::TokenId;
use crate::vocab::{Row, Vocab};

/// A compiled chain.
pub struct DecodeChain {
    steps: Vec<Box<dyn ChainStep>>,
    byte_level: bool,
    /// The index of the ByteFallback step, if no later step changes tokens in a settled state.
    byte_fallback_step: Option<usize>,
    /// True if the chain is settled before the first id, and writes nothing at the end if no step was run.
    starts_settled: bool,
}

/// The state of a chain between ids.
#[derive(Clone, Debug, Default)]
pub struct ChainState {
    steps: Vec<StepState>,
    is_settled: bool,
    /// The bytes that the ByteFallback step holds back; they are here between two calls, so that bytes can be added
    /// without running the steps.
    byte_run: Vec<u8>,
    /// True if the run of byte tokens is broken (byte_fallback.rs).
    has_broken_run: bool,
    /// True if each character of a run of byte tokens is written at once (byte_fallback.rs).
    is_eager: bool,
    input: TokenFlow,
    output: TokenFlow,
}

impl ChainState {
    /// Returns the state at the start of a text.
    pub fn new(is_eager: bool) -> ChainState {
        ChainState { is_eager, ..ChainState::default() }
    }

    /// Reports whether every step is settled and no bytes are held back.
    #[inline]
    fn is_settled(&self) -> bool {
        self.is_settled && self.byte_run.is_empty() && !self.has_broken_run
    }

    /// Moves the run of byte tokens from the ByteFallback step to this state, or back.
    fn swap_run(&mut self, byte_fallback_step: usize) {
        let step = &mut self.steps[byte_fallback_step];
        std::mem::swap(&mut self.byte_run, &mut step.held_bytes);
        std::mem::swap(&mut self.has_broken_run, &mut step.has_broken_run);
    }
}

/// Returns the limit in bytes for the stored texts of all rows together; rows whose texts exceed the limit are decoded
/// by the steps.
pub fn max_text_bytes(vocab: &Vocab) -> usize {
    (vocab.blob().len() * 8 + vocab.len() * 16).saturating_add(1 << 20)
}

impl DecodeChain {
    /// Compiles the steps; if `steps` is None, tokens are joined with spaces. If `byte_level` is true, the rows of the
    /// vocabulary are bytes, and decoding first converts these bytes to the characters of GPT-2's table.
    pub fn compile(steps: Option<&[DecodeStep]>, byte_level: bool) -> Result<DecodeChain> {
        let steps = match steps {
            None => vec![Box::new(fuse::SpaceJoiner) as Box<dyn ChainStep>],
            Some(steps) => compile_steps(steps)?,
        };
        let byte_fallback_step = find_byte_fallback_step(&steps);
        let mut chain = DecodeChain { steps, byte_level, byte_fallback_step, starts_settled: false };
        let mut text_of_nothing = Vec::new();
        chain.finish(&mut ChainState::default(), &mut text_of_nothing)?;
        let is_settled = chain.steps.iter().all(|step| step.is_settled(&StepState::default()));
        chain.starts_settled = is_settled && text_of_nothing.is_empty();
        Ok(chain)
    }

    /// Reports whether the texts of rows can be appended: every step is settled, and no bytes are held back.
    #[inline]
    pub(super) fn is_settled(&self, state: &mut ChainState) -> bool {
        state.is_settled |= self.starts_settled && state.steps.is_empty();
        state.is_settled()
    }

    /// Returns the output of a row when every step is settled, and subtracts the length of the output from
    /// `remaining_bytes`.
    pub(super) fn settled_text<'a>(
        &self,
        vocab: &'a Vocab,
        specials: &'a Specials,
        row: Row,
        remaining_bytes: &mut usize,
    ) -> SettledOutput<'a> {
        let token = token_text(vocab, specials, vocab.id(row), self.byte_level).unwrap_or_default();
        let output = compute_settled_output(&self.steps, self.byte_fallback_step, &token);
        let SettledOutput::Text(text) = &output else { return output };
        match remaining_bytes.checked_sub(text.len()) {
            Some(bytes_after_text) => *remaining_bytes = bytes_after_text,
            None => return SettledOutput::Depends,
        }
        output
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
                SettledOutput::Byte(byte) => {
                    state.byte_run.checked_push(byte);
                    if state.is_eager {
                        append_characters(&mut state.byte_run, &mut state.has_broken_run, out);
                    }
                    return Ok(());
                }
                SettledOutput::Text(text) => {
                    append_run(&mut state.byte_run, out);
                    state.has_broken_run = false;
                    out.checked_extend_from_slice(&text);
                    return Ok(());
                }
                SettledOutput::Depends => {}
            }
        }
        match token_text(vocab, specials, id, self.byte_level) {
            Some(token) => self.push_token(&token, state, out),
            None => Ok(()),
        }
    }

    /// Appends the bytes that are held back at the end, and resets the state.
    pub fn finish(&self, state: &mut ChainState, out: &mut Vec<u8>) -> Result<()> {
        if state.steps.is_empty() && self.is_settled(state) {
            return Ok(());
        }
        self.resume_steps(state);
        let result = self.run_steps(state, true, out);
        *state = ChainState::new(state.is_eager);
        result
    }

    /// Returns the text of an id that the steps get as input; None if no token has the id.
    pub(super) fn token<'a>(&self, vocab: &'a Vocab, specials: &'a Specials, id: TokenId) -> Option<Cow<'a, [u8]>> {
        token_text(vocab, specials, id, self.byte_level)
    }

    /// Sends all tokens through the steps, and keeps the sources of their bytes.
    pub(super) fn decode_traced(&self, tokens: impl Iterator<Item = TracedText>) -> Result<TracedText> {
        let tokens = self.steps.iter().try_fold(tokens.checked_collect(), |tokens, step| step.apply_traced(tokens))?;
        Ok(TracedText::join(&tokens))
    }

    /// Sends a token through the steps.
    fn push_token(&self, token: &[u8], state: &mut ChainState, out: &mut Vec<u8>) -> Result<()> {
        self.resume_steps(state);
        state.input.push_token(token);
        self.run_steps(state, false, out)?;
        if let Some(byte_fallback_step) = self.byte_fallback_step {
            state.swap_run(byte_fallback_step);
        }
        state.is_settled = self.steps.iter().zip(&state.steps).all(|(step, state)| step.is_settled(state));
        Ok(())
    }

    /// Prepares the steps for input, and returns the held bytes to the ByteFallback step.
    fn resume_steps(&self, state: &mut ChainState) {
        let is_eager = state.is_eager;
        state.steps.resize_with(self.steps.len(), || StepState { is_eager, ..StepState::default() });
        if let Some(byte_fallback_step) = self.byte_fallback_step {
            state.swap_run(byte_fallback_step);
        }
        state.input.clear();
    }

    /// Sends the input through all steps; `is_last` is true at the end of the ids.
    fn run_steps(&self, state: &mut ChainState, is_last: bool, out: &mut Vec<u8>) -> Result<()> {
        let ChainState { steps, input, output, .. } = state;
        let held_len = steps.iter().map(|state| state.held_text.len() + state.held_bytes.len()).sum::<usize>();
        let max_len = limit(input.text().len() + held_len);
        for (step, state) in self.steps.iter().zip(steps) {
            output.reset(max_len);
            for (text, is_complete) in input.parts() {
                if !text.is_empty() {
                    step.push_text(state, text, output);
                }
                if is_complete {
                    step.end_token(state, output)?;
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
        out.checked_extend_from_slice(input.text());
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
    // An Unused row of a byte-level vocabulary has text with characters that are not in GPT-2's table, not bytes.
    Some(match byte_level && vocab.kind(row) != Kind::Unused {
        true => to_text(bytes).into_bytes().into(),
        false => to_valid_utf8(bytes),
    })
}

/// Replaces bytes that are not UTF-8 by U+FFFD.
fn to_valid_utf8(text: &[u8]) -> Cow<'_, [u8]> {
    match memory::lossy(text) {
        Cow::Borrowed(_) => text.into(),
        Cow::Owned(text) => text.into_bytes().into(),
    }
}

fn compile_steps(steps: &[DecodeStep]) -> Result<Vec<Box<dyn ChainStep>>> {
    // A Fuse at the end changes no text, and a ByteLevel before it must be compiled as the last step.
    let len = steps.iter().rposition(|step| !matches!(step, DecodeStep::Fuse)).map_or(0, |last| last + 1);
    let mut compiled_steps = memory::with_capacity(len);
    let mut is_fused = false;
    for (i, step) in steps[..len].iter().enumerate() {
        let step = compile_step(step, i + 1 == len, is_fused)?;
        is_fused |= step.writes_one_token();
        compiled_steps.checked_push(step);
    }
    Ok(compiled_steps)
}

/// Compiles a step. `is_fused` is true if an earlier step writes a single token, which ends with the input.
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

/// Returns the index of the ByteFallback step, if all earlier steps write several tokens and no later step changes
/// tokens in a settled state.
fn find_byte_fallback_step(steps: &[Box<dyn ChainStep>]) -> Option<usize> {
    let index = steps.iter().position(|step| step.represented_byte(b"<0x00>").is_some())?;
    let has_whole_tokens = !steps[..index].iter().any(|step| step.writes_one_token());
    (has_whole_tokens && steps[index + 1..].iter().all(|step| step.keeps_tokens())).then_some(index)
}

/// Computes the output of a token when every step is settled.
fn compute_settled_output(
    steps: &[Box<dyn ChainStep>],
    byte_fallback_step: Option<usize>,
    token: &[u8],
) -> SettledOutput<'static> {
    let mut text = token.checked_to_vec();
    let mut is_part = false;
    for (i, step) in steps.iter().enumerate() {
        if let Some(byte) = step.represented_byte(&text).filter(|_| byte_fallback_step == Some(i)) {
            return SettledOutput::Byte(byte);
        }
        match step.settled_output(&text, is_part) {
            Some(settled) if settled.len() <= limit(token.len()) => text = settled,
            _ => return SettledOutput::Depends,
        }
        is_part |= step.writes_one_token();
    }
    SettledOutput::Text(text.into())
}

/// Converts the collected bytes of a token to text, and empties `token`.
fn take_text(token: &mut Vec<u8>) -> String {
    match String::from_utf8(std::mem::take(token)) {
        Ok(text) => text,
        Err(error) => memory::lossy(error.as_bytes()).into_owned(),
    }
}
