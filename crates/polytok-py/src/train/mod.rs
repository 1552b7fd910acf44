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

use crate::objects;

/// Adds the classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    objects::add_class::<words::PyWords>(module)?;
    counts::register(module)?;
    bpe::register(module)?;
    huggingface_unigram::register(module)?;
    longest::register(module)?;
    sentencepiece::register(module)
}
