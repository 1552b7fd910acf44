//! Reads and writes the columns of tokenizer.json: wraps the functions of polytok_core::wire::huggingface.

use polytok_core::wire::huggingface::{self, VocabParts};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::{PyColumns, raised, read_merges, read_vocab, to_python};
use crate::columns::{self, Merges, PyColumn};
use crate::errors::catch;
use crate::lists;
use crate::objects::{self, Items};

fn merges_to_core(merges: Option<Bound<'_, PyAny>>) -> PyResult<Merges> {
    merges.map_or(Ok(Merges::new()), |merges| read_merges(&merges))
}

/// Raises FormatError unless the bytes start as a tokenizer.json does.
#[pyfunction]
fn huggingface_probe(data: &[u8]) -> PyResult<()> {
    huggingface::probe(data).map_err(raised)
}

/// Reads a tokenizer.json. Returns the columns, the merges or None, whether the merges are written as pairs, the
/// exact scores of the file if the package `tokenizers` reads other scores, the number of texts that later entries
/// replace, and the other fields of the document as JSON.
#[pyfunction]
#[allow(clippy::type_complexity)]
fn huggingface_read<'py>(
    py: Python<'py>,
    data: &[u8],
) -> PyResult<(PyColumns<'py>, Option<PyColumn<'py>>, bool, Option<PyColumn<'py>>, usize, Bound<'py, PyString>)> {
    let read = huggingface::read(data).map_err(raised)?;
    let merges = read.merges.map(|merges| columns::view_merges(py, &merges)).transpose()?;
    let exact = read.exact_scores.map(|scores| columns::view(py, &scores)).transpose()?;
    let rest = objects::string(py, &read.rest)?;
    Ok((to_python(py, read.columns)?, merges, read.pairs, exact, read.replaced, rest))
}

/// Reads the columns of a vocab.json, and the number of texts that later entries replace.
#[pyfunction]
fn huggingface_vocab<'py>(py: Python<'py>, data: &[u8]) -> PyResult<(PyColumns<'py>, usize)> {
    let (columns, replaced) = huggingface::vocab_file(data).map_err(raised)?;
    Ok((to_python(py, columns)?, replaced))
}

/// Reads the merges of a merges.txt.
#[pyfunction]
fn huggingface_merges<'py>(py: Python<'py>, data: &[u8], vocab: &Bound<'py, PyAny>) -> PyResult<PyColumn<'py>> {
    columns::view_merges(py, &huggingface::merges_file(data, &read_vocab(vocab)?).map_err(raised)?)
}

/// Converts byte-level columns to columns of raw bytes, and reports whether each of the 256 bytes is a row; returns
/// None if the vocabulary is not byte-level.
#[pyfunction]
fn huggingface_bytes<'py>(
    py: Python<'py>,
    vocab: &Bound<'py, PyAny>,
    merges: Option<Bound<'py, PyAny>>,
) -> PyResult<Option<(PyColumns<'py>, bool)>> {
    let found = huggingface::to_bytes(&read_vocab(vocab)?, &merges_to_core(merges)?).map_err(raised)?;
    found.map(|(columns, complete)| Ok((to_python(py, columns)?, complete))).transpose()
}

/// Finds the row of each text; None for a text without a row. If several rows have a text, returns the last row.
#[pyfunction]
fn huggingface_rows<'py>(vocab: &Bound<'py, PyAny>, texts: Items<Vec<u8>>) -> PyResult<Bound<'py, PyList>> {
    let columns = read_vocab(vocab)?;
    let rows = catch(|| huggingface::rows_of(&columns, &texts.0))?;
    lists::of_values(vocab.py(), rows)
}

/// Writes the JSON values of `vocab` and `merges`.
#[pyfunction]
fn huggingface_write<'py>(
    vocab: &Bound<'py, PyAny>,
    merges: Option<Bound<'py, PyAny>>,
    exact_scores: Option<Bound<'py, PyAny>>,
    byte_level: bool,
    pairs: bool,
    indent: usize,
) -> PyResult<(Bound<'py, PyString>, Bound<'py, PyString>)> {
    let (columns, merges) = (read_vocab(vocab)?, merges_to_core(merges)?);
    let exact: Option<Vec<f64>> = exact_scores.as_ref().map(columns::read_column).transpose()?;
    let exact_scores = exact.as_deref();
    let parts = VocabParts { columns: &columns, merges: &merges, exact_scores, byte_level, pairs, indent };
    let (vocab_json, merges_json) = huggingface::write(&parts).map_err(raised)?;
    let py = vocab.py();
    Ok((objects::string(py, &vocab_json)?, objects::string(py, &merges_json)?))
}

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(huggingface_probe, module)?)?;
    module.add_function(wrap_pyfunction!(huggingface_read, module)?)?;
    module.add_function(wrap_pyfunction!(huggingface_vocab, module)?)?;
    module.add_function(wrap_pyfunction!(huggingface_merges, module)?)?;
    module.add_function(wrap_pyfunction!(huggingface_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(huggingface_rows, module)?)?;
    module.add_function(wrap_pyfunction!(huggingface_write, module)?)
}
