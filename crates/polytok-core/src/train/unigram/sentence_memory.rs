//! Limits the memory that all threads together use for sentences.
//!
//! If the sentences do not fit, the threads do not store them, but still add up their sizes, so that the error can name
//! a sufficient limit.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::error::{Error, Result};
use crate::train::room::{COUNTING_DIVISOR, format_megabytes};
use crate::train::sentencepiece::options::SentencePieceOptions;

/// The maximum number of copies of a whole sentence in memory: one as read, one in the order of the corpus, and one for
/// training.
const MAX_COPIES: usize = 3;

/// Adds up the bytes that all threads use for sentences, without the bytes of counted words.
pub struct SentenceMemory {
    bytes: AtomicUsize,
    max_bytes: usize,
    /// The maximum number of copies of each sentence in memory.
    max_copies: usize,
}

impl SentenceMemory {
    /// Reserves half of the limit of all threads for sentences. The other half is for counted words.
    pub fn new(options: &SentencePieceOptions, limit: usize) -> SentenceMemory {
        let max_copies = if options.split_by_whitespace { 1 } else { MAX_COPIES };
        SentenceMemory { bytes: AtomicUsize::new(0), max_bytes: limit / 2 / max_copies, max_copies }
    }

    /// Adds the bytes of a sentence. They are added even if the sentence does not fit.
    pub fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    /// Reports whether all sentences so far fit.
    pub fn fits(&self) -> bool {
        self.bytes.load(Relaxed) <= self.max_bytes
    }

    /// Returns an error if the sentences do not fit.
    pub fn check(&self) -> Result<()> {
        if self.fits() {
            return Ok(());
        }
        let reason = if self.max_copies == 1 {
            "some bytes of each sentence stay"
        } else {
            "without split_by_whitespace all sentences stay"
        };
        let bytes = self.bytes.load(Relaxed).saturating_mul(self.max_copies);
        Err(Error::Argument(format!(
            "{reason} in memory, which takes {}; raise max_memory to {}M, or train on a sample of the text \
             (input_sentence_size)",
            format_megabytes(bytes as u64),
            bytes.saturating_mul(2 * COUNTING_DIVISOR).div_ceil(1 << 20),
        )))
    }
}
