//! Encodes the pieces of a block to tokens with spans. The cache has only the ids of a piece, but most models show from
//! the ids how many bytes each token covers: as many as its entry.
//!
//! Proof: a cached piece has no unknown text, so its tokens cover the piece in order. Each token covers the bytes of its
//! entry without a prefix (`CoveredBytes`). The only other tokens are those of bytes: in one model all of them count as
//! at least the bytes that they cover, or all as at most these bytes (`Lengths::compile`). So if the sum of the lengths
//! is the length of the piece, each length is right. Any other piece is encoded by the model, which knows the spans.
//! Cost: a cache lookup for each piece, and a table lookup for each token.

use super::{Context, collect_segments};
use crate::cache::{Block, BlockPiece, Cache, MAX_ENTRY_IDS, PieceKey};
use crate::error::Result;
use crate::post::lengths::Lengths;
use crate::post::{Out, Sink};
use crate::segment::Segment;
use crate::segmenter::Segmenter;
use crate::token_id::TokenId;

impl<S: Sink> Context<'_, '_, S> {
    /// Encodes the pieces of a block with spans.
    pub(super) fn encode_block_with_spans(&mut self, text: &[u8], block: &mut Block) -> Result<()> {
        let Some(covered) = self.segmenter.model.covered_bytes() else {
            return (0..block.count()).try_for_each(|at| self.encode_with_spans(text, block.piece(at)));
        };
        let lengths = self.segmenter.lengths();
        let length = |at: usize, id: TokenId| lengths.get(id)?.checked_sub(covered.prefix_len(at == 0));
        block.prepare(text, &self.scratch.cache, self.segmenter.model.encodes_entries_whole());
        (0..block.count()).try_for_each(|at| {
            let (piece, key) = (block.piece(at), block.key(at));
            let mut short_ids = [TokenId(0); MAX_ENTRY_IDS];
            match cached_ids(&self.scratch.cache, &text[piece.start..piece.end], key, &mut short_ids) {
                None => self.encode_missing_with_spans(text, piece, key),
                Some([id]) if covered.is_whole_if_single => {
                    write_tokens(self.out, text, piece, &[*id], |_, _| Some(piece.end - piece.start))
                }
                Some(ids) if is_covered(ids, piece.end - piece.start, length) => {
                    write_tokens(self.out, text, piece, ids, length)
                }
                Some(_) => self.encode_with_spans(text, piece),
            }
        })
    }

    /// Encodes a piece by the model.
    fn encode_with_spans(&mut self, text: &[u8], piece: BlockPiece) -> Result<()> {
        let BlockPiece { start, end, is_part } = piece;
        let Context { segmenter, scratch, out } = self;
        begin_word(out, piece);
        let mut take = |segment| out.write_segment(text, start, segment);
        segmenter.model.segment(&text[start..end], start, is_part, &mut scratch.model, &mut take)
    }

    /// Encodes a piece that is not cached, and caches its ids as `encode_missing` does.
    #[inline(never)]
    fn encode_missing_with_spans(&mut self, text: &[u8], piece: BlockPiece, key: PieceKey) -> Result<()> {
        let BlockPiece { start, end, is_part } = piece;
        let Context { segmenter, scratch, out } = self;
        let bytes = &text[start..end];
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

/// Returns the ids of a piece if it is cached. `short_ids` is memory for the ids.
#[inline]
fn cached_ids<'a>(
    cache: &'a Cache,
    piece: &[u8],
    key: PieceKey,
    short_ids: &'a mut [TokenId; MAX_ENTRY_IDS],
) -> Option<&'a [TokenId]> {
    match cache.get(key, key.hash(), short_ids) {
        0 => cache.get_record(piece, key),
        count => Some(&short_ids[..count]),
    }
}

/// Reports whether the tokens of a cached piece have as many bytes as the piece.
#[inline]
fn is_covered(ids: &[TokenId], len: usize, length: impl Fn(usize, TokenId) -> Option<usize>) -> bool {
    ids.iter().enumerate().try_fold(0, |total, (at, &id)| Some(total + length(at, id)?)) == Some(len)
}

/// Writes the tokens of a piece, of which `length` returns the lengths.
#[inline]
fn write_tokens<S: Sink>(
    out: &mut Out<S>,
    text: &[u8],
    piece: BlockPiece,
    ids: &[TokenId],
    length: impl Fn(usize, TokenId) -> Option<usize>,
) -> Result<()> {
    begin_word(out, piece);
    let mut start = 0;
    ids.iter().enumerate().try_for_each(|(at, &id)| {
        let end = start + length(at, id).unwrap_or_default() as u32;
        let segment = Segment { id, start: std::mem::replace(&mut start, end), end };
        out.write_segment(text, piece.start, segment)
    })
}

/// Begins a word, unless the piece is a later part of a word.
#[inline]
fn begin_word<S: Sink>(out: &mut Out<S>, BlockPiece { start, is_part, .. }: BlockPiece) {
    if !is_part || start == 0 {
        out.begin_word();
    }
}

impl Segmenter {
    /// Returns the lengths of the entries; the first call computes them.
    pub(in crate::segmenter) fn lengths(&self) -> &Lengths {
        let Segmenter { lengths, vocab, fallback, model, .. } = self;
        lengths.get(|| Lengths::compile(vocab, fallback, false, model.byte_ids().as_deref()))
    }
}
