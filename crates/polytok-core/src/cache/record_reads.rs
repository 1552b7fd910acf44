//! The records that a lookup of a block reads after it has looked at all entries, so that the processor fetches the
//! cache lines of these records in parallel.

use super::block::BLOCK_LEN;
use super::records::RecordPlace;

/// A record to read for a piece of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordRead {
    pub(super) place: RecordPlace,
    /// The index of the piece in the block.
    pub(super) piece: u32,
    /// The index at which the ids are written.
    pub(super) ids_at: u32,
}

/// The records to read, at most one for each piece of a block.
#[derive(Debug)]
pub(super) struct RecordReads {
    reads: [RecordRead; BLOCK_LEN],
    count: usize,
}

impl RecordReads {
    pub(super) fn new() -> RecordReads {
        RecordReads { reads: [RecordRead::default(); BLOCK_LEN], count: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a record.
    #[inline]
    pub(super) fn push(&mut self, read: RecordRead) {
        self.reads[self.count] = read;
        self.count += 1;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &RecordRead> {
        self.reads[..self.count].iter()
    }
}
