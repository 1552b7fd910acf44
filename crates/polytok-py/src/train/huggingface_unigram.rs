//! Wraps the trainer of tokenizers' Unigram vocabularies.

use polytok_core::train::huggingface_unigram::{self, HuggingFaceUnigramOptions};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::progress::Reporter;
use super::words::PyWords;
use crate::lists;
use crate::objects;

/// Learns pieces with their scores, in the order in which the vocabulary is filled.
#[pyfunction]
#[pyo3(signature = (words, vocab_size, seed_size, max_piece_length, shrinking_factor, sub_iterations, threads))]
#[allow(clippy::too_many_arguments)] // one for each field of the options
fn train_huggingface_unigram<'py>(
    py: Python<'py>,
    words: Bound<'py, PyWords>,
    vocab_size: usize,
    seed_size: usize,
    max_piece_length: usize,
    shrinking_factor: f64,
    sub_iterations: usize,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let words = &words.get().0;
    let options = HuggingFaceUnigramOptions {
        vocab_size,
        seed_size,
        max_piece_length,
        shrinking_factor,
        sub_iterations,
        threads,
    };
    let pieces = Reporter::new(None).run(py, |progress| huggingface_unigram::train(words, &options, progress))?;
    lists::of_results(py, pieces.iter().map(|(piece, score)| Ok((objects::bytes(py, piece)?, *score))))
}

/// Adds the function to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(train_huggingface_unigram, module)?)
}
