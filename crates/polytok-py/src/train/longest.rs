//! Wraps the trainer of longest-match vocabularies.

use polytok_core::train::longest::{self, LongestMatchOptions};
use polytok_memory::Collect;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyList;

use super::progress::Reporter;
use super::words::PyWords;
use crate::errors::catch;
use crate::lists;
use crate::objects::{self, Items};

/// Learns a longest-match vocabulary. Returns the entries in the order of the ids, and the number of
/// tokens of the words.
#[pyfunction]
#[pyo3(signature = (words, entries, chars, bytes, min_count, parts_of_chars, forced, threads, room, report))]
#[allow(clippy::too_many_arguments)] // one for each field of the options
fn train_longest_match<'py>(
    py: Python<'py>,
    words: Bound<'py, PyWords>,
    entries: usize,
    chars: usize,
    bytes: usize,
    min_count: Option<u64>,
    parts_of_chars: bool,
    forced: Items<PyBackedBytes>,
    threads: usize,
    room: Option<usize>,
    report: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyList>, u64)> {
    let words = &words.get().0;
    let forced = catch(|| forced.0.iter().map(|entry| &entry[..]).checked_collect())?;
    let options = LongestMatchOptions {
        entries,
        max_chars: chars,
        max_bytes: bytes,
        min_count,
        starts_of_chars: parts_of_chars,
        forced: &forced,
        threads,
        usable_memory: room,
    };
    let trained = Reporter::new(report).run(py, |progress| longest::train(words, &options, progress))?;
    Ok((lists::of_results(py, trained.entries.iter().map(|entry| objects::bytes(py, entry)))?, trained.tokens))
}

/// Adds the function to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(train_longest_match, module)?)
}
