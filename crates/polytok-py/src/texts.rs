//! Columns of texts: polytok_core::texts as a Python class.

use std::ops::Range;
use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use polytok_core::error::Error;
use polytok_core::table::Shared;
use polytok_core::texts::{self, Texts};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};

use crate::errors::to_python;
use crate::{arrow, text};

/// A column of texts.
#[pyclass(frozen, name = "Texts")]
pub struct PyTexts(pub Texts);

/// Texts, and how many bytes were used up.
type Cut = (PyTexts, usize);

/// Places of lines without a text, and why.
type Lacking = Vec<(usize, String)>;

/// An array of numbers.
type Numbers<'py> = Bound<'py, PyArray1<i64>>;

fn numbers<'py>(py: Python<'py>, values: impl Iterator<Item = usize>) -> Numbers<'py> {
    PyArray1::from_vec(py, values.map(|value| value as i64).collect())
}

#[pymethods]
impl PyTexts {
    /// Texts, str or bytes, one behind the other.
    #[staticmethod]
    fn of_list(texts: Vec<Bound<'_, PyAny>>) -> PyResult<PyTexts> {
        let (mut buffer, mut spans) = (Vec::new(), Vec::with_capacity(texts.len()));
        for object in &texts {
            let from = buffer.len();
            buffer.extend_from_slice(&text::text(object)?);
            spans.push(from..buffer.len());
        }
        Ok(PyTexts(Texts::new(Arc::new(buffer), spans)))
    }

    /// One text.
    #[staticmethod]
    fn whole(data: PyBackedBytes) -> PyTexts {
        let span: Range<usize> = 0..data.len();
        PyTexts(Texts::new(shared(data), vec![span]))
    }

    /// A column of an object that speaks Arrow.
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
        text.map(|text| PyBytes::new(py, text)).ok_or_else(|| no_row(index as i64, self.0.len()))
    }

    /// Where each text begins in the buffer.
    #[getter]
    fn starts<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        numbers(py, self.0.spans().iter().map(|span| span.start))
    }

    /// Where each text ends.
    #[getter]
    fn ends<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        numbers(py, self.0.spans().iter().map(|span| span.end))
    }

    /// Where the record of each text begins in what was cut.
    #[getter]
    fn places<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        numbers(py, self.0.places().into_iter())
    }

    /// False for rows that are null; None if there are none of those.
    #[getter]
    fn valid<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<bool>>> {
        let is_valid = || self.0.slices().iter().map(Option::is_some).collect();
        (!self.0.nulls().is_empty()).then(|| PyArray1::from_vec(py, is_valid()))
    }

    /// The lengths of all texts together.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.text_bytes()
    }

    /// The texts as bytes, None for null.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let texts = self.0.slices().into_iter().map(|text| text.map(|text| PyBytes::new(py, text)));
        PyList::new(py, texts)
    }

    /// These rows, in this order.
    fn take(&self, rows: PyReadonlyArray1<'_, i64>) -> PyResult<PyTexts> {
        let rows: Vec<i64> = rows.as_array().to_vec();
        let is_there = |row: &i64| (0..self.0.len() as i64).contains(row);
        if let Some(&row) = rows.iter().find(|row| !is_there(row)) {
            return Err(no_row(row, self.0.len()));
        }
        let rows: Vec<usize> = rows.into_iter().map(|row| row as usize).collect();
        Ok(PyTexts(self.0.take(&rows)))
    }

    /// The same without undecodable bytes, and the rows that had some.
    fn checked<'py>(slf: &Bound<'py, PyTexts>, invalid: &str) -> PyResult<(Bound<'py, PyTexts>, Numbers<'py>)> {
        let py = slf.py();
        let texts = &slf.get().0;
        let bad = py.detach(|| texts.undecodable());
        let checked = match invalid {
            "replace" | "skip" if bad.is_empty() => slf.clone(),
            "replace" => Bound::new(py, PyTexts(py.detach(|| texts.repaired())))?,
            "skip" => Bound::new(py, PyTexts(py.detach(|| texts.without(&bad))))?,
            other => return Err(argument(format!("invalid is {other:?}, which is neither \"replace\" nor \"skip\""))),
        };
        Ok((checked, numbers(py, bad.into_iter())))
    }
}

/// Where the first so many texts from a place on end, of which each has the separator behind it.
#[pyfunction]
fn end_of_texts(data: &[u8], start: usize, separator: &[u8], texts: usize) -> PyResult<usize> {
    let rest = data.get(start..).ok_or_else(|| argument(format!("{start} is beyond the end of the data")))?;
    check_separator(separator)?;
    Ok(start + texts::end_of(rest, separator, texts))
}

/// Cuts a block into lines, without their line feeds.
#[pyfunction]
fn cut_lines(py: Python<'_>, data: PyBackedBytes, is_last: bool) -> Cut {
    let data = shared(data);
    let (texts, used) = py.detach(|| texts::lines(data, is_last));
    (PyTexts(texts), used)
}

/// Cuts a block at a separator.
#[pyfunction]
fn cut_separated(py: Python<'_>, data: PyBackedBytes, separator: &[u8], is_last: bool) -> PyResult<Cut> {
    check_separator(separator)?;
    let data = shared(data);
    let (texts, used) = py.detach(|| texts::separated(data, separator, is_last));
    Ok((PyTexts(texts), used))
}

/// Cuts a block of lines of JSON into the texts of a field; also gives the places of lines that have none, and why.
#[pyfunction]
fn cut_json_lines(
    py: Python<'_>,
    data: PyBackedBytes,
    path: Vec<String>,
    is_last: bool,
) -> PyResult<(PyTexts, usize, Lacking)> {
    if path.len() > MOST_KEYS {
        return Err(argument(format!("a path of {} keys; at most {MOST_KEYS} are possible", path.len())));
    }
    let field = path.join(".");
    let path: Vec<Vec<u8>> = path.into_iter().map(String::into_bytes).collect();
    let (texts, used, left) = py.detach(|| texts::json_lines(&data, &path, is_last));
    Ok((PyTexts(texts), used, left.into_iter().map(|(place, why)| (place, why.reason(&field))).collect()))
}

/// How many keys a path may have, as it is followed by recursion.
const MOST_KEYS: usize = 64;

fn check_separator(separator: &[u8]) -> PyResult<()> {
    if separator.is_empty() {
        return Err(argument("the separator is empty".into()));
    }
    Ok(())
}

fn shared(data: PyBackedBytes) -> Shared {
    Arc::new(data)
}

fn argument(message: String) -> PyErr {
    to_python(Error::Argument(message))
}

fn no_row(row: i64, len: usize) -> PyErr {
    PyIndexError::new_err(format!("row {row} of {len} texts"))
}

/// Adds the class and the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTexts>()?;
    module.add_function(wrap_pyfunction!(end_of_texts, module)?)?;
    module.add_function(wrap_pyfunction!(cut_lines, module)?)?;
    module.add_function(wrap_pyfunction!(cut_separated, module)?)?;
    module.add_function(wrap_pyfunction!(cut_json_lines, module)?)
}
