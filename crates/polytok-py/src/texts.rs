//! Wraps columns of texts (polytok_core::texts) in a Python class.

use std::ops::Range;
use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use polytok_core::error::Error;
use polytok_core::table::Shared;
use polytok_core::texts::{self, Texts};
use polytok_memory::{self as memory, Collect, Grow};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};

use crate::errors::{catch, to_python};
use crate::gil::detach;
use crate::lists;
use crate::objects::{self, Items};
use crate::{arrow, text};

/// A column of texts in a shared buffer.
#[pyclass(frozen, name = "Texts")]
pub struct PyTexts(pub Texts);

/// The texts of a block, and the number of bytes of the block that were read.
type BlockTexts = (PyTexts, usize);

/// The offset of each line without a text, and the reason.
type MissingTexts<'py> = Bound<'py, PyList>;

/// An array of numbers.
type NumberArray<'py> = Bound<'py, PyArray1<i64>>;

fn numbers<'py>(py: Python<'py>, values: impl Iterator<Item = usize>) -> PyResult<NumberArray<'py>> {
    objects::array(py, catch(|| values.map(|value| value as i64).checked_collect())?)
}

#[pymethods]
impl PyTexts {
    /// Creates a column from a list of str or bytes.
    #[staticmethod]
    fn of_list(texts: Items<Bound<'_, PyAny>>) -> PyResult<PyTexts> {
        let (mut buffer, mut spans) = (Vec::new(), catch(|| memory::with_capacity(texts.0.len()))?);
        for object in &texts.0 {
            let (from, text) = (buffer.len(), text::text(object)?);
            catch(|| buffer.checked_extend_from_slice(&text))?;
            spans.push(from..buffer.len());
        }
        Ok(PyTexts(Texts::new(Arc::new(buffer), spans)))
    }

    /// Creates a column with one text.
    #[staticmethod]
    fn from_bytes(data: PyBackedBytes) -> PyTexts {
        let span: Range<usize> = 0..data.len();
        PyTexts(Texts::new(to_shared(data), vec![span]))
    }

    /// Creates a column from an Arrow array or stream.
    #[staticmethod]
    fn of_arrow(object: &Bound<'_, PyAny>) -> PyResult<PyTexts> {
        arrow::texts(object).map(PyTexts)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyBytes>> {
        let row = if index < 0 { index + self.0.len() as isize } else { index };
        let text = usize::try_from(row).ok().and_then(|row| self.0.get(row));
        objects::bytes(py, text.ok_or_else(|| missing_row_error(index as i64, self.0.len()))?)
    }

    /// The offset in the buffer at which each text begins.
    #[getter]
    fn starts<'py>(&self, py: Python<'py>) -> PyResult<NumberArray<'py>> {
        numbers(py, self.0.spans().iter().map(|span| span.start))
    }

    /// The offset in the buffer at which each text ends.
    #[getter]
    fn ends<'py>(&self, py: Python<'py>) -> PyResult<NumberArray<'py>> {
        numbers(py, self.0.spans().iter().map(|span| span.end))
    }

    /// The offset in the block at which the record of each text begins.
    #[getter]
    fn places<'py>(&self, py: Python<'py>) -> PyResult<NumberArray<'py>> {
        numbers(py, catch(|| self.0.record_starts())?.into_iter())
    }

    /// True for each row that is not null; None if no row is null.
    #[getter]
    fn validity<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<bool>>>> {
        if self.0.nulls().is_empty() {
            return Ok(None);
        }
        let is_valid = catch(|| self.0.slices().iter().map(Option::is_some).checked_collect())?;
        objects::array(py, is_valid).map(Some)
    }

    /// The total length of the texts in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.text_bytes()
    }

    /// The length of the longest text in bytes; 0 without texts.
    #[getter]
    fn longest(&self) -> usize {
        self.0.spans().iter().map(Range::len).max().unwrap_or(0)
    }

    /// The texts as a list of bytes, with None for null.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let object = |text: &Option<&[u8]>| match text {
            Some(text) => objects::bytes(py, text).map(Bound::into_any),
            None => Ok(py.None().into_bound(py)),
        };
        lists::list(py, catch(|| self.0.slices())?.iter().map(object))
    }

    /// Returns a column with the rows at `rows`, in this order.
    fn take(&self, rows: PyReadonlyArray1<'_, i64>) -> PyResult<PyTexts> {
        let rows = catch(|| rows.as_array().iter().copied().checked_collect())?;
        let is_valid_row = |row: &i64| (0..self.0.len() as i64).contains(row);
        if let Some(&row) = rows.iter().find(|row| !is_valid_row(row)) {
            return Err(missing_row_error(row, self.0.len()));
        }
        catch(|| {
            let rows = rows.into_iter().map(|row| row as usize).checked_collect();
            PyTexts(self.0.take(&rows))
        })
    }

    /// Replaces undecodable bytes, or removes the texts that have undecodable bytes. Returns the new column and the
    /// rows that had undecodable bytes.
    fn checked<'py>(slf: &Bound<'py, PyTexts>, invalid: &str) -> PyResult<(Bound<'py, PyTexts>, NumberArray<'py>)> {
        let py = slf.py();
        let texts = &slf.get().0;
        let bad = detach(py, || Ok(texts.undecodable_rows()))?;
        let checked = match invalid {
            "replace" | "skip" if bad.is_empty() => slf.clone(),
            "replace" => Bound::new(py, PyTexts(detach(py, || Ok(texts.repaired()))?))?,
            "skip" => Bound::new(py, PyTexts(detach(py, || Ok(texts.without_rows(&bad)))?))?,
            other => return Err(argument_error(format!("invalid={other:?} is not \"replace\" or \"skip\""))),
        };
        Ok((checked, numbers(py, bad.into_iter())?))
    }
}

/// Returns the offset after `texts` texts from an offset on; a separator follows each text.
#[pyfunction]
fn end_of_texts(data: &[u8], start: usize, separator: &[u8], texts: usize) -> PyResult<usize> {
    let rest =
        data.get(start..).ok_or_else(|| argument_error(format!("start={start} is beyond the end of the data")))?;
    check_separator(separator)?;
    Ok(start + texts::end_of_texts(rest, separator, texts))
}

/// Splits a block into lines, without their line feeds.
#[pyfunction]
fn cut_lines(py: Python<'_>, data: PyBackedBytes, is_last: bool) -> PyResult<BlockTexts> {
    let data = to_shared(data);
    let (texts, used) = detach(py, || Ok(texts::split_lines(data, is_last)))?;
    Ok((PyTexts(texts), used))
}

/// Splits a block at a separator.
#[pyfunction]
fn cut_separated(py: Python<'_>, data: PyBackedBytes, separator: &[u8], is_last: bool) -> PyResult<BlockTexts> {
    check_separator(separator)?;
    let data = to_shared(data);
    let (texts, used) = detach(py, || Ok(texts::split_separated(data, separator, is_last)))?;
    Ok((PyTexts(texts), used))
}

/// Reads a field from the lines of a block of JSON lines; lines of more than `max_bytes` are not parsed. Also returns
/// the offset of each line without a text, and the reason.
#[pyfunction]
fn cut_json_lines<'py>(
    py: Python<'py>,
    data: PyBackedBytes,
    path: Vec<String>,
    is_last: bool,
    max_bytes: usize,
) -> PyResult<(PyTexts, usize, MissingTexts<'py>)> {
    if path.len() > MAX_PATH_KEYS {
        return Err(argument_error(format!(
            "the path of the field has {} keys; write one with at most {MAX_PATH_KEYS}",
            path.len()
        )));
    }
    let field = path.join(".");
    let path: Vec<Vec<u8>> = path.into_iter().map(String::into_bytes).collect();
    let (texts, used, left) = detach(py, || Ok(texts::json_lines(&data, &path, is_last, max_bytes)))?;
    let missing = lists::of_values(py, left.into_iter().map(|(place, why)| (place, why.describe(&field))))?;
    Ok((PyTexts(texts), used, missing))
}

/// The maximum number of keys of a path. The limit is needed because the keys are followed by recursion.
const MAX_PATH_KEYS: usize = 64;

fn check_separator(separator: &[u8]) -> PyResult<()> {
    if separator.is_empty() {
        return Err(argument_error("the separator is empty; pass one or more bytes".into()));
    }
    Ok(())
}

fn to_shared(data: PyBackedBytes) -> Shared {
    Arc::new(data)
}

fn argument_error(message: String) -> PyErr {
    to_python(Error::Argument(message))
}

fn missing_row_error(row: i64, len: usize) -> PyErr {
    PyIndexError::new_err(format!("row {row} does not exist: the column has {len} texts"))
}

/// Adds the class and the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    objects::add_class::<PyTexts>(module)?;
    module.add_function(wrap_pyfunction!(end_of_texts, module)?)?;
    module.add_function(wrap_pyfunction!(cut_lines, module)?)?;
    module.add_function(wrap_pyfunction!(cut_separated, module)?)?;
    module.add_function(wrap_pyfunction!(cut_json_lines, module)?)
}
