//! Normalized text → ids: split into pieces, the cache first, then the model.
//!
//! Pieces come in blocks. For a whole block keys and hashes are computed and cache lines asked for; then each piece is looked up, and
//! the ids are written side by side, without a branch except for a miss. A piece that is not cached is encoded
//! in its place, out of line: a long one is split at boundaries, and its parts go through the cache in the same way. A text without a
//! split is split at boundaries too.
//! Invariant: the ids are those of `CompiledModel::segment` piece by piece. Cost: that of the model for each different piece.

use std::sync::Arc;

use crate::boundary::Boundary;
use crate::cache::{Block, Cache, Key, LONGEST, Piece};
use crate::error::Result;
use crate::huge::release;
use crate::model::{CompiledModel, ModelScratch, OwnEntries};
use crate::normalize::origin::{Origin, Place};
use crate::normalize::user_defined;
use crate::post::{Fallback, IdSink, Out, Sink};
use crate::segment::{Segment, UNKNOWN};
use crate::split::chain::Chain;
use crate::split::cursor::Cursor;
use crate::trie::Trie;
use crate::utf8::valid;
use crate::vocab::Vocab;

/// Longer pieces are split at boundaries.
const LONG: usize = 15;

/// What normalized text is encoded by.
pub(crate) struct Segmenter {
    pub vocab: Arc<Vocab>,
    pub splits: Chain,
    pub model: CompiledModel,
    /// Where long pieces, and texts without a split, may be split further.
    pub boundary: Option<Boundary>,
    /// User-defined pieces, which are matched before anything else in texts without a split.
    pub user_defined: Option<Arc<Trie>>,
    pub fallback: Fallback,
}

/// Its memory.
#[derive(Default)]
pub(crate) struct SegmenterScratch {
    pub model: ModelScratch,
    pub cache: Cache,
    pub segments: Vec<Segment>,
    pub ids: Vec<u32>,
    /// The ids of a piece that is encoded part by part.
    whole: Vec<u32>,
    pub blocks: Vec<Box<Block>>,
}

impl SegmenterScratch {
    /// An empty block.
    #[inline]
    pub fn block(&mut self) -> Box<Block> {
        let mut block = self.blocks.pop().unwrap_or_default();
        block.clear();
        block
    }

    /// Frees buffers of more than `kept` items.
    pub fn release(&mut self, kept: usize) {
        release(&mut self.segments, kept);
        release(&mut self.ids, kept);
        self.model.release(kept);
    }
}

impl Segmenter {
    /// A normalized text, whose place the sink knows.
    pub fn encode_text<S: Sink>(&self, text: &[u8], scratch: &mut SegmenterScratch, out: &mut Out<S>) -> Result<()> {
        if !self.splits.is_empty() {
            return self.encode_split(text, scratch, out);
        }
        match &self.boundary {
            Some(boundary) if boundary.can_cut(text) => self.encode_at_boundaries(boundary, text, scratch, out),
            _ => self.model.encode_text(text, &self.vocab, &mut scratch.model, out),
        }
    }

    /// A text whose pieces the split rewrites.
    pub fn encode_rewritten<S: Sink>(
        &self,
        text: &[u8],
        place: Place,
        scratch: &mut SegmenterScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let at = place.at as usize;
        let needs_spans = S::by_ids(out).is_none() || self.splits.needs_spans();
        let spans = needs_spans.then(|| place.origin.into_spans(text));
        let mut pieces = self.splits.pieces(text, at, spans.as_deref())?;
        let origin = pieces.spans.take().map_or(Origin::Same, Origin::Spans);
        out.begin_part(Place { at: at as u32, origin });
        let mut block = scratch.block();
        for &(start, end) in &pieces.ranges {
            if block.push(start, end, false) {
                self.encode_block(&pieces.text, &mut block, scratch, out)?;
            }
        }
        self.encode_block(&pieces.text, &mut block, scratch, out)?;
        scratch.blocks.push(block);
        Ok(())
    }

    /// Pieces of the split, each encoded by itself.
    fn encode_split<S: Sink>(&self, bytes: &[u8], scratch: &mut SegmenterScratch, out: &mut Out<S>) -> Result<()> {
        match valid(bytes) {
            Ok(text) => self.encode_pieces(&self.splits, text, scratch, out),
            Err(at) => {
                out.begin_word();
                let split = |text: &str, piece: &mut dyn FnMut(usize, usize)| self.splits.split(text, piece);
                let mut take = |segment| out.take(bytes, 0, segment);
                self.model.segment_invalid(bytes, at, &split, &mut scratch.model, &mut take)
            }
        }
    }

    /// The same for text that is UTF-8, by the split that is given.
    pub fn encode_pieces<S: Sink>(
        &self,
        splits: &Chain,
        text: &str,
        scratch: &mut SegmenterScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut block = scratch.block();
        let mut cursor = Cursor::new();
        while block.fill(|pieces| splits.fill(text, &mut cursor, pieces))? > 0 {
            self.encode_block(text.as_bytes(), &mut block, scratch, out)?;
        }
        scratch.blocks.push(block);
        Ok(())
    }

    /// A text without a split: user-defined pieces, and what lies between them, part by part.
    fn encode_at_boundaries<S: Sink>(
        &self,
        boundary: &Boundary,
        text: &[u8],
        scratch: &mut SegmenterScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut at = 0;
        let mut block = scratch.block();
        for (start, end, id) in user_defined::matches(self.user_defined.as_deref(), text) {
            if start == 0 {
                out.begin_word();
            }
            self.encode_parts(boundary, text, (at, start), &mut block, scratch, out)?;
            self.encode_block(text, &mut block, scratch, out)?;
            out.take(text, 0, Segment { id, start: start as u32, end: end as u32 })?;
            at = end;
        }
        self.encode_parts(boundary, text, (at, text.len()), &mut block, scratch, out)?;
        self.encode_block(text, &mut block, scratch, out)?;
        scratch.blocks.push(block);
        Ok(())
    }

    /// Splits a part of the text at boundaries; the last block stays to be encoded.
    fn encode_parts<S: Sink>(
        &self,
        boundary: &Boundary,
        text: &[u8],
        (from, to): (usize, usize),
        block: &mut Block,
        scratch: &mut SegmenterScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut at = from;
        while at < to {
            let start = at;
            for place in boundary.ascii_cuts(&text[..to], at).into_iter().flat_map(ones) {
                let end = start + place + 1;
                if block.push(at, end, true) {
                    self.encode_block(text, block, scratch, out)?;
                }
                at = end;
            }
            if at > start {
                continue;
            }
            let end = boundary.next_cut(&text[..to], at);
            if block.push(at, end, at > from || end < to) {
                self.encode_block(text, block, scratch, out)?;
            }
            at = end;
        }
        Ok(())
    }

    /// Encodes the pieces of the block, which is empty afterwards.
    fn encode_block<S: Sink>(
        &self,
        text: &[u8],
        block: &mut Block,
        scratch: &mut SegmenterScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        match S::by_ids(out) {
            Some(out) => self.encode_block_by_cache(text, block, scratch, out)?,
            None => {
                (0..block.count()).try_for_each(|at| self.encode_with_spans(text, block.piece(at), scratch, out))?
            }
        }
        block.clear();
        Ok(())
    }

    fn encode_block_by_cache<S: IdSink>(
        &self,
        text: &[u8],
        block: &mut Block,
        scratch: &mut SegmenterScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        block.prepare(text, &scratch.cache, self.model.takes_whole_pieces());
        look_up(block, scratch, out, |piece, key, scratch, out| self.encode_missed(text, piece, key, scratch, out))
    }

    fn encode_with_spans<S: Sink>(
        &self,
        text: &[u8],
        Piece { start, end, is_part }: Piece,
        scratch: &mut SegmenterScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        if !is_part || start == 0 {
            out.begin_word();
        }
        let mut take = |segment| out.take(text, start, segment);
        self.model.segment(&text[start..end], start, is_part, &mut scratch.model, &mut take)
    }

    /// A piece that is not among the short ones of the cache.
    #[inline(never)]
    fn encode_missed<S: IdSink>(
        &self,
        text: &[u8],
        piece: Piece,
        key: Key,
        scratch: &mut SegmenterScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let bytes = &text[piece.start..piece.end];
        if let Some(ids) = scratch.cache.get_long(bytes, key) {
            out.take_ids(ids);
            return Ok(());
        }
        let is_split = |boundary: &&Boundary| boundary.next_cut(&text[..piece.end], piece.start) < piece.end;
        match self.boundary.as_ref().filter(|boundary| bytes.len() > LONG && !piece.is_part && is_split(boundary)) {
            Some(boundary) if self.repeats(bytes) => self.encode_whole(text, piece, key, boundary, scratch, out),
            Some(boundary) => self.encode_long(text, piece, boundary, scratch, out),
            None => self.encode_new(text, piece, key, scratch, out),
        }
    }

    /// Whether a piece that is split further is worth a place in the cache as a whole: indentation is, a sentence of a script without
    /// spaces hardly repeats. Unknown text must be an error, so that nothing depends on what is around.
    #[inline]
    fn repeats(&self, piece: &[u8]) -> bool {
        piece.len() <= LONGEST && piece.is_ascii() && self.fallback.may_fail()
    }

    /// A long piece that is cached as a whole too.
    fn encode_whole<S: IdSink>(
        &self,
        text: &[u8],
        piece: Piece,
        key: Key,
        boundary: &Boundary,
        scratch: &mut SegmenterScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut ids = std::mem::take(&mut scratch.whole);
        ids.clear();
        let result = self.encode_long(text, piece, boundary, scratch, &mut Out::new(&self.fallback, &mut ids));
        if result.is_ok() {
            out.take_ids(&ids);
            self.remember(&text[piece.start..piece.end], piece.start, key, &ids, &mut scratch.cache);
        }
        scratch.whole = ids;
        result
    }

    /// A long piece, part by part.
    fn encode_long<S: IdSink>(
        &self,
        text: &[u8],
        piece: Piece,
        boundary: &Boundary,
        scratch: &mut SegmenterScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut parts = scratch.block();
        self.encode_parts(boundary, text, (piece.start, piece.end), &mut parts, scratch, out)?;
        self.encode_block(text, &mut parts, scratch, out)?;
        scratch.blocks.push(parts);
        Ok(())
    }

    /// A piece that is not cached; it is cached if it may be.
    fn encode_new<S: IdSink>(
        &self,
        text: &[u8],
        Piece { start, end, is_part }: Piece,
        key: Key,
        scratch: &mut SegmenterScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let bytes = &text[start..end];
        let SegmenterScratch { model: model_scratch, segments, ids, cache, .. } = scratch;
        segments.clear();
        self.model.segment(bytes, start, is_part, model_scratch, &mut |segment| {
            segments.push(segment);
            Ok(())
        })?;
        if segments.iter().all(|segment| segment.id != UNKNOWN) {
            ids.clear();
            ids.extend(segments.iter().map(|segment| segment.id));
            self.remember(bytes, start, key, ids, cache);
        }
        segments.iter().try_for_each(|&segment| out.take(text, start, segment))
    }

    /// Caches the ids of a piece, unless they depend on its place in the text.
    #[inline]
    fn remember(&self, piece: &[u8], at: usize, key: Key, ids: &[u32], cache: &mut Cache) {
        if !self.model.depends_on_place(piece, at) {
            remember(piece, key, ids, cache, self.vocab.len(), || self.model.own_entries(&self.vocab));
        }
    }
}

/// Takes the ids of a prepared block's pieces out of the cache; `missed` encodes those that are not among its short ones.
#[inline(always)]
pub(crate) fn look_up<S: IdSink>(
    block: &mut Block,
    scratch: &mut SegmenterScratch,
    out: &mut Out<S>,
    mut missed: impl FnMut(Piece, Key, &mut SegmenterScratch, &mut Out<S>) -> Result<()>,
) -> Result<()> {
    let mut count = 0;
    for at in 0..block.count() {
        match block.look_up(at, count, &scratch.cache) {
            0 => {
                out.take_ids(&block.ids[..count]);
                count = 0;
                missed(block.piece(at), block.key(at), scratch, out)?;
            }
            more => count += more,
        }
    }
    out.take_ids(&block.ids[..count]);
    Ok(())
}

/// Caches the ids of a piece, and all entries of the vocabulary once that pays: of `count` entries those that are their own ids.
#[inline]
pub(crate) fn remember<'v>(
    piece: &[u8],
    key: Key,
    ids: &[u32],
    cache: &mut Cache,
    count: usize,
    own_entries: impl FnOnce() -> Option<OwnEntries<'v>>,
) {
    cache.insert(piece, key, ids);
    if cache.wants_entries(count)
        && let Some(entries) = own_entries()
    {
        cache.add_entries(count, entries);
    }
}

/// The places of the bits that are set.
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (place < 64).then_some(place)
    })
}

#[cfg(test)]
mod tests;
