//! Wraps split patterns in Python functions, which report the texts that a pattern matches and the proven properties of
//! the matches.

use polytok_pattern::Splitter;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyList;

use crate::errors::{catch, to_python};
use crate::lists;
use crate::objects::Items;

/// Reports for each text whether the pattern has a non-empty match in the text; false for bytes that are not UTF-8.
#[pyfunction]
fn pattern_matches<'py>(py: Python<'py>, pattern: &str, texts: Items<PyBackedBytes>) -> PyResult<Bound<'py, PyList>> {
    let splitter = catch(|| Splitter::compile(pattern))?.map_err(|error| to_python(error.into()))?;
    let matches = |text: &PyBackedBytes| {
        let Ok(text) = std::str::from_utf8(text) else { return Ok(false) };
        let mut is_found = false;
        splitter.split(text, |start, end| is_found |= start < end).map_err(|error| to_python(error.into()))?;
        Ok(is_found)
    };
    lists::of_results(py, texts.0.iter().map(matches))
}

/// Reports whether the matches of a pattern provably cover every text; false if the pattern does not compile.
#[pyfunction]
fn pattern_covers_text(pattern: &str, unicode: Option<&str>) -> PyResult<bool> {
    catch(|| Splitter::compile_for(pattern, unicode).is_ok_and(|splitter| splitter.covers_text()))
}

/// Reports whether every match of a pattern is provably longer than 0; false if the pattern does not compile.
#[pyfunction]
fn pattern_never_empty(pattern: &str, unicode: Option<&str>) -> PyResult<bool> {
    catch(|| Splitter::compile_for(pattern, unicode).is_ok_and(|splitter| splitter.never_empty()))
}

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(pattern_covers_text, module)?)?;
    module.add_function(wrap_pyfunction!(pattern_matches, module)?)?;
    module.add_function(wrap_pyfunction!(pattern_never_empty, module)?)
}
