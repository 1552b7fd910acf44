//! Wraps the trainers, which learn the columns of a vocabulary from counted words. The package python/polytok/training
//! is the public interface.

mod bpe;
mod counts;
mod exclusive;
mod huggingface_unigram;
mod longest;
mod progress;
mod sentencepiece;
mod unigram;
mod words;

use pyo3::prelude::*;

/// Adds the classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<words::PyWords>()?;
    counts::register(module)?;
    bpe::register(module)?;
    huggingface_unigram::register(module)?;
    longest::register(module)?;
    sentencepiece::register(module)
}
