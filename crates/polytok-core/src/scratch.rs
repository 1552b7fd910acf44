//! What a thread needs while it encodes; kept from call to call.

use crate::cache::Cache;
use crate::huge::release;
use crate::routes::RouteScratch;
use crate::segmenter::SegmenterScratch;
use crate::sink::lengths::Tiles;

/// Longer buffers are freed after each call, so that one huge text does not keep its memory.
const KEPT: usize = 1 << 20;

/// The memory of one encoding at a time.
#[derive(Default)]
pub struct Scratch {
    pub(crate) normalized: Vec<u8>,
    pub(crate) spare: Vec<u8>,
    pub(crate) tiles: Tiles,
    pub(crate) route: RouteScratch,
    pub(crate) segmenter: SegmenterScratch,
    /// See `Pool`.
    pub(crate) epoch: usize,
}

impl Scratch {
    /// Empties the caches; from now on they take at most `limit` bytes. No model has both kinds of caches.
    pub(crate) fn renew(&mut self, limit: usize) {
        self.segmenter.cache = Cache::new(limit);
        self.segmenter.model.unigram.renew(limit);
    }

    /// The bytes that caches take.
    pub(crate) fn cached(&self) -> usize {
        self.segmenter.cache.bytes() + self.segmenter.model.unigram.bytes()
    }

    /// Frees what one huge text made the buffers grow to.
    pub(crate) fn release(&mut self) {
        release(&mut self.normalized, KEPT);
        release(&mut self.spare, KEPT);
        self.tiles.release(KEPT);
        self.route.release(KEPT);
        self.segmenter.release(KEPT);
    }
}
