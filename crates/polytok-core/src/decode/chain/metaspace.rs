//! Metaspace: replaces the visible text for spaces (usually U+2581) by a space. In the first token this text is removed
//! instead, unless the tokenizer never inserts it before a text.

use polytok_memory::TryCollect;

use super::super::traced::TracedText;
use super::flow::TokenFlow;
use super::literal::LiteralReplacer;
use super::step::{ChainStep, StepState};
use crate::error::Result;
use crate::spec::Scheme;

pub(super) struct MetaspaceDecoder {
    replacer: LiteralReplacer,
    /// The text to which a U+2581 at the start of the first token is decoded.
    first_content: &'static [u8],
}

impl MetaspaceDecoder {
    pub fn new(replacement: &str, prepend: Scheme) -> MetaspaceDecoder {
        let first_content: &[u8] = if prepend == Scheme::Never { b" " } else { b"" };
        MetaspaceDecoder { replacer: LiteralReplacer::new(replacement.as_bytes()), first_content }
    }

    fn content(&self, state: &StepState) -> &'static [u8] {
        if state.is_later { b" " } else { self.first_content }
    }
}

impl ChainStep for MetaspaceDecoder {
    fn push_text(&self, state: &mut StepState, text: &[u8], out: &mut TokenFlow) {
        let content = self.content(state);
        self.replacer.push(&mut state.count, text, content, out);
    }

    fn end_token(&self, state: &mut StepState, out: &mut TokenFlow) -> Result<()> {
        let content = self.content(state);
        self.replacer.finish(&mut state.count, content, out);
        out.end_token();
        state.is_later = true;
        Ok(())
    }

    fn settled_output(&self, token: &[u8], is_part: bool) -> Option<Vec<u8>> {
        self.replacer.replace(token, b" ", usize::MAX).filter(|_| !is_part)
    }

    fn is_settled(&self, state: &StepState) -> bool {
        state.is_later
    }

    fn apply_traced(&self, tokens: Vec<TracedText>) -> Result<Vec<TracedText>> {
        let content = |i| if i > 0 { b" " } else { self.first_content };
        tokens
            .iter()
            .enumerate()
            .map(|(i, token)| self.replacer.replace_traced(token, content(i)))
            .checked_try_collect()
    }
}
