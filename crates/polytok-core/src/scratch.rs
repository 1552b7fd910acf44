//! The buffers and caches that a thread uses while it encodes; they are kept from call to call.

use crate::cache::Cache;
use crate::huge::release;
use crate::routes::RouteScratch;
use crate::segmenter::SegmenterScratch;
use crate::sink::lengths::Tiles;

/// The size above which a buffer is freed after a call, so that the memory for one huge text is not kept.
const MAX_KEPT: usize = 1 << 20;

/// The buffers and caches of one encoding at a time.
#[derive(Default)]
pub struct Scratch {
    pub(crate) normalized: Vec<u8>,
    pub(crate) spare: Vec<u8>,
    pub(crate) tiles: Tiles,
    pub(crate) route: RouteScratch,
    pub(crate) segmenter: SegmenterScratch,
    /// The pool's count of cache clearings when this scratch last cleared its cache; see `Pool`.
    pub(crate) epoch: usize,
}

impl Scratch {
    /// Empties the caches, and limits their memory to `limit` bytes. No model has both kinds of caches.
    pub(crate) fn renew(&mut self, limit: usize) {
        self.segmenter.cache = Cache::new(limit);
        self.segmenter.model.unigram.renew(limit);
    }

    /// Returns the number of bytes that the caches take.
    pub(crate) fn cached(&self) -> usize {
        self.segmenter.cache.bytes() + self.segmenter.model.unigram.bytes()
    }

    /// Frees buffers that one huge text has made large.
    pub(crate) fn release(&mut self) {
        release(&mut self.normalized, MAX_KEPT);
        release(&mut self.spare, MAX_KEPT);
        self.tiles.release(MAX_KEPT);
        self.route.release(MAX_KEPT);
        self.segmenter.release(MAX_KEPT);
    }
}
