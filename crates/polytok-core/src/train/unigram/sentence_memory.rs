//! Limits the memory that all threads together use for sentences.
//!
//! If the sentences do not fit, the threads continue to add up their size, so that the error can name a sufficient
//! limit.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::error::{Error, Result};
use crate::train::room::{COUNTING_DIVISOR, megabytes};
use crate::train::sentencepiece::options::SentencePieceOptions;

/// The highest number of copies of a whole sentence in memory: as read, in the order of the corpus, and as trained on.
const MAX_COPIES: usize = 3;

/// The bytes that the sinks of all threads use for sentences. Counted words are not included.
pub struct SentenceMemory {
    bytes: AtomicUsize,
    max_bytes: usize,
    /// The highest number of copies of each sentence.
    copies: usize,
}

impl SentenceMemory {
    /// Reserves half of the limit of all threads for sentences. The other half is for counted words.
    pub fn new(options: &SentencePieceOptions, limit: usize) -> SentenceMemory {
        let copies = if options.split_by_whitespace { 1 } else { MAX_COPIES };
        SentenceMemory { bytes: AtomicUsize::new(0), max_bytes: limit / 2 / copies, copies }
    }

    /// Adds the bytes of a sentence, which count even if the sentence does not fit.
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
        let reason = if self.copies == 1 {
            "some bytes of each sentence stay"
        } else {
            "without split_by_whitespace all sentences stay"
        };
        let bytes = self.bytes.load(Relaxed).saturating_mul(self.copies);
        Err(Error::Argument(format!(
            "{reason} in memory, which takes {}; raise max_memory to {}M, or train on a sample of the text \
             (input_sentence_size)",
            megabytes(bytes as u64),
            bytes.saturating_mul(2 * COUNTING_DIVISOR).div_ceil(1 << 20),
        )))
    }
}
