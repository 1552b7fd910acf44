//! Hugging Face's decoders: ids → tokens → a chain of steps that rewrite the list of tokens → text.
//!
//! Reference: `decode` of tokenizers 0.23. The text of an id is that of its added token, or else of its row; an unknown
//! id is skipped. Without a chain tokens are joined with spaces. Each step is a state machine that takes its input in
//! parts ([`step::Step`]), so decoding in parts cannot differ from decoding at once. It holds back text that can still
//! change. That is the whole text only if a regular expression, a WordPiece cleanup or a CTC comes after a Fuse.
//!
//! Every step settles: no run of bytes is open, and the start of the text is stripped. Then the text of most rows does
//! not depend on their neighbours; it is computed by sending each row through the steps. If no step after ByteFallback
//! changes settled text (as in Llama's chain), rows of bytes are fast too. Cost: linear; each row that is not fast
//! costs a pass through all steps.

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
use crate::normalize::growth::{limit, too_long};
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
    /// The ByteFallback after which all steps are idle.
    fallback: Option<usize>,
}

/// The state of a chain between ids.
#[derive(Clone, Debug, Default)]
pub struct ChainState {
    steps: Vec<StepState>,
    is_settled: bool,
    /// The run of bytes while the steps are settled.
    run: Vec<u8>,
    input: Flow,
    output: Flow,
}

impl ChainState {
    /// Whether every step is settled and no run is open.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.is_settled && self.run.is_empty()
    }
}

/// The most bytes of a vocabulary's settled texts; rows that do not fit go through the steps.
pub fn room(vocab: &Vocab) -> usize {
    (vocab.blob().len() * 8 + vocab.len() * 16).saturating_add(1 << 20)
}

impl DecodeChain {
    /// Compiles the steps, or the joining with spaces if there are none. With `byte_level` rows are bytes, which first
    /// become GPT-2's characters.
    pub fn compile(steps: Option<&[DecodeStep]>, byte_level: bool) -> Result<DecodeChain> {
        let steps = match steps {
            None => vec![Box::new(fuse::Join) as Box<dyn ChainStep>],
            Some(steps) => compile_steps(steps)?,
        };
        let fallback = fallback(&steps);
        Ok(DecodeChain { steps, byte_level, fallback })
    }

    /// The output of a row when every step is settled; its length is taken from the `room`.
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
            Some(rest) => *room = rest,
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
        self.leave_fast(state);
        let result = self.run(state, true, out);
        *state = ChainState::default();
        result
    }

    fn push_token(&self, token: &[u8], state: &mut ChainState, out: &mut Vec<u8>) -> Result<()> {
        self.leave_fast(state);
        state.input.token(token);
        self.run(state, false, out)?;
        if let Some(fallback) = self.fallback {
            std::mem::swap(&mut state.run, &mut state.steps[fallback].run);
        }
        state.is_settled = self.steps.iter().zip(&state.steps).all(|(step, state)| step.is_settled(state));
        Ok(())
    }

    /// Makes the steps ready for input.
    fn leave_fast(&self, state: &mut ChainState) {
        state.steps.resize_with(self.steps.len(), StepState::default);
        if let Some(fallback) = self.fallback {
            std::mem::swap(&mut state.run, &mut state.steps[fallback].run);
        }
        state.input.clear();
    }

    /// Sends the input through all steps.
    fn run(&self, state: &mut ChainState, is_last: bool, out: &mut Vec<u8>) -> Result<()> {
        let ChainState { steps, input, output, .. } = state;
        let waiting = steps.iter().map(|memory| memory.held.len() + memory.run.len()).sum::<usize>();
        let most = limit(input.text().len() + waiting);
        for (step, memory) in self.steps.iter().zip(steps) {
            output.reset(most);
            for (text, is_whole) in input.parts() {
                if !text.is_empty() {
                    step.text(memory, text, output);
                }
                if is_whole {
                    step.end(memory, output)?;
                }
            }
            if is_last {
                step.finish(memory, output)?;
            }
            if output.is_over() {
                return Err(too_long("decoding"));
            }
            std::mem::swap(input, output);
        }
        out.extend_from_slice(input.text());
        Ok(())
    }
}

/// The text of an id; bytes that are not UTF-8 become U+FFFD.
fn token_text<'a>(vocab: &'a Vocab, specials: &'a Specials, id: TokenId, byte_level: bool) -> Option<Cow<'a, [u8]>> {
    if let Some(text) = specials.printed(id) {
        return Some(valid(text));
    }
    let row = vocab.row(id)?;
    let bytes = vocab.bytes(row);
    // A row with characters that are not in the table is text, which the model cannot use.
    Some(if byte_level && vocab.kind(row) != Kind::Unused { to_text(bytes).into_bytes().into() } else { valid(bytes) })
}

fn valid(text: &[u8]) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(text) {
        Cow::Borrowed(_) => text.into(),
        Cow::Owned(text) => text.into_bytes().into(),
    }
}

fn compile_steps(steps: &[DecodeStep]) -> Result<Vec<Box<dyn ChainStep>>> {
    // A Fuse at the end changes no text, but after it a ByteLevel would not be the last step.
    let len = steps.iter().rposition(|step| !matches!(step, DecodeStep::Fuse)).map_or(0, |last| last + 1);
    let mut compiled = Vec::with_capacity(len);
    let mut grows = false;
    for (i, step) in steps[..len].iter().enumerate() {
        let step = compile_step(step, i + 1 == len, grows)?;
        grows |= step.fuses();
        compiled.push(step);
    }
    Ok(compiled)
}

/// `grows`: there is one token, and it ends with the input.
fn compile_step(step: &DecodeStep, is_last: bool, grows: bool) -> Result<Box<dyn ChainStep>> {
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
            Box::new(strip::StripDecoder::new(*content, *start, *stop, grows))
        }
        DecodeStep::ByteFallback => Box::new(byte_fallback::ByteFallbackDecoder),
        DecodeStep::Fuse => Box::new(fuse::FuseDecoder),
    })
}

/// The step that collects bytes, if the steps before it take whole tokens and those after it are idle.
fn fallback(steps: &[Box<dyn ChainStep>]) -> Option<usize> {
    let found = steps.iter().position(|step| step.byte(b"<0x00>").is_some())?;
    let is_whole = !steps[..found].iter().any(|step| step.fuses());
    (is_whole && steps[found + 1..].iter().all(|step| step.is_idle())).then_some(found)
}

/// The output of a token when every step is settled.
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

/// A token that came in parts, as text.
fn take_text(held: &mut Vec<u8>) -> String {
    match String::from_utf8(std::mem::take(held)) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}
