//! Metaspace: replaces the mark by a space. In the first token the mark is removed instead, unless the scheme never
//! inserts a mark before a text.

use super::flow::Flow;
use super::literal::Literal;
use super::step::{ChainStep, StepState};
use crate::error::Result;
use crate::spec::Scheme;

pub(super) struct MetaspaceDecoder {
    literal: Literal,
    /// The text that replaces the mark in the first token.
    first_content: &'static [u8],
}

impl MetaspaceDecoder {
    pub fn new(replacement: &str, prepend: Scheme) -> MetaspaceDecoder {
        let first_content: &[u8] = if prepend == Scheme::Never { b" " } else { b"" };
        MetaspaceDecoder { literal: Literal::new(replacement.as_bytes()), first_content }
    }

    fn content(&self, state: &StepState) -> &'static [u8] {
        if state.is_later { b" " } else { self.first_content }
    }
}

impl ChainStep for MetaspaceDecoder {
    fn text(&self, state: &mut StepState, text: &[u8], out: &mut Flow) {
        let content = self.content(state);
        self.literal.push(&mut state.count, text, content, out);
    }

    fn end(&self, state: &mut StepState, out: &mut Flow) -> Result<()> {
        let content = self.content(state);
        self.literal.finish(&mut state.count, content, out);
        out.end();
        state.is_later = true;
        Ok(())
    }

    fn settled(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        self.literal.replace(token, b" ", usize::MAX).filter(|_| !is_part)
    }

    fn is_settled(&self, state: &StepState) -> bool {
        state.is_later
    }
}
