//! Limits the memory that all threads together use for sentences to a part of the memory limit.
//!
//! If the sentences do not fit, the threads continue to add up their size, so that the error can name a sufficient limit.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::error::{Error, Result};
use crate::train::room::{COUNTING, megabytes};
use crate::train::sentencepiece::options::Options;

/// The most copies of a whole sentence in memory: as it is read, in the order of all, and as it is trained on.
const COPIES: usize = 3;

/// The bytes that the sinks of all threads hold, without counted words.
pub struct HeldSentences {
    bytes: AtomicUsize,
    most: usize,
    /// The most copies of each sentence.
    copies: usize,
}

impl HeldSentences {
    /// Counted words take at most half of the limit of all threads; sentences take the other half.
    pub fn new(options: &Options, limit: usize) -> HeldSentences {
        let copies = if options.split_by_whitespace { 1 } else { COPIES };
        HeldSentences { bytes: AtomicUsize::new(0), most: limit / 2 / copies, copies }
    }

    /// Adds bytes that are held, or would be if they fitted.
    pub fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    /// Whether more bytes fit.
    pub fn fits(&self) -> bool {
        self.bytes.load(Relaxed) <= self.most
    }

    /// An error if the sentences did not fit.
    pub fn check(&self) -> Result<()> {
        if self.fits() {
            return Ok(());
        }
        let what = if self.copies == 1 {
            "some bytes of each sentence stay"
        } else {
            "without split_by_whitespace all sentences stay"
        };
        let bytes = self.bytes.load(Relaxed).saturating_mul(self.copies);
        Err(Error::Argument(format!(
            "{what} in memory, which takes {}; raise max_memory to {}M, or train on a sample of the text \
             (input_sentence_size)",
            megabytes(bytes as u64),
            bytes.saturating_mul(2 * COUNTING).div_ceil(1 << 20),
        )))
    }
}
