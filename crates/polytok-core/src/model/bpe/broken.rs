//! Bytes that are not UTF-8, which no split pattern divides: they are divided here between two bytes that are adjacent in no entry.
//!
//! No merge can cross such a place (see boundary/neighbours.rs), so the parts are merged on their own, and if a part is a single byte
//! there is nothing to merge. Twin: the same bytes as one piece. Cost: one bit for each byte, and
//! once a look at all entries.

use super::{Bpe, BpeScratch, Emit};
use crate::boundary::neighbours::BytePairs;
use crate::error::Result;
use crate::model::Segment;
use crate::model::bpe::merging::Merging;

/// Fewer bytes are not worth the look at all entries.
const LEAST: usize = 1 << 10;

/// What is known of bytes.
pub(super) struct ByteCuts {
    joined: BytePairs,
    /// The id of each byte that stands alone, if it is simply an id.
    alone: [Option<u32>; 256],
}

impl ByteCuts {
    /// The end of the part that starts at `at`, which must be inside the text.
    #[inline]
    fn next(&self, text: &[u8], at: usize) -> usize {
        let joins = |pair: &&[u8]| self.joined.has(pair[0], pair[1]);
        at + 1 + text[at..].windows(2).take_while(joins).count()
    }
}

impl Bpe {
    /// `segment` for a piece of any bytes.
    pub fn segment_broken(
        &self,
        piece: &[u8],
        scratch: &mut BpeScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let pays = piece.len() >= LEAST && self.is_of_bytes() && self.can_cut();
        let Some(merging) = pays.then(|| self.merging(piece.len())).flatten() else {
            return self.segment(piece, 0, false, scratch, emit);
        };
        let cuts = self.byte_cuts.get(|| self.new_byte_cuts(merging));
        let mut at = 0;
        while at < piece.len() {
            let (start, end) = (at, cuts.next(piece, at));
            at = end;
            if let (true, Some(id)) = (end - start == 1, cuts.alone[piece[start] as usize]) {
                emit(Segment { id, start: start as u32, end: end as u32 })?;
                continue;
            }
            let mut shifted = |segment: Segment| {
                emit(Segment { start: start as u32 + segment.start, end: start as u32 + segment.end, ..segment })
            };
            self.segment(&piece[start..end], start, end - start < piece.len(), scratch, &mut shifted)?;
        }
        Ok(())
    }

    fn new_byte_cuts(&self, merging: &Merging) -> ByteCuts {
        let joined = BytePairs::of((0..self.vocab.len()).map(|row| self.vocab.bytes(row)));
        let alone = std::array::from_fn(|byte| match self.becomes(merging.units.of_bytes()[byte], &[byte as u8]) {
            Emit::Id(id) => Some(id),
            _ => None,
        });
        ByteCuts { joined, alone }
    }
}
