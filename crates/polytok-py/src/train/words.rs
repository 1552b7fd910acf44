//! Wraps counted words in a Python class.

use polytok_core::train::words::WordCounts;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::catch;
use crate::lists;
use crate::objects::{self, Items};

/// Distinct words with their counts.
#[pyclass(frozen, name = "Words")]
pub struct PyWords(pub WordCounts);

#[pymethods]
impl PyWords {
    /// Creates counted words from pairs; a pair has a word and the count of the word. The words must be distinct.
    #[new]
    fn new(pairs: Items<(Bound<'_, PyBytes>, u64)>) -> PyResult<PyWords> {
        let mut words = WordCounts::default();
        catch(|| pairs.0.iter().for_each(|(word, count)| words.push(word.as_bytes(), *count)))?;
        Ok(PyWords(words))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Lists all words and counts, in order.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        lists::of_results(py, self.0.iter().map(|(word, count)| Ok((objects::bytes(py, word)?, count))))
    }
}
