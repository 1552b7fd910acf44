//! Splits bytes that are not UTF-8 at boundaries between bytes that are adjacent in no entry; split patterns
//! cannot split such bytes.
//!
//! No merge can cross such a boundary (see boundary/neighbours.rs), so the parts are merged alone, and a part of one
//! byte needs no merging. Twin: merging the same bytes as one piece. Cost: one pass over all entries when the table is
//! built, and one bit test for each byte of text.

use polytok_memory::{Collect, Grow};

use super::{Bpe, BpeScratch, SymbolOutput};
use crate::boundary::neighbours::BytePairs;
use crate::error::Result;
use crate::model::bpe::merging::Merging;
use crate::segment::PieceSource;
use crate::segment::Segment;
use crate::token_id::TokenId;

/// The smallest number of bytes for which splitting is worth the pass over all entries.
const MIN_SPLIT_BYTES: usize = 1 << 10;

/// The boundaries between bytes, and the ids of single bytes.
pub(super) struct ByteBoundaries {
    adjacent_bytes: BytePairs,
    /// The id of each byte, for parts of one byte; None if the output of the byte is not an id.
    single_byte_ids: [Option<TokenId>; 256],
}

impl ByteBoundaries {
    /// Returns the end of the part that starts at `at`, which must be inside the text.
    #[inline]
    fn next_boundary(&self, text: &[u8], at: usize) -> usize {
        let joins = |pair: &&[u8]| self.adjacent_bytes.has(pair[0], pair[1]);
        at + 1 + text[at..].windows(2).take_while(joins).count()
    }
}

impl Bpe {
    /// Segments a text that is not UTF-8, as tiktoken does (0.14, `_encode_bytes`). The first `valid_len` bytes are
    /// UTF-8. The UTF-8 part is split and encoded. Then the tokens of the last piece are removed. If that piece starts
    /// with a white-space token, all white-space tokens directly before the piece are removed too. The bytes of the
    /// removed tokens and all bytes after them are encoded as one piece.
    pub fn segment_invalid(
        &self,
        text: &[u8],
        valid_len: usize,
        split: &PieceSource,
        scratch: &mut BpeScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let (segments, last_piece) = self.segment_prefix(&text[..valid_len], split, scratch)?;
        let (kept_segments, removed_segments) = segments.split_at(count_kept_segments(text, &segments, last_piece));
        kept_segments.iter().try_for_each(|&segment| emit(segment))?;
        let removed_start = removed_segments.first().map_or(valid_len, |segment| segment.start as usize);
        if removed_segments.iter().map(|segment| (segment.end - segment.start) as usize).sum::<usize>()
            == valid_len - removed_start
        {
            let map_offset = |at: u32| at + removed_start as u32;
            return self.segment_broken(&text[removed_start..], scratch, &mut |segment| {
                emit(map_offsets(segment, map_offset))
            });
        }
        // The pattern can leave text unmatched, which is in no segment. So the piece is assembled from the removed
        // segments, with the offset of each byte.
        let removed_segments = removed_segments.iter().flat_map(|segment| segment.start..segment.end);
        let offsets: Vec<u32> = removed_segments.chain(valid_len as u32..text.len() as u32).checked_collect();
        let piece: Vec<u8> = offsets.iter().map(|&at| text[at as usize]).checked_collect();
        // A segment ends after its own last byte: up to its next byte, there can be text that is in no segment.
        let map_segment = |Segment { id, start, end }| Segment {
            id,
            start: offsets[start as usize],
            end: offsets[end as usize - 1] + 1,
        };
        self.segment_broken(&piece, scratch, &mut |segment| emit(map_segment(segment)))
    }

    /// Returns the segments of a UTF-8 text, and the number of segments before the last piece.
    fn segment_prefix(
        &self,
        prefix: &[u8],
        split: &PieceSource,
        scratch: &mut BpeScratch,
    ) -> Result<(Vec<Segment>, usize)> {
        let (mut segments, mut last_piece, mut result) = (Vec::new(), 0, Ok(()));
        split(std::str::from_utf8(prefix).unwrap_or_default(), &mut |start, end| {
            last_piece = segments.len();
            let mut push_segment = |segment: Segment| {
                segments.checked_push(map_offsets(segment, |at| at + start as u32));
                Ok(())
            };
            if result.is_ok() {
                result = self.segment(&prefix[start..end], start, false, scratch, &mut push_segment);
            }
        })?;
        result.map(|()| (segments, last_piece))
    }

    /// Segments a piece like `segment`; the piece can have any bytes.
    pub fn segment_broken(
        &self,
        piece: &[u8],
        scratch: &mut BpeScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let should_split = piece.len() >= MIN_SPLIT_BYTES && self.splits_broken_pieces();
        let Some(merging) = should_split.then(|| self.merging(piece.len())).flatten() else {
            return self.segment(piece, 0, false, scratch, emit);
        };
        let boundaries = self.byte_boundaries(merging);
        let mut at = 0;
        while at < piece.len() {
            let (start, end) = (at, boundaries.next_boundary(piece, at));
            at = end;
            if let (true, Some(id)) = (end - start == 1, boundaries.single_byte_ids[piece[start] as usize]) {
                emit(Segment { id, start: start as u32, end: end as u32 })?;
                continue;
            }
            let mut emit_shifted = |segment: Segment| {
                emit(Segment { start: start as u32 + segment.start, end: start as u32 + segment.end, ..segment })
            };
            self.segment(&piece[start..end], start, end - start < piece.len(), scratch, &mut emit_shifted)?;
        }
        Ok(())
    }

    /// Reports whether long pieces that are not UTF-8 can be split at boundaries between bytes.
    pub(super) fn splits_broken_pieces(&self) -> bool {
        self.is_of_bytes() && self.can_split_at_boundaries()
    }

    /// Returns the boundaries between bytes; the first call builds the tables.
    pub(super) fn byte_boundaries(&self, merging: &Merging) -> &ByteBoundaries {
        self.byte_boundaries.get(|| self.build_byte_boundaries(merging))
    }

    fn build_byte_boundaries(&self, merging: &Merging) -> ByteBoundaries {
        let adjacent_bytes = BytePairs::from_entries(self.vocab.rows().map(|row| self.vocab.bytes(row)));
        let single_byte_ids =
            std::array::from_fn(|byte| match self.symbol_output(merging.units.byte_symbols()[byte], &[byte as u8]) {
                SymbolOutput::Id(id) => Some(id),
                _ => None,
            });
        ByteBoundaries { adjacent_bytes, single_byte_ids }
    }
}

/// Returns the number of segments that tiktoken keeps when the rest of the text is not UTF-8.
fn count_kept_segments(text: &[u8], segments: &[Segment], last_piece: usize) -> usize {
    let is_space = |segment: &Segment| {
        text[segment.start as usize..segment.end as usize].iter().all(|byte| b" \n\t".contains(byte))
    };
    if !segments.get(last_piece).is_some_and(is_space) {
        return last_piece;
    }
    segments[..last_piece].iter().rposition(|segment| !is_space(segment)).map_or(0, |at| at + 1)
}

/// Returns a segment whose start and end are mapped by `map_offset`.
fn map_offsets(segment: Segment, map_offset: impl Fn(u32) -> u32) -> Segment {
    Segment { start: map_offset(segment.start), end: map_offset(segment.end), ..segment }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::bpe::{BpeRules, Symbols, Tables};
    use crate::spec::{Priority, SentencePieceVersion, VocabColumns};
    use crate::vocab::Vocab;

    #[test]
    fn unmatched_text_before_invalid_bytes_is_in_no_segment() {
        let entries: Vec<_> = (0..=255u8).map(|byte| vec![byte]).collect();
        let vocab = Arc::new(Vocab::new(VocabColumns::from_entries(&entries)).unwrap());
        let rules = BpeRules::new(Symbols::Bytes, false, SentencePieceVersion::default());
        let bpe = Bpe::compile(vocab, &Priority::Rank, &rules, None, &mut Tables::default()).unwrap();
        let split = |_: &str, piece: &mut dyn FnMut(usize, usize)| {
            piece(0, 2);
            Ok(())
        };
        let mut spans = Vec::new();
        let mut push = |segment: Segment| {
            spans.push((segment.start, segment.end));
            Ok(())
        };
        bpe.segment_invalid(b"ab--\xFF", 4, &split, &mut BpeScratch::default(), &mut push).unwrap();
        assert_eq!(spans, [(0, 1), (1, 2), (4, 5)]);
    }
}
