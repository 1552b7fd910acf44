//! Reads the options that only SentencePiece's Unigram trainer has.

use polytok_core::train::unigram::UnigramOptions;
use polytok_core::train::words::WordCounts;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::objects::Items;

/// The options of Unigram training, read from a dictionary whose keys are the engine's field names.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PyUnigramOptions {
    seeds: Option<Items<(PyBackedBytes, u64)>>,
    seed_size: usize,
    shrinking_factor: f32,
    sub_iterations: usize,
    lanes: usize,
}

impl PyUnigramOptions {
    /// Converts the options to the engine's; learning uses at most `room` bytes.
    pub fn to_core(&self, room: Option<usize>) -> UnigramOptions {
        let seeds = self.seeds.as_ref().map(|seeds| {
            let mut words = WordCounts::default();
            seeds.0.iter().for_each(|(text, count)| words.push(text, *count));
            words
        });
        let PyUnigramOptions { seed_size, shrinking_factor, sub_iterations, lanes, .. } = *self;
        UnigramOptions { seeds, seed_size, shrinking_factor, sub_iterations, lanes, usable_memory: room }
    }
}
