//! Binds the engine to Python: converts arguments and results, and has no algorithms.

mod arrow;
mod checksum;
mod columns;
mod convert;
mod errors;
mod gil;
mod ids;
mod incremental;
mod interpreter;
mod ints;
mod kept;
mod layout;
mod lists;
mod native;
mod objects;
mod options;
mod pattern;
mod sentencepiece;
mod simd;
mod spec;
mod streams;
mod text;
mod texts;
mod token_columns;
mod token_rows;
mod tokenizer;
mod train;
mod wire;

use numpy::PyArray1;
use pyo3::prelude::*;

/// Loads numpy, and waits if another thread is loading it.
#[pyfunction]
fn load_numpy(py: Python<'_>) {
    PyArray1::<u32>::zeros(py, 0, false);
}

/// The native module of polytok; the Python package polytok is its public interface.
#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    interpreter::check(module.py())?;
    objects::add_class::<tokenizer::PyTokenizer>(module)?;
    objects::add_class::<options::PyResolvedOptions>(module)?;
    objects::add_class::<text::PyParts>(module)?;
    objects::add_class::<token_columns::PyTokenColumns>(module)?;
    objects::add_class::<incremental::PyChunkEncoder>(module)?;
    objects::add_class::<incremental::PyIncrementalText>(module)?;
    objects::add_class::<streams::PyByteStream>(module)?;
    objects::add_class::<streams::PyTextStream>(module)?;
    objects::add_class::<streams::PyTextStreams>(module)?;
    objects::add_class::<checksum::PyChecksum>(module)?;
    module.add_function(wrap_pyfunction!(load_numpy, module)?)?;
    layout::register(module)?;
    native::register(module)?;
    wire::register(module)?;
    convert::register(module)?;
    pattern::register(module)?;
    sentencepiece::register(module)?;
    simd::register(module)?;
    texts::register(module)?;
    arrow::register(module)?;
    train::register(module)
}
