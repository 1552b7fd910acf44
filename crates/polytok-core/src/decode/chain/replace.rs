//! Replace: replaces every match in a token by a literal text.
//!
//! Matches of a literal text are replaced in each part of a token, matches of a regular expression when the token is
//! complete. An empty token stays empty.

use super::flow::Flow;
use super::literal::Literal;
use super::step::{ChainStep, StepState};
use super::take_text;
use crate::error::Result;
use crate::normalize::growth::{BoundedOutput, limit};
use crate::normalize::replace::Replacer;
use crate::spec;

/// Compiles the step.
pub(super) fn compile(spec: &spec::Replace) -> Result<Box<dyn ChainStep>> {
    Ok(if spec.pattern.is_regex {
        Box::new(ReplaceMatches { replace: Replacer::compile(spec)? })
    } else {
        Box::new(ReplaceLiteral {
            literal: Literal::new(spec.pattern.text.as_bytes()),
            content: spec.content.clone().into(),
        })
    })
}

/// The step for a literal text.
struct ReplaceLiteral {
    literal: Literal,
    content: Vec<u8>,
}

impl ChainStep for ReplaceLiteral {
    fn text(&self, state: &mut StepState, text: &[u8], out: &mut Flow) {
        self.literal.push(&mut state.count, text, &self.content, out);
    }

    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        self.literal.finish(&mut state.count, &self.content, out);
        out.end();
        Ok(())
    }

    fn settled(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        self.literal.replace(token, &self.content, limit(token.len())).filter(|_| !is_part)
    }
}

/// The step for a regular expression.
struct ReplaceMatches {
    replace: Replacer,
}

impl ReplaceMatches {
    fn apply(&self, token: &str) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        BoundedOutput::run(limit(token.len()), &mut text, |out| self.replace.apply(token.as_bytes(), out))??;
        Ok(text)
    }
}

impl ChainStep for ReplaceMatches {
    fn text(&self, state: &mut StepState, text: &[u8], _out: &mut Flow) {
        state.held.extend_from_slice(text);
    }

    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        out.token(&self.apply(&take_text(&mut state.held))?);
        Ok(())
    }

    fn settled(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        let token = std::str::from_utf8(token).ok().filter(|_| !is_part)?;
        self.apply(token).ok()
    }
}
