//! How much is held of sentences, by all threads together, within a part of a memory limit.
//!
//! Where it does not fit the threads go on to add up what it would take, so that the error tells which limit would do.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::error::{Error, Result};
use crate::train::room::{COUNTING, megabytes};
use crate::train::sentencepiece::options::Options;

/// How often a whole sentence is held at the most: as it is read, in the order of all, and as it is trained on.
const COPIES: usize = 3;

/// Bytes that the sinks of all threads hold besides words that are counted.
pub struct Held {
    bytes: AtomicUsize,
    most: usize,
    /// They may be held so many times.
    copies: usize,
}

impl Held {
    /// What is counted takes a half of the limit of all threads at the most, what is held of sentences the other.
    pub fn new(options: &Options, limit: usize) -> Held {
        let copies = if options.split_by_whitespace { 1 } else { COPIES };
        Held { bytes: AtomicUsize::new(0), most: limit / 2 / copies, copies }
    }

    /// More is held, or would be.
    pub fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    /// Whether more may be held.
    pub fn fits(&self) -> bool {
        self.bytes.load(Relaxed) <= self.most
    }

    /// An error where it did not fit.
    pub fn check(&self) -> Result<()> {
        if self.fits() {
            return Ok(());
        }
        let what = if self.copies == 1 {
            "of each sentence some bytes are"
        } else {
            "without split_by_whitespace all sentences are"
        };
        let bytes = self.bytes.load(Relaxed).saturating_mul(self.copies);
        Err(Error::Argument(format!(
            "{what} held in memory, which takes {}: raise max_memory to {}M, or train on a sample of the text \
             (input_sentence_size)",
            megabytes(bytes as u64),
            bytes.saturating_mul(2 * COUNTING).div_ceil(1 << 20),
        )))
    }
}
