//! Trainers: counted words in, columns of a vocabulary out. python/polytok/train is their public face.

mod bpe;
mod progress;
mod splitting;
mod words;

use pyo3::prelude::*;

/// Adds the classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    bpe::register(module)?;
    module.add_class::<splitting::WordSplitter>()?;
    module.add_class::<words::PyWords>()
}
