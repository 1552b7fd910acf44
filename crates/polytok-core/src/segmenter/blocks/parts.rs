//! Encodes a long piece part by part. A part is the text between two boundaries.
//!
//! Parts are collected in batches. Most parts are single characters, whose ids are in their records
//! (char_records.rs). The other parts are looked up in the cache: the keys of all parts of a batch are computed and
//! their cache lines prefetched before the first lookup.

use std::ops::ControlFlow;

use super::super::char_records::{CharRecord, CharRecords};
use super::super::{Context, Segmenter, SegmenterScratch, collect_segments};
use crate::boundary::{Boundary, CharWithRecord};
use crate::cache::{BlockPiece, Cache, MAX_ENTRY_IDS, PieceKey};
use crate::error::Result;
use crate::post::IdSink;
use crate::token_id::TokenId;
use crate::utf8::only_char;

/// The largest number of parts of a batch.
const MAX_PARTS: usize = 128;

/// A batch of parts of a piece, and memory for their ids. The memory is reused for later batches.
pub(crate) struct Parts {
    /// The records of the parts without flags; a part that is not a character with a record has one without ids.
    records: [CharRecord; MAX_PARTS],
    count: usize,
    /// The ranges of the other parts.
    ranges: [(u32, u32); MAX_PARTS],
    range_count: usize,
    keys: [(PieceKey, u32); MAX_PARTS],
    ids: [TokenId; MAX_PARTS * MAX_ENTRY_IDS],
}

impl Default for Parts {
    fn default() -> Parts {
        Parts {
            records: [CharRecord::default(); MAX_PARTS],
            count: 0,
            ranges: [(0, 0); MAX_PARTS],
            range_count: 0,
            keys: [(PieceKey::default(), 0); MAX_PARTS],
            ids: [TokenId(0); MAX_PARTS * MAX_ENTRY_IDS],
        }
    }
}

impl Parts {
    fn clear(&mut self) {
        (self.count, self.range_count) = (0, 0);
    }

    /// Adds a part, whose ids are those of `record` if it has ids. Returns true if the batch is full. The code has no
    /// branch on the kind of the part, because the processor would mispredict it.
    #[inline(always)]
    fn push(&mut self, start: usize, end: usize, record: CharRecord) -> bool {
        self.records[self.count] = record;
        self.ranges[self.range_count] = (start as u32, end as u32);
        self.count += 1;
        self.range_count += (record.id_count() == 0) as usize;
        self.count == MAX_PARTS
    }

    /// Reports whether the batch has only one part that ends at `end`.
    fn is_one_part_to(&self, end: usize) -> bool {
        self.count == 1 && self.range_count == 1 && self.ranges[0].1 as usize == end
    }

    /// Computes the keys of the parts without a record, and prefetches their cache lines.
    fn prepare(&mut self, text: &[u8], cache: &Cache, parts_differ: bool) {
        for (&(start, end), slot) in self.ranges[..self.range_count].iter().zip(&mut self.keys) {
            let mut key = PieceKey::new(text, start as usize, end as usize, parts_differ);
            let hash = cache.complete_and_prefetch(text, (start, end), &mut key);
            *slot = (key, hash);
        }
    }
}

impl<S: IdSink> Context<'_, '_, S> {
    /// Encodes a piece part by part. Returns false, and encodes nothing, if the piece has no boundary inside.
    pub(super) fn encode_at_inner_boundaries(
        &mut self,
        text: &[u8],
        piece: BlockPiece,
        boundary: &Boundary,
    ) -> Result<bool> {
        if text[piece.start..piece.end].is_ascii() {
            return self.encode_ascii_parts(text, piece, boundary);
        }
        let mut parts = self.scratch.parts.take().unwrap_or_default();
        let mut at = piece.start;
        let mut result = Ok(true);
        while at < piece.end && matches!(result, Ok(true)) {
            let start = at;
            at = self.segmenter.fill_parts(boundary, text, (at, piece.end), self.scratch, &mut parts);
            result = match start == piece.start && parts.is_one_part_to(piece.end) {
                true => Ok(false),
                false => self.encode_batch(text, &mut parts).map(|()| true),
            };
        }
        self.scratch.parts = Some(parts);
        result
    }

    /// Encodes a piece of ASCII characters part by part, as `encode_at_inner_boundaries` does. Boundaries in long ASCII
    /// pieces are found for 64 positions at a time.
    fn encode_ascii_parts(&mut self, text: &[u8], piece: BlockPiece, boundary: &Boundary) -> Result<bool> {
        let range = (piece.start, piece.end);
        if boundary.next_boundary(text, range) == piece.end {
            return Ok(false);
        }
        let mut parts = self.scratch.take_block();
        self.encode_parts(boundary, text, range, &mut parts)?;
        self.encode_last_block(text, parts)?;
        Ok(true)
    }

    /// Outputs the ids of a batch of parts.
    fn encode_batch(&mut self, text: &[u8], parts: &mut Parts) -> Result<()> {
        parts.prepare(text, &self.scratch.cache, self.segmenter.model.encodes_entries_whole());
        let (mut id_count, mut next) = (0, 0);
        for record in parts.records[..parts.count].iter() {
            let Some(id_slots) = parts.ids[id_count..].first_chunk_mut::<MAX_ENTRY_IDS>() else { break };
            if record.id_count() > 0 {
                id_count += record.write_ids(id_slots);
                continue;
            }
            let (key, hash) = parts.keys[next];
            let count = self.scratch.cache.get(key, hash, id_slots);
            id_count += count;
            if count == 0 {
                self.out.write_ids(&parts.ids[..id_count]);
                id_count = 0;
                let (start, end) = parts.ranges[next];
                self.encode_missing(text, BlockPiece { start: start as usize, end: end as usize, is_part: true }, key)?;
            }
            next += 1;
        }
        self.out.write_ids(&parts.ids[..id_count]);
        Ok(())
    }
}

impl Segmenter {
    /// Writes the first parts of `text[start..end]` to an empty batch, and returns the end of the last part.
    #[inline(never)]
    fn fill_parts(
        &self,
        boundary: &Boundary,
        text: &[u8],
        (start, end): (usize, usize),
        scratch: &mut SegmenterScratch,
        parts: &mut Parts,
    ) -> usize {
        parts.clear();
        let records = self.char_records();
        let mut on_part = |start: usize, end: usize, last_char: CharWithRecord| {
            // Only characters of three bytes have ids in their records.
            let is_char = end - start == 3 && last_char.len == 3;
            let mut record =
                if is_char { CharRecord(last_char.record) } else { CharRecord::WITHOUT_IDS }.without_flags();
            if record == CharRecord::default() {
                record = self.complete_record(&text[start..end], last_char, records, scratch);
            }
            if parts.push(start, end, record) { ControlFlow::Break(end) } else { ControlFlow::Continue(()) }
        };
        let record_of = |code_point| records.get(code_point, boundary);
        let mut at = start;
        while at < end {
            match boundary.for_each_part_to_ascii(text, (at, end), record_of, &mut on_part) {
                ControlFlow::Continue(part_end) => at = part_end,
                ControlFlow::Break(part_end) => return part_end,
            }
        }
        end
    }

    /// Adds the ids of a part of one character to the record of the character. Returns the new record without flags.
    #[cold]
    #[inline(never)]
    fn complete_record(
        &self,
        part: &[u8],
        last_char: CharWithRecord,
        records: &CharRecords,
        scratch: &mut SegmenterScratch,
    ) -> CharRecord {
        let Some(code_point) = only_char(part).filter(|_| !self.model.depends_on_position(part, 0)) else {
            return CharRecord::WITHOUT_IDS;
        };
        let SegmenterScratch { model, ids, .. } = scratch;
        let is_known = self.model.encode_short(part, true, model, ids)
            || scratch
                .run_model(|model, segments| self.model.segment(part, 0, true, model, &mut collect_segments(segments)))
                == Ok(true);
        let ids = if is_known { &scratch.ids[..] } else { &[] };
        records.insert(code_point as usize, CharRecord(last_char.record), ids).without_flags()
    }
}
