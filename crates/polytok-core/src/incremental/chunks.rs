//! Encodes a text that arrives in chunks: each chunk returns the ids that no later text can change.
//!
//! Invariant: the ids of all calls, joined, are the ids of the whole text. Cost: each byte of the text is searched for
//! cuts once and encoded once, except for the contexts of cuts. Memory: the text after the last cut.
//!
//! A text in parts that is trusted as a whole can have other ids than the same text as the start of a text that is not,
//! if the tokenizer has a guard. All ids are then pending until the first text that is not trusted.

use polytok_memory::{self as memory, Grow};

use super::settle::{Addition, OpenText, Trust};
use crate::error::Result;
use crate::tokenizer::cuts::CutState;
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// The text that is not encoded yet. Calls must pass the same tokenizer and options.
#[derive(Clone, Debug, Default)]
pub struct ChunkEncoder {
    open: OpenText,
    /// The state of the last cut.
    state: CutState,
    /// True if ids were returned, so that the ids before the text were returned too.
    has_started: bool,
}

impl ChunkEncoder {
    /// Appends a chunk of the text, and appends the ids that are final to `ids`.
    pub fn push(
        &mut self,
        tokenizer: &Tokenizer,
        chunk: Addition,
        options: EncodeOptions,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        memory::catch(|| {
            let has_text = self.has_started || !self.open.bytes.is_empty();
            let is_trusted = !has_text || self.open.trust == Trust::Whole;
            self.open.trust = self.open.trust.after(tokenizer, (has_text, is_trusted), chunk)?;
            self.open.extend(chunk.text, chunk.runs.unwrap_or_default());
            if self.open.trust == Trust::Whole {
                return Ok(());
            }
            let Some((prefix, _)) = tokenizer.affixes(options.add_special) else { return Ok(()) };
            let from = self.open.context_len;
            let Some(cut) = self.open.next_cut(tokenizer, from, usize::MAX, options) else { return Ok(()) };
            if !self.has_started {
                ids.checked_extend(prefix);
            }
            self.open.encode(tokenizer, (from, cut), &mut self.state, options, ids)?;
            self.has_started = true;
            self.open.remove_before(tokenizer, cut);
            Ok(())
        })
    }

    /// Appends the remaining ids, and starts a new text.
    pub fn finish(&mut self, tokenizer: &Tokenizer, options: EncodeOptions, ids: &mut Vec<u32>) -> Result<()> {
        memory::catch(|| {
            let ChunkEncoder { open, mut state, has_started } = std::mem::take(self);
            match tokenizer.affixes(options.add_special).filter(|_| has_started) {
                Some((_, suffix)) => {
                    open.encode(tokenizer, (open.context_len, open.bytes.len()), &mut state, options, ids)?;
                    ids.checked_extend(suffix);
                    Ok(())
                }
                None => open.encode_all(tokenizer, options, ids),
            }
        })
    }

    /// Returns the number of bytes whose ids are not final.
    pub fn pending_bytes(&self) -> usize {
        self.open.bytes.len() - self.open.context_len
    }
}
