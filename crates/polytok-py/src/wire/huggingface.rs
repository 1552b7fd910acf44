//! Reads and writes the columns of tokenizer.json: wraps the functions of polytok_core::wire::huggingface.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, ToPyArray};
use polytok_core::error::Result;
use polytok_core::spec::{Kind, VocabColumns};
use polytok_core::wire::huggingface::{self, VocabParts};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::raised;

/// The columns of a vocabulary as Python objects: blob, offsets, ids, scores, kinds. Scores are float64 if the file has
/// scores.
type PyScoredColumns<'py> = (
    Bound<'py, PyBytes>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyAny>,
    Bound<'py, PyArray1<u8>>,
);

type PyMerges<'py> = Bound<'py, PyArray2<u32>>;

fn to_python(py: Python<'_>, columns: VocabColumns) -> PyScoredColumns<'_> {
    let kinds: Vec<u8> = columns.kinds.iter().map(|&kind| kind as u8).collect();
    let scores = match columns.wide_scores {
        Some(wide) => wide.into_pyarray(py).into_any(),
        None => columns.scores.into_pyarray(py).into_any(),
    };
    let blob = PyBytes::new(py, &columns.blob);
    (blob, columns.offsets.into_pyarray(py), columns.ids.into_pyarray(py), scores, kinds.into_pyarray(py))
}

fn merges_to_python<'py>(py: Python<'py>, merges: &[[u32; 3]]) -> PyResult<PyMerges<'py>> {
    merges.as_flattened().to_pyarray(py).reshape([merges.len(), 3])
}

/// The columns of a `polytok.spec.Vocab`, with scores of float32 or float64.
#[derive(FromPyObject)]
struct ScoredColumns<'py> {
    blob: Bound<'py, PyBytes>,
    offsets: PyReadonlyArray1<'py, u32>,
    ids: PyReadonlyArray1<'py, u32>,
    scores: Scores<'py>,
    kinds: PyReadonlyArray1<'py, u8>,
}

#[derive(FromPyObject)]
enum Scores<'py> {
    Narrow(PyReadonlyArray1<'py, f32>),
    Wide(PyReadonlyArray1<'py, f64>),
}

impl ScoredColumns<'_> {
    fn to_core(&self) -> PyResult<VocabColumns> {
        let kinds = self.kinds.as_array().iter().map(|&number| Kind::try_from(number)).collect::<Result<Vec<Kind>>>();
        let (scores, wide_scores) = match &self.scores {
            Scores::Narrow(scores) => (scores.as_array().to_vec(), None),
            Scores::Wide(scores) => (vec![0.0; scores.as_array().len()], Some(scores.as_array().to_vec())),
        };
        let columns = VocabColumns {
            blob: self.blob.as_bytes().to_vec(),
            offsets: self.offsets.as_array().to_vec(),
            ids: self.ids.as_array().to_vec(),
            scores,
            kinds: kinds.map_err(raised)?,
            active_kinds: None,
            wide_scores,
        };
        polytok_core::wire::check_lengths(&columns).map_err(raised)?;
        Ok(columns)
    }
}

fn merges_to_core(merges: Option<PyReadonlyArray2<'_, u32>>) -> Vec<[u32; 3]> {
    let Some(merges) = merges else { return Vec::new() };
    merges.as_array().rows().into_iter().map(|row| [row[0], row[1], row[2]]).collect()
}

/// Raises FormatError unless the bytes start as a tokenizer.json does.
#[pyfunction]
fn huggingface_probe(data: &[u8]) -> PyResult<()> {
    huggingface::probe(data).map_err(raised)
}

/// Reads a tokenizer.json. Returns the columns, the merges (m, 3) or None, whether the merges are written as pairs, the
/// exact scores of the file if the package `tokenizers` reads other scores, the number of texts that later entries
/// replace, and the other fields of the document as JSON.
#[pyfunction]
#[allow(clippy::type_complexity)]
fn huggingface_read<'py>(
    py: Python<'py>,
    data: &[u8],
) -> PyResult<(PyScoredColumns<'py>, Option<PyMerges<'py>>, bool, Option<Bound<'py, PyArray1<f64>>>, usize, String)> {
    let read = huggingface::read(data).map_err(raised)?;
    let merges = read.merges.map(|merges| merges_to_python(py, &merges)).transpose()?;
    let exact = read.exact_scores.map(|scores| scores.into_pyarray(py));
    Ok((to_python(py, read.columns), merges, read.pairs, exact, read.replaced, read.rest))
}

/// Reads the columns of a vocab.json, and the number of texts that later entries replace.
#[pyfunction]
fn huggingface_vocab<'py>(py: Python<'py>, data: &[u8]) -> PyResult<(PyScoredColumns<'py>, usize)> {
    let (columns, replaced) = huggingface::vocab_file(data).map_err(raised)?;
    Ok((to_python(py, columns), replaced))
}

/// Reads the merges (m, 3) of a merges.txt.
#[pyfunction]
fn huggingface_merges<'py>(py: Python<'py>, data: &[u8], vocab: ScoredColumns<'py>) -> PyResult<PyMerges<'py>> {
    merges_to_python(py, &huggingface::merges_file(data, &vocab.to_core()?).map_err(raised)?)
}

/// Converts byte-level columns to columns of raw bytes, and reports whether each of the 256 bytes is a row; returns
/// None if the vocabulary is not byte-level.
#[pyfunction]
fn huggingface_bytes<'py>(
    py: Python<'py>,
    vocab: ScoredColumns<'py>,
    merges: Option<PyReadonlyArray2<'py, u32>>,
) -> PyResult<Option<(PyScoredColumns<'py>, bool)>> {
    let found = huggingface::to_bytes(&vocab.to_core()?, &merges_to_core(merges)).map_err(raised)?;
    Ok(found.map(|(columns, complete)| (to_python(py, columns), complete)))
}

/// Finds the row of each text; None for a text without a row. If several rows have a text, returns the last row.
#[pyfunction]
fn huggingface_rows(vocab: ScoredColumns<'_>, texts: Vec<Vec<u8>>) -> PyResult<Vec<Option<usize>>> {
    Ok(huggingface::rows_of(&vocab.to_core()?, &texts))
}

/// Writes the JSON values of `vocab` and `merges`.
#[pyfunction]
fn huggingface_write(
    vocab: ScoredColumns<'_>,
    merges: Option<PyReadonlyArray2<'_, u32>>,
    exact_scores: Option<PyReadonlyArray1<'_, f64>>,
    byte_level: bool,
    pairs: bool,
    indent: usize,
) -> PyResult<(String, String)> {
    let (columns, merges) = (vocab.to_core()?, merges_to_core(merges));
    let exact = exact_scores.map(|scores| scores.as_array().to_vec());
    let exact_scores = exact.as_deref();
    huggingface::write(&VocabParts { columns: &columns, merges: &merges, exact_scores, byte_level, pairs, indent })
        .map_err(raised)
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
