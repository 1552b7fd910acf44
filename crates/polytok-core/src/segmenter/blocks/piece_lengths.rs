//! Computes the spans of the tokens of cached pieces from the lengths of their entries.
//!
//! Proof: a cached piece has no unknown text, so its tokens cover the piece in order. Each token covers the bytes of its
//! entry without affixes (`CoveredBytes`). The only other tokens are those of bytes: in one model all of them count as
//! at least the bytes that they cover, or all as at most these bytes (`Lengths::compile`). So if the sum of the lengths
//! is the length of the piece, each length is right.

use crate::cache::{BLOCK_LEN, BlockPiece, CachedPieces};
use crate::model::CoveredBytes;
use crate::normalize::output::Span;
use crate::post::lengths::Lengths;
use crate::token_id::TokenId;

/// The numbers of bytes that the tokens of pieces cover.
pub(in crate::segmenter) struct PieceLengths<'l> {
    pub lengths: &'l Lengths,
    pub covered: CoveredBytes,
}

/// A piece whose spans depend on the lengths of its tokens: the index of the piece and of its first token.
type Part = (usize, usize);

impl PieceLengths<'_> {
    /// Writes the span of each token of a piece. Returns false if the tokens do not cover the piece.
    pub fn find_spans_of(&self, piece: BlockPiece, ids: &[TokenId], spans: &mut [Span]) -> bool {
        let BlockPiece { start, end, .. } = piece;
        let pieces = CachedPieces { ranges: &[(start as u32, end as u32)], id_ends: &[ids.len() as u16], ids };
        !ids.is_empty() && self.find_spans(pieces, spans)
    }

    /// Writes the span of each token of adjacent pieces, each of which has tokens. Returns false if the tokens of a
    /// piece do not cover it. Most pieces are one token, and the first loop does not branch on the number of tokens,
    /// because the processor could not predict it.
    pub fn find_spans(&self, pieces: CachedPieces, spans: &mut [Span]) -> bool {
        let (mut parts, mut part_count) = ([Part::default(); BLOCK_LEN], 0);
        let mut id_start = 0;
        for (piece, (&(start, end), &id_end)) in pieces.ranges.iter().zip(pieces.id_ends).enumerate() {
            let last = id_end as usize - 1;
            spans[id_start].0 = start;
            spans[last].1 = end;
            parts[part_count] = (piece, id_start);
            part_count += (id_start < last || !self.covered.is_whole_if_single) as usize;
            id_start = last + 1;
        }
        parts[..part_count].iter().all(|&(piece, id_start)| {
            let tokens = id_start..pieces.id_ends[piece] as usize;
            self.find_token_spans(pieces.ranges[piece], &pieces.ids[tokens.clone()], &mut spans[tokens])
        })
    }

    /// Writes the span of each token of a piece. Returns false if the tokens do not cover the piece.
    #[inline]
    fn find_token_spans(&self, (start, end): Span, ids: &[TokenId], spans: &mut [Span]) -> bool {
        let (mut at, mut is_known) = (start, true);
        for (i, (&id, span)) in ids.iter().zip(spans).enumerate() {
            let (len, affix_len) = (self.lengths.get_or_zero(id), self.covered.affix_len(i == 0, i + 1 == ids.len()));
            is_known &= (len > 0) & (len >= affix_len);
            let token_end = at.wrapping_add(len).wrapping_sub(affix_len);
            *span = (at, token_end);
            at = token_end;
        }
        is_known && at == end
    }
}
