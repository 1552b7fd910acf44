//! Converts pieces to ids, a block of pieces at a time.
//!
//! First the keys of all pieces of a block are computed and the cache lines of the keys prefetched; then each piece is
//! looked up. The ids of cached pieces are written to the block without a branch. A piece that is not cached is encoded
//! by a separate function, which splits a long piece at boundaries (parts.rs).

pub(super) mod parts;
mod piece_lengths;
pub(super) mod spans;

use polytok_memory::Grow;

use super::{Context, Segmenter, SegmenterScratch};
use crate::boundary::Boundary;
use crate::cache::{Block, BlockPiece, Cache, MAX_KEY_BYTES, PieceKey};
use crate::error::Result;
use crate::model::ModelScratch;
use crate::post::{IdSink, Out, Sink};
use crate::segment::Segment;
use crate::token_id::TokenId;

/// The largest number of bytes of a piece that is always cached as a whole: the bytes that a key can hold.
const MAX_UNSPLIT_BYTES: usize = MAX_KEY_BYTES;

/// The largest number of bytes of a piece that is cached as a whole although it has boundaries inside.
const MAX_REPEATING_BYTES: usize = 32;

/// The number of bytes of an ideograph.
const IDEOGRAPH_LEN: usize = 3;

impl<S: Sink> Context<'_, '_, S> {
    /// Encodes the pieces of a block, and empties the block.
    pub(super) fn encode_block(&mut self, text: &[u8], block: &mut Block) -> Result<()> {
        match self.by_ids() {
            Some(mut by_ids) => by_ids.encode_block_by_cache(text, block)?,
            None => self.encode_block_with_spans(text, block)?,
        }
        block.clear();
        Ok(())
    }

    /// Encodes the pieces of the last block of a text, and returns the block's memory to the scratch.
    pub(super) fn encode_last_block(&mut self, text: &[u8], mut block: Box<Block>) -> Result<()> {
        self.encode_block(text, &mut block)?;
        self.scratch.blocks.checked_push(block);
        Ok(())
    }
}

impl<S: IdSink> Context<'_, '_, S> {
    fn encode_block_by_cache(&mut self, text: &[u8], block: &mut Block) -> Result<()> {
        block.prepare(text, &self.scratch.cache, self.segmenter.model.encodes_entries_whole());
        self.encode_prepared_block(text, block, |context, piece, key| context.encode_missing(text, piece, key))
    }

    /// Outputs the ids of the pieces of a prepared block. `encode_missing` encodes the pieces that are not cached, or
    /// have a record with many ids.
    #[inline(always)]
    pub fn encode_prepared_block(
        &mut self,
        text: &[u8],
        block: &mut Block,
        mut encode_missing: impl FnMut(&mut Self, BlockPiece, PieceKey) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        loop {
            let (missing, id_count) = block.look_up::<false>(at, text, &self.scratch.cache);
            self.out.write_ids(&block.ids[..id_count]);
            if missing == block.count() {
                return Ok(());
            }
            encode_missing(self, block.piece(missing), block.key(missing))?;
            at = missing + 1;
        }
    }

    /// Encodes a piece that is not among the entries of the cache with ids. A piece is tried in this order, until a
    /// step encodes it; *split* encodes the parts between boundaries, if there are any:
    ///
    /// | piece | steps |
    /// |---|---|
    /// | more than 15 bytes, ends with an ideograph (a sentence) | split; records; model |
    /// | 4 to 15 bytes, ends with an ideograph (a word) | records; split, and cache the whole; model |
    /// | other pieces of 16 to 32 bytes | records; split, and cache the whole; model |
    /// | pieces of more than 32 bytes | records; split; model |
    /// | all other pieces | records; model |
    ///
    /// If unknown text is not an error, a word is one of the other pieces, and no split caches the whole piece.
    #[inline(never)]
    fn encode_missing(&mut self, text: &[u8], piece: BlockPiece, key: PieceKey) -> Result<()> {
        let bytes = &text[piece.start..piece.end];
        let boundary = self.segmenter.boundary_if_splittable(text, piece);
        let is_sentence = bytes.len() > MAX_UNSPLIT_BYTES && ends_with_ideograph(bytes);
        // The cache hardly ever has a sentence, so the sentence is split before the cache is asked.
        if let (true, Some(boundary)) = (is_sentence, boundary)
            && self.encode_at_inner_boundaries(text, piece, boundary)?
        {
            return Ok(());
        }
        if self.output_record(bytes, key) {
            return Ok(());
        }
        let is_encoded = match boundary.filter(|_| !is_sentence) {
            Some(boundary) if self.segmenter.is_likely_to_repeat(bytes) => {
                self.encode_cached_long(text, piece, key, boundary)?
            }
            Some(boundary) => self.encode_at_inner_boundaries(text, piece, boundary)?,
            None => false,
        };
        if is_encoded { Ok(()) } else { self.encode_uncached(text, piece, key) }
    }

    /// Reports whether a piece has a record in the cache. If so, outputs the ids of the piece. `key` must be complete.
    pub fn output_record(&mut self, piece: &[u8], key: PieceKey) -> bool {
        let ids = self.scratch.cache.get_record(piece, key);
        ids.inspect(|ids| self.out.write_ids(ids)).is_some()
    }

    /// Encodes a piece part by part, and caches it as a whole. Returns false, and encodes nothing, if the piece has no
    /// boundary inside.
    fn encode_cached_long(
        &mut self,
        text: &[u8],
        piece: BlockPiece,
        key: PieceKey,
        boundary: &Boundary,
    ) -> Result<bool> {
        let mut ids = std::mem::take(&mut self.scratch.long_ids);
        ids.clear();
        let mut out = Out::new(&self.segmenter.fallback, &mut ids);
        let mut context = Context { segmenter: self.segmenter, scratch: self.scratch, out: &mut out };
        let result = context.encode_at_inner_boundaries(text, piece, boundary);
        if let Ok(true) = result {
            let ids = TokenId::slice_of(&ids);
            self.out.write_ids(ids);
            self.segmenter.cache_ids(&text[piece.start..piece.end], piece.start, key, ids, &mut self.scratch.cache);
        }
        self.scratch.long_ids = ids;
        result
    }

    /// Encodes a piece that is not cached, and caches its ids if the piece has no unknown text.
    fn encode_uncached(
        &mut self,
        text: &[u8],
        BlockPiece { start, end, is_part }: BlockPiece,
        key: PieceKey,
    ) -> Result<()> {
        let Context { segmenter, scratch, out } = self;
        let bytes = &text[start..end];
        let is_known = segmenter.model.encode_short(bytes, is_part, &mut scratch.model, &mut scratch.ids)
            || scratch.run_model(|model_scratch, segments| {
                segmenter.model.segment(bytes, start, is_part, model_scratch, &mut collect_segments(segments))
            })?;
        if is_known {
            segmenter.cache_ids(bytes, start, key, &scratch.ids, &mut scratch.cache);
            out.write_ids(&scratch.ids);
            return Ok(());
        }
        scratch.segments.iter().try_for_each(|&segment| out.write_segment(text, start, segment))
    }
}

impl Segmenter {
    /// Returns the finder of boundaries if the piece should be split at boundaries inside: if it is long, or if it is a
    /// word of a script whose characters hardly merge, which is faster than merging and is cached as a whole.
    #[inline]
    fn boundary_if_splittable(&self, text: &[u8], BlockPiece { start, end, is_part }: BlockPiece) -> Option<&Boundary> {
        let len = end - start;
        let is_splittable = len > MAX_UNSPLIT_BYTES
            || len > IDEOGRAPH_LEN && ends_with_ideograph(&text[start..end]) && self.fallback.can_fail();
        self.boundary.as_ref().filter(|_| is_splittable && !is_part)
    }

    /// Returns the finder of boundaries if the piece is long and has a boundary inside.
    fn boundary_inside(&self, text: &[u8], BlockPiece { start, end, is_part }: BlockPiece) -> Option<&Boundary> {
        let is_splittable = end - start > MAX_UNSPLIT_BYTES && !is_part;
        self.boundary.as_ref().filter(|boundary| is_splittable && boundary.next_boundary(text, (start, end)) < end)
    }

    /// Reports whether a piece is likely to repeat, so that its ids are cached as a whole. Words and indentation repeat
    /// often, but a sentence of a script without spaces rarely repeats. Only tokenizers for which unknown text is an
    /// error qualify, because otherwise the ids of unknown text can depend on the text around the piece.
    #[inline]
    fn is_likely_to_repeat(&self, piece: &[u8]) -> bool {
        piece.len() <= MAX_REPEATING_BYTES && self.fallback.can_fail()
    }

    /// Caches the ids of a piece, unless the ids depend on the position of the piece in the text.
    #[inline]
    fn cache_ids(&self, piece: &[u8], at: usize, key: PieceKey, ids: &[TokenId], cache: &mut Cache) {
        if !self.model.depends_on_position(piece, at) {
            cache.insert_with_entries(piece, key, ids, self.vocab.len(), || self.model.own_entries(&self.vocab));
        }
    }

    /// Inserts the vocabulary entries that encode to their own id into a cache.
    pub fn insert_entries(&self, cache: &mut Cache) {
        cache.insert_entries(self.vocab.len(), || self.model.own_entries(&self.vocab));
    }
}

impl SegmenterScratch {
    /// Calls `run`, which writes the segments of a piece to `segments`, and then writes the ids of the segments to
    /// `ids`. Returns false if a segment is unknown text.
    pub fn run_model(&mut self, run: impl FnOnce(&mut ModelScratch, &mut Vec<Segment>) -> Result<()>) -> Result<bool> {
        self.segments.clear();
        run(&mut self.model, &mut self.segments)?;
        self.ids.clear();
        self.ids.checked_extend(self.segments.iter().map(|segment| segment.id));
        Ok(!self.ids.contains(&TokenId::UNKNOWN))
    }
}

/// Reports whether a piece ends with a character from U+3000 to U+9FFF, the characters of Chinese and Japanese.
#[inline]
fn ends_with_ideograph(piece: &[u8]) -> bool {
    piece.last_chunk::<IDEOGRAPH_LEN>().is_some_and(|[lead, ..]| (0xE3..=0xE9).contains(lead))
}

/// Returns a function that appends segments to `segments`.
pub(crate) fn collect_segments(segments: &mut Vec<Segment>) -> impl FnMut(Segment) -> Result<()> {
    |segment| {
        segments.checked_push(segment);
        Ok(())
    }
}
