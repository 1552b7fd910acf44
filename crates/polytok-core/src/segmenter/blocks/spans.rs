//! Encodes the pieces of a block to tokens with spans. The cache has only the ids of a piece, but most models show from
//! the ids how many bytes each token covers (piece_lengths.rs). Any other piece is encoded by the model, which knows the
//! spans. Cost: a cache lookup for each piece, and a table lookup for each token.

use polytok_memory::Grow;

use super::piece_lengths::PieceLengths;
use super::{Context, collect_segments};
use crate::cache::{Block, BlockPiece, PieceKey};
use crate::error::Result;
use crate::normalize::output::Span;
use crate::post::lengths::Lengths;
use crate::post::{Out, Sink};
use crate::segmenter::Segmenter;

impl<S: Sink> Context<'_, '_, S> {
    /// Encodes the pieces of a block with spans.
    pub(super) fn encode_block_with_spans(&mut self, text: &[u8], block: &mut Block) -> Result<()> {
        let Some(lengths) = self.segmenter.piece_lengths() else {
            return (0..block.count()).try_for_each(|at| self.encode_with_spans(text, block.piece(at)));
        };
        block.prepare(text, &self.scratch.cache, self.segmenter.model.encodes_entries_whole());
        let mut at = 0;
        loop {
            let (missing, id_count) = block.look_up::<true>(at, text, &self.scratch.cache);
            self.encode_cached_with_spans(text, block, (at, missing), id_count, &lengths)?;
            if missing == block.count() {
                return Ok(());
            }
            self.encode_missing_with_spans(text, block.piece(missing), block.key(missing), &lengths)?;
            at = missing + 1;
        }
    }

    /// Encodes the pieces from index `from` to index `to`, which `look_up` has just found in the cache.
    fn encode_cached_with_spans(
        &mut self,
        text: &[u8],
        block: &Block,
        (from, to): (usize, usize),
        id_count: usize,
        lengths: &PieceLengths,
    ) -> Result<()> {
        let pieces = block.cached_pieces(from..to, id_count);
        let spans = room_for(&mut self.scratch.spans, id_count);
        if !self.out.sink.needs_words() && lengths.find_spans(pieces, spans) {
            return self.out.write_known(text, pieces.ids, spans);
        }
        let mut id_start = 0;
        for (at, &id_end) in (from..to).zip(pieces.id_ends) {
            let (piece, id_end) = (block.piece(at), id_end as usize);
            let ids = &pieces.ids[std::mem::replace(&mut id_start, id_end)..id_end];
            let spans = room_for(&mut self.scratch.spans, ids.len());
            if lengths.find_spans_of(piece, ids, spans) {
                begin_word(self.out, piece);
                self.out.write_known(text, ids, spans)?;
            } else {
                self.encode_with_spans(text, piece)?;
            }
        }
        Ok(())
    }

    /// Encodes a piece by the model.
    fn encode_with_spans(&mut self, text: &[u8], piece: BlockPiece) -> Result<()> {
        let BlockPiece { start, end, is_part } = piece;
        let Context { segmenter, scratch, out } = self;
        begin_word(out, piece);
        let mut take = |segment| out.write_segment(text, start, segment);
        segmenter.model.segment(&text[start..end], start, is_part, &mut scratch.model, &mut take)
    }

    /// Encodes a piece that is not among the short entries of the cache, and caches its ids as `encode_missing` does.
    #[inline(never)]
    fn encode_missing_with_spans(
        &mut self,
        text: &[u8],
        piece: BlockPiece,
        key: PieceKey,
        lengths: &PieceLengths,
    ) -> Result<()> {
        let BlockPiece { start, end, is_part } = piece;
        let Context { segmenter, scratch, out } = self;
        let bytes = &text[start..end];
        if let Some(ids) = scratch.cache.get_record(bytes, key) {
            let spans = room_for(&mut scratch.spans, ids.len());
            if lengths.find_spans_of(piece, ids, spans) {
                begin_word(out, piece);
                return out.write_known(text, ids, spans);
            }
            return self.encode_with_spans(text, piece);
        }
        if let Some(boundary) = segmenter.boundary_inside(text, piece) {
            if start > 0 {
                // The part at the start of the text begins the word itself.
                out.begin_word();
            }
            let mut parts = scratch.take_block();
            self.encode_parts(boundary, text, (start, end), &mut parts)?;
            return self.encode_last_block(text, parts);
        }
        begin_word(out, piece);
        let is_known = scratch.run_model(|model_scratch, segments| {
            segmenter.model.segment(bytes, start, is_part, model_scratch, &mut collect_segments(segments))
        })?;
        if is_known {
            segmenter.cache_ids(bytes, start, key, &scratch.ids, &mut scratch.cache);
        }
        scratch.segments.iter().try_for_each(|&segment| out.write_segment(text, start, segment))
    }
}

/// Returns the first `count` spans of a buffer, which grows if it is shorter.
#[inline]
pub(crate) fn room_for(spans: &mut Vec<Span>, count: usize) -> &mut [Span] {
    if spans.len() < count {
        spans.checked_resize(count, Span::default());
    }
    &mut spans[..count]
}

/// Begins a word, unless the piece is a later part of a word.
#[inline]
fn begin_word<S: Sink>(out: &mut Out<S>, BlockPiece { start, is_part, .. }: BlockPiece) {
    if !is_part || start == 0 {
        out.begin_word();
    }
}

impl Segmenter {
    /// Returns the number of bytes that tokens of pieces cover, if the model shows it; the first call computes the
    /// lengths of the entries.
    pub(in crate::segmenter) fn piece_lengths(&self) -> Option<PieceLengths<'_>> {
        let covered = self.model.covered_bytes()?;
        Some(PieceLengths { lengths: self.entry_lengths(), covered })
    }

    /// Returns the lengths of the entries; the first call computes them.
    pub fn entry_lengths(&self) -> &Lengths {
        let Segmenter { lengths, vocab, fallback, model, .. } = self;
        lengths.get(|| Lengths::compile(vocab, fallback, false, model.byte_ids().as_deref()))
    }
}
