//! Searching by the patterns that splitting knows, with their tables of Unicode.

use polytok_pattern::Splitter;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::errors::to_python;

/// For each text whether the pattern matches a part of it that is not empty; of what is no UTF-8 nothing matches.
#[pyfunction]
fn pattern_matches(pattern: &str, texts: Vec<PyBackedBytes>) -> PyResult<Vec<bool>> {
    let splitter = Splitter::compile(pattern).map_err(|error| to_python(error.into()))?;
    let matches = |text: &PyBackedBytes| {
        let Ok(text) = std::str::from_utf8(text) else { return Ok(false) };
        let mut is_found = false;
        splitter.split(text, |start, end| is_found |= start < end).map(|()| is_found)
    };
    texts.iter().map(matches).collect::<Result<_, polytok_pattern::Error>>().map_err(|error| to_python(error.into()))
}

/// Adds the function to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(pattern_matches, module)?)
}
