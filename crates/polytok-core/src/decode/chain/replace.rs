//! Replace: replaces every match in a token by a literal text.
//!
//! A literal pattern is replaced while the parts of a token arrive; a regular expression is replaced when the token is
//! complete. An empty token stays empty.

use polytok_memory::{Collect, Grow, TryCollect};

use super::super::traced::TracedText;
use super::flow::TokenFlow;
use super::literal::LiteralReplacer;
use super::step::{ChainStep, StepState};
use super::take_text;
use crate::error::Result;
use crate::normalize::growth::{BoundedOutput, limit};
use crate::normalize::output::AlignedOutput;
use crate::normalize::replace::Replacer;
use crate::spec;

/// Compiles the step.
pub(super) fn compile(spec: &spec::Replace) -> Result<Box<dyn ChainStep>> {
    Ok(if spec.pattern.is_regex {
        Box::new(ReplaceMatches { replacer: Replacer::compile(spec)? })
    } else {
        Box::new(ReplaceLiteral {
            replacer: LiteralReplacer::new(spec.pattern.text.as_bytes()),
            content: spec.content.clone().into(),
        })
    })
}

/// The step for a literal pattern.
struct ReplaceLiteral {
    replacer: LiteralReplacer,
    content: Vec<u8>,
}

impl ChainStep for ReplaceLiteral {
    fn push_text(&self, state: &mut StepState, text: &[u8], out: &mut TokenFlow) {
        self.replacer.push(&mut state.count, text, &self.content, out);
    }

    fn end_token(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        self.replacer.finish(&mut state.count, &self.content, out);
        out.end_token();
        Ok(())
    }

    fn settled_output(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        self.replacer.replace(token, &self.content, limit(token.len())).filter(|_| !is_part)
    }

    fn apply_traced(&self, tokens: Vec<TracedText>) -> Result<Vec<TracedText>> {
        tokens.iter().map(|token| self.replacer.replace_traced(token, &self.content)).checked_try_collect()
    }
}

/// The step for a regular expression.
struct ReplaceMatches {
    replacer: Replacer,
}

impl ReplaceMatches {
    fn apply(&self, token: &str) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        BoundedOutput::run(limit(token.len()), &mut text, |out| self.replacer.apply(token.as_bytes(), out))??;
        Ok(text)
    }
}

impl ChainStep for ReplaceMatches {
    fn push_text(&self, state: &mut StepState, text: &[u8], _out: &mut TokenFlow) {
        state.held_text.checked_extend_from_slice(text);
    }

    fn end_token(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        out.push_token(&self.apply(&take_text(&mut state.held_text))?);
        Ok(())
    }

    fn settled_output(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        let token = std::str::from_utf8(token).ok().filter(|_| !is_part)?;
        self.apply(token).ok()
    }

    fn apply_traced(&self, tokens: Vec<TracedText>) -> Result<Vec<TracedText>> {
        let apply = |token: TracedText| {
            let mut out = AlignedOutput::new(&token.sources);
            BoundedOutput::run(limit(token.bytes.len()), &mut out, |out| self.replacer.apply(&token.bytes, out))??;
            // Text that is inserted at the start comes from the first id of the token.
            let (first, _) = token.whole;
            let sources = out.spans.iter().map(|&(start, end)| (start.max(first), end.max(first))).checked_collect();
            Ok(TracedText { bytes: out.text, sources, whole: token.whole })
        };
        tokens.into_iter().map(apply).checked_try_collect()
    }
}
