//! Trainers: counted words in, columns of a vocabulary out. python/polytok/train is their public face.

mod bpe;
mod counts;
mod longest;
mod progress;
mod sentencepiece;
mod unigram;
mod words;

use pyo3::prelude::*;

/// Adds the classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<sentencepiece::PySentencePieceTrainer>()?;
    module.add_class::<unigram::PyUnigramTrainer>()?;
    module.add_class::<words::PyWords>()?;
    module.add_class::<counts::PyTextCounter>()?;
    module.add_class::<counts::PyWordCounter>()?;
    module.add_function(wrap_pyfunction!(counts::counts_description, module)?)?;
    bpe::register(module)?;
    longest::register(module)?;
    sentencepiece::register(module)?;
    module.add_class::<unigram::PyUnigramTrainer>()
}
