//! Encodes words before which normalization inserts U+2581. Each word is looked up in the cache without U+2581; only a
//! word that is not cached is written with U+2581.
//!
//! The cache also has the pieces of normalized text, all of which start with U+2581. A text that contains U+2581 is
//! encoded by the general path, so no word of this route starts with U+2581.
//!
//! The normalizer's table also replaces characters that no entry contains; see `unknown_chars`.

use std::sync::Arc;

use memchr::memmem;
use polytok_memory::Grow;

use super::unknown_chars::StandIns;
use crate::cache::PieceKey;
use crate::error::Result;
use crate::normalize::origin::Place;
use crate::post::IdSink;
use crate::segmenter::{Context, collect_segments};
use crate::space_mark;
use crate::split::chain::SplitChain;
use crate::split::cursor::SplitCursor;

/// The split to words that get U+2581 before them.
pub(super) struct MarkedWords {
    pub(super) words: SplitChain,
    /// The stand-ins of unknown characters. If the model has them, every run of unknown characters is one token, so
    /// spans follow from lengths; see `marked_spans`.
    pub(super) stand_ins: Option<Arc<StandIns>>,
}

impl MarkedWords {
    pub fn compile(stand_ins: Option<Arc<StandIns>>) -> Option<MarkedWords> {
        Some(MarkedWords { words: SplitChain::compile_words(None)?, stand_ins })
    }

    /// Builds the tables of the split that encoding would otherwise build later.
    pub fn warm_up(&self) {
        self.words.warm_up();
    }

    /// Encodes a text. `buffer` is memory for a word.
    pub fn encode<S: IdSink>(&self, text: &str, buffer: &mut Vec<u8>, context: &mut Context<S>) -> Result<()> {
        if has_mark(text.as_bytes()) {
            return context.encode_rewritten(text.as_bytes(), Place::default());
        }
        let mut block = context.scratch.take_block();
        let mut cursor = SplitCursor::new();
        while block.fill(|pieces| self.words.fill(text, &mut cursor, pieces))? > 0 {
            block.prepare(text.as_bytes(), &context.scratch.cache, false);
            context.encode_prepared_block(text.as_bytes(), &mut block, |context, piece, key| {
                encode_missing(&text.as_bytes()[piece.start..piece.end], key, buffer, context)
            })?;
            block.clear();
        }
        context.scratch.blocks.checked_push(block);
        Ok(())
    }
}

/// Encodes a word that is not among the entries of the cache with ids.
#[inline(never)]
fn encode_missing<S: IdSink>(word: &[u8], key: PieceKey, buffer: &mut Vec<u8>, context: &mut Context<S>) -> Result<()> {
    if context.output_record(word, key) {
        return Ok(());
    }
    write_marked(word, buffer);
    let Context { segmenter, scratch, out } = context;
    let is_known = scratch.run_model(|model, segments| {
        segmenter.model.segment(buffer, 0, false, model, &mut collect_segments(segments))
    })?;
    if is_known {
        scratch.cache.insert(word, key, &scratch.ids);
        out.write_ids(&scratch.ids);
        return Ok(());
    }
    scratch.segments.iter().try_for_each(|&segment| out.write_segment(buffer, 0, segment))
}

/// Writes a word after U+2581.
pub(super) fn write_marked(word: &[u8], buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.checked_extend_from_slice(space_mark::BYTES);
    buffer.checked_extend_from_slice(word);
}

/// Reports whether a text contains U+2581.
pub(super) fn has_mark(text: &[u8]) -> bool {
    memmem::find(text, space_mark::BYTES).is_some()
}
