//! Converts normalized text to ids: the text is split to pieces (pieces.rs), most pieces are found in the cache
//! (blocks.rs), and the model encodes the other pieces.
//!
//! Invariant: the ids are equal to the ids of `CompiledModel::segment` for each piece. Cost: the model's cost for each
//! different piece.

mod blocks;
mod char_records;
mod pieces;

use std::sync::Arc;

use crate::boundary::Boundary;
use crate::cache::{Block, Cache};
use crate::huge::release;
use crate::lazy::Lazy;
use crate::model::{CompiledModel, ModelScratch};
use crate::normalize::output::Span;
use crate::post::lengths::Lengths;
use crate::post::{Fallback, Out, Sink};
use crate::segment::Segment;
use crate::split::chain::SplitChain;
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::vocab::Vocab;
pub(crate) use blocks::collect_segments;
use blocks::parts::Parts;
pub(crate) use blocks::spans::room_for;
use char_records::CharRecords;

/// The compiled parts that encode normalized text.
pub(crate) struct Segmenter {
    pub vocab: Arc<Vocab>,
    pub splits: SplitChain,
    pub model: CompiledModel,
    /// Finds boundaries in long pieces, and in texts without a split.
    pub boundary: Option<Boundary>,
    /// The records of characters, which are created when a piece is first split at boundaries.
    pub char_records: Lazy<CharRecords>,
    /// User-defined pieces, which are matched before anything else in texts without a split.
    pub user_defined: Option<Arc<Trie>>,
    pub fallback: Fallback,
    /// The lengths of the entries, from which spans are computed.
    pub lengths: Lazy<Lengths>,
}

impl Segmenter {
    /// Builds the tables that encoding would otherwise build later.
    pub fn warm_up(&self) {
        self.splits.warm_up();
        self.model.warm_up(&self.vocab);
        if self.boundary.is_some() {
            self.char_records();
        }
        self.piece_lengths();
    }

    fn char_records(&self) -> &CharRecords {
        self.char_records.get(CharRecords::new)
    }
}

/// The memory of a segmenter.
#[derive(Default)]
pub(crate) struct SegmenterScratch {
    pub model: ModelScratch,
    pub cache: Cache,
    pub segments: Vec<Segment>,
    /// The pieces of a text that ByteLevel has rewritten.
    byte_level_text: Vec<u8>,
    pub ids: Vec<TokenId>,
    /// The spans of the tokens of cached pieces.
    pub spans: Vec<Span>,
    /// The ids of a long piece that is encoded part by part.
    long_ids: Vec<u32>,
    pub blocks: Vec<Box<Block>>,
    /// The batch of parts of a piece, while no piece is split.
    pub parts: Option<Box<Parts>>,
}

impl SegmenterScratch {
    /// An empty block.
    #[inline]
    pub fn take_block(&mut self) -> Box<Block> {
        let mut block = self.blocks.pop().unwrap_or_default();
        block.clear();
        block
    }

    /// Frees buffers of more than `max_kept` items.
    pub fn release(&mut self, max_kept: usize) {
        release(&mut self.segments, max_kept);
        release(&mut self.ids, max_kept);
        release(&mut self.spans, max_kept);
        release(&mut self.byte_level_text, max_kept);
        self.model.release(max_kept);
    }
}

/// The context of one encoding in the segmenter or a route: the segmenter, its memory, and the output.
pub(crate) struct Context<'c, 'o, S> {
    pub segmenter: &'c Segmenter,
    pub scratch: &'c mut SegmenterScratch,
    pub out: &'c mut Out<'o, S>,
}

impl<'o, S: Sink> Context<'_, 'o, S> {
    /// Returns the same context if its sink needs only ids.
    fn by_ids(&mut self) -> Option<Context<'_, 'o, S::Ids>> {
        let out = S::by_ids(self.out)?;
        Some(Context { segmenter: self.segmenter, scratch: self.scratch, out })
    }
}

#[cfg(test)]
mod tests;
