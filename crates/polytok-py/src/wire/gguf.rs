//! Reads and writes the metadata of GGUF files, for python/polytok/formats/gguf_file.py.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, ToPyArray};
use polytok_core::error::{Error, Result};
use polytok_core::wire::gguf::{self, GgufTexts};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::raised;

/// A column of texts: the bytes of all texts, and the offset at which each text begins, then the total length.
type PyTextColumn<'py> = (Bound<'py, PyBytes>, Bound<'py, PyArray1<u32>>);
/// The key of a metadata entry, the type of the value, the type and the number of the elements, and the start and the
/// end of the value.
type PyEntry<'py> = (Bound<'py, PyBytes>, u32, u32, u64, usize, usize);

fn to_python(py: Python<'_>, texts: GgufTexts) -> PyTextColumn<'_> {
    (PyBytes::new(py, &texts.blob), texts.offsets.into_pyarray(py))
}

fn to_core(texts: (Bound<'_, PyBytes>, PyReadonlyArray1<'_, u32>)) -> PyResult<GgufTexts> {
    GgufTexts::try_new(texts.0.as_bytes().to_vec(), texts.1.as_array().to_vec()).map_err(raised)
}

/// Reads the metadata of a file. Returns the version, whether the file is big-endian, the number of tensors, the
/// entries, and the end of the metadata.
#[pyfunction]
fn gguf_read<'py>(
    py: Python<'py>,
    data: PyReadonlyArray1<'py, u8>,
) -> PyResult<(u32, bool, u64, Vec<PyEntry<'py>>, usize)> {
    let data = data.as_slice()?;
    let read = gguf::read(data).map_err(raised)?;
    let entry = |entry: gguf::GgufEntry| {
        let key = PyBytes::new(py, &data[entry.key]);
        (key, entry.kind, entry.element, entry.count, entry.value.start, entry.value.end)
    };
    Ok((read.version, read.big_endian, read.tensors, read.entries.into_iter().map(entry).collect(), read.end))
}

/// Reads the strings of an array.
#[pyfunction]
fn gguf_strings<'py>(py: Python<'py>, value: &[u8], count: u64, big_endian: bool) -> PyResult<PyTextColumn<'py>> {
    Ok(to_python(py, gguf::strings(value, count, big_endian).map_err(raised)?))
}

/// Writes an array of strings.
#[pyfunction]
fn gguf_write_strings<'py>(
    py: Python<'py>,
    texts: (Bound<'py, PyBytes>, PyReadonlyArray1<'py, u32>),
    big_endian: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &gguf::write_strings(&to_core(texts)?, big_endian)))
}

/// Converts GPT-2's characters to bytes in the texts that `mapped` selects. Also returns the indexes of the selected
/// texts with other characters.
#[pyfunction]
fn gguf_byte_level<'py>(
    py: Python<'py>,
    texts: (Bound<'py, PyBytes>, PyReadonlyArray1<'py, u32>),
    mapped: PyReadonlyArray1<'py, bool>,
) -> PyResult<(PyTextColumn<'py>, Bound<'py, PyArray1<u32>>)> {
    let mapped = read_flags(&mapped, &texts.1)?;
    let (bytes, foreign) = gguf::byte_level(&to_core(texts)?, |index| mapped[index]).map_err(raised)?;
    Ok((to_python(py, bytes), foreign.into_pyarray(py)))
}

/// Converts bytes to GPT-2's characters in the texts that `mapped` selects.
#[pyfunction]
fn gguf_byte_level_texts<'py>(
    py: Python<'py>,
    texts: (Bound<'py, PyBytes>, PyReadonlyArray1<'py, u32>),
    mapped: PyReadonlyArray1<'py, bool>,
) -> PyResult<PyTextColumn<'py>> {
    let mapped = read_flags(&mapped, &texts.1)?;
    Ok(to_python(py, gguf::byte_level_texts(&to_core(texts)?, |index| mapped[index]).map_err(raised)?))
}

fn read_flags(mapped: &PyReadonlyArray1<'_, bool>, offsets: &PyReadonlyArray1<'_, u32>) -> PyResult<Vec<bool>> {
    let read_flags = mapped.as_array().to_vec();
    if read_flags.len() + 1 != offsets.as_array().len() {
        return Err(raised(Error::Format("the column of flags has another length than the column of texts".into())));
    }
    Ok(read_flags)
}

/// Reads lines of merges to an array with three columns.
#[pyfunction]
fn gguf_merges<'py>(
    py: Python<'py>,
    tokens: (Bound<'py, PyBytes>, PyReadonlyArray1<'py, u32>),
    lines: (Bound<'py, PyBytes>, PyReadonlyArray1<'py, u32>),
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let merges = gguf::resolve_merges(&to_core(tokens)?, &to_core(lines)?).map_err(raised)?;
    merges.as_flattened().to_pyarray(py).reshape([merges.len(), 3])
}

/// Writes the first two columns of merges as lines.
#[pyfunction]
fn gguf_merge_lines<'py>(
    py: Python<'py>,
    tokens: (Bound<'py, PyBytes>, PyReadonlyArray1<'py, u32>),
    merges: PyReadonlyArray2<'py, u32>,
) -> PyResult<PyTextColumn<'py>> {
    let merges = merges.as_array();
    let pairs = merges.rows().into_iter().filter_map(|row| Some((*row.get(0)?, *row.get(1)?)));
    let lines: Result<GgufTexts> = gguf::merge_lines(&to_core(tokens)?, pairs);
    Ok(to_python(py, lines.map_err(raised)?))
}

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(gguf_read, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_strings, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_write_strings, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_byte_level, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_byte_level_texts, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_merges, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_merge_lines, module)?)
}
