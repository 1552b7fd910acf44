//! The buffers and caches that a thread uses while it encodes; a pool keeps them from call to call.

use crate::cache::Cache;
use crate::huge::release;
use crate::post::tiles::Tiles;
use crate::routes::RouteScratch;
use crate::segmenter::SegmenterScratch;

/// The largest capacity of a buffer that is kept after a call; a larger buffer, which a huge text needed, is freed.
const MAX_KEPT_CAPACITY: usize = 1 << 20;

/// The buffers and caches of a call; a call encodes one text at a time.
#[derive(Default)]
pub struct Scratch {
    pub(crate) normalized: Vec<u8>,
    pub(crate) spare: Vec<u8>,
    pub(crate) tiles: Tiles,
    pub(crate) route: RouteScratch,
    pub(crate) segmenter: SegmenterScratch,
    /// The value of the pool's `epoch` when the caches of this scratch were last cleared.
    pub(crate) epoch: usize,
}

impl Scratch {
    /// Empties the caches, and limits the memory of each cache to `limit` bytes. No model uses both caches.
    pub(crate) fn renew(&mut self, limit: usize) {
        self.segmenter.cache = Cache::new(limit);
        self.segmenter.model.unigram.renew(limit);
    }

    /// Returns the number of bytes that the caches take.
    pub(crate) fn cache_bytes(&self) -> usize {
        self.segmenter.cache.bytes() + self.segmenter.model.unigram.bytes()
    }

    /// Frees the buffers whose capacity exceeds `MAX_KEPT_CAPACITY`.
    pub(crate) fn release(&mut self) {
        release(&mut self.normalized, MAX_KEPT_CAPACITY);
        release(&mut self.spare, MAX_KEPT_CAPACITY);
        self.tiles.release(MAX_KEPT_CAPACITY);
        self.route.release(MAX_KEPT_CAPACITY);
        self.segmenter.release(MAX_KEPT_CAPACITY);
    }
}
