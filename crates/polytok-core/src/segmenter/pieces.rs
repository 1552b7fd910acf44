//! Splits normalized text to pieces: by the split, or at boundaries if the vocabulary has no split. Pieces are
//! collected in blocks.

use std::ops::ControlFlow;

use polytok_memory::Grow;

use super::{Context, Segmenter};
use crate::boundary::Boundary;
use crate::cache::Block;
use crate::error::Result;
use crate::normalize::byte_level::ByteLevel;
use crate::normalize::origin::{Origin, Place};
use crate::normalize::user_defined;
use crate::post::Sink;
use crate::segment::Segment;
use crate::split::behavior::PatternSplit;
use crate::split::chain::SplitChain;
use crate::split::cursor::SplitCursor;
use crate::utf8::valid;

/// The maximum length of a text whose rewritten pieces certainly have offsets of 32 bits: ByteLevel at most doubles it.
const MAX_BYTE_LEVEL_BYTES: usize = u32::MAX as usize / 2;

impl<S: Sink> Context<'_, '_, S> {
    /// Encodes a normalized text, whose position in the caller's text the sink already knows.
    pub fn encode_text(&mut self, text: &[u8]) -> Result<()> {
        let Segmenter { splits, boundary, model, vocab, .. } = self.segmenter;
        if !splits.is_empty() {
            return self.encode_split(text);
        }
        match boundary {
            Some(boundary) if boundary.can_split(text) => self.encode_at_boundaries(boundary, text),
            _ => model.encode_text(text, vocab, &mut self.scratch.model, self.out),
        }
    }

    /// Encodes a text whose pieces the split rewrites.
    pub fn encode_rewritten(&mut self, text: &[u8], place: Place) -> Result<()> {
        let splits = &self.segmenter.splits;
        if let Ok(text) = valid(text)
            && text.len() <= MAX_BYTE_LEVEL_BYTES
            && let Some(pattern) = splits.byte_level_pattern(text)
            && let Some(mut by_ids) = self.by_ids()
        {
            by_ids.out.begin_part(place);
            return by_ids.encode_byte_level(pattern, text);
        }
        let at = place.at as usize;
        let needs_spans = S::by_ids(self.out).is_none() || splits.needs_spans();
        let spans = needs_spans.then(|| place.origin.into_spans(text));
        let mut pieces = splits.rewrite(text, at, spans.as_deref())?;
        let origin = pieces.spans.take().map_or(Origin::Same, Origin::Spans);
        self.out.begin_part(Place { at: at as u32, origin });
        let mut block = self.scratch.take_block();
        for &(start, end) in &pieces.ranges {
            if block.push(start, end, false) {
                self.encode_block(&pieces.text, &mut block)?;
            }
        }
        self.encode_last_block(&pieces.text, block)
    }

    /// Encodes the matches of `pattern`, which ByteLevel rewrites, a block at a time.
    fn encode_byte_level(&mut self, pattern: &PatternSplit, text: &str) -> Result<()> {
        let mut rewritten = std::mem::take(&mut self.scratch.byte_level_text);
        rewritten.clear();
        let (mut block, mut cursor) = (self.scratch.take_block(), SplitCursor::new());
        let mut fill = |pieces: &mut [(u32, u32)], out: &mut Vec<u8>| -> Result<usize> {
            let count = pattern.fill(text, &mut cursor, pieces)?.unwrap_or(0);
            ByteLevel::append_pieces(text.as_bytes(), &mut pieces[..count], out);
            Ok(count)
        };
        while block.fill(|pieces| fill(pieces, &mut rewritten))? > 0 {
            self.encode_block(&rewritten, &mut block)?;
        }
        self.scratch.blocks.checked_push(block);
        self.scratch.byte_level_text = rewritten;
        Ok(())
    }

    /// Encodes each piece of the split.
    fn encode_split(&mut self, bytes: &[u8]) -> Result<()> {
        let Segmenter { splits, model, .. } = self.segmenter;
        match valid(bytes) {
            Ok(text) => self.encode_pieces(splits, text),
            Err(at) => {
                self.out.begin_word();
                let split = |text: &str, piece: &mut dyn FnMut(usize, usize)| splits.split(text, piece);
                let mut take = |segment| self.out.write_segment(bytes, 0, segment);
                model.segment_invalid(bytes, at, &split, &mut self.scratch.model, &mut take)
            }
        }
    }

    /// Encodes each piece of UTF-8 text that `splits` finds.
    pub fn encode_pieces(&mut self, splits: &SplitChain, text: &str) -> Result<()> {
        let mut block = self.scratch.take_block();
        let mut cursor = SplitCursor::new();
        while block.fill(|pieces| splits.fill(text, &mut cursor, pieces))? > 0 {
            self.encode_block(text.as_bytes(), &mut block)?;
        }
        self.scratch.blocks.checked_push(block);
        Ok(())
    }

    /// Encodes a text without a split: user-defined pieces, and the parts between them.
    fn encode_at_boundaries(&mut self, boundary: &Boundary, text: &[u8]) -> Result<()> {
        let mut at = 0;
        let mut block = self.scratch.take_block();
        for (start, end, id) in user_defined::matches(self.segmenter.user_defined.as_deref(), text) {
            if start == 0 {
                self.out.begin_word();
            }
            self.encode_parts(boundary, text, (at, start), &mut block)?;
            self.encode_block(text, &mut block)?;
            self.out.write_segment(text, 0, Segment { id, start: start as u32, end: end as u32 })?;
            at = end;
        }
        self.encode_parts(boundary, text, (at, text.len()), &mut block)?;
        self.encode_last_block(text, block)
    }

    /// Splits `text[parts_start..parts_end]` at boundaries and adds the parts to the block. Whenever the block is full,
    /// encodes its parts.
    pub(super) fn encode_parts(
        &mut self,
        boundary: &Boundary,
        text: &[u8],
        (parts_start, parts_end): (usize, usize),
        block: &mut Block,
    ) -> Result<()> {
        let flow = boundary.for_each_part(text, (parts_start, parts_end), |start, end| {
            let is_part = start > parts_start || end < parts_end;
            let result = if block.push(start, end, is_part) { self.encode_block(text, block) } else { Ok(()) };
            result.map_or_else(ControlFlow::Break, ControlFlow::Continue)
        });
        flow.break_value().map_or(Ok(()), Err)
    }
}
