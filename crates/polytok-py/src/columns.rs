//! Columns of numbers: returns vectors to Python as memoryviews, and reads memoryviews and numpy arrays. Nothing here
//! imports numpy, because importing numpy takes longer than loading most vocabularies (see python/polytok/columns.py).

use bytemuck::{AnyBitPattern, NoUninit};
use polytok_core::error::{Error, Result};
use polytok_core::spec::{Kind, VocabColumns};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};

use crate::errors::to_python;

/// A column as Python receives it: a memoryview of numbers, which can be changed.
pub type PyColumn<'py> = Bound<'py, PyMemoryView>;

/// The merges of a model, in order.
pub type Merges = Vec<[u32; 3]>;

/// A type of numbers in columns.
pub trait Number: AnyBitPattern + NoUninit {
    /// The type's formats in the buffer protocol. The first format is used for memoryviews that Python receives; numpy
    /// on Windows also uses the others.
    const FORMATS: &'static [&'static str];
}

impl Number for u8 {
    const FORMATS: &'static [&'static str] = &["B"];
}

impl Number for u32 {
    const FORMATS: &'static [&'static str] = if cfg!(windows) { &["I", "L"] } else { &["I"] };
}

impl Number for f32 {
    const FORMATS: &'static [&'static str] = &["f"];
}

impl Number for f64 {
    const FORMATS: &'static [&'static str] = &["d"];
}

/// Returns numbers as a memoryview.
pub fn view<'py, T: Number>(py: Python<'py>, numbers: &[T]) -> PyResult<PyColumn<'py>> {
    let bytes = PyByteArray::new(py, bytemuck::cast_slice(numbers));
    let view = PyMemoryView::from(&bytes)?.call_method1(intern!(py, "cast"), (T::FORMATS[0],))?;
    Ok(view.cast_into()?)
}

/// Returns merges as a memoryview with three numbers for each merge.
pub fn view_merges<'py>(py: Python<'py>, merges: &[[u32; 3]]) -> PyResult<PyColumn<'py>> {
    view(py, merges.as_flattened())
}

/// Reads a one-dimensional column from an object with the buffer protocol; returns None if the object is not such a
/// column.
pub fn read<T: Number>(object: &Bound<'_, PyAny>) -> Option<Vec<T>> {
    let (numbers, shape) = read_shaped(object)?;
    (shape.len() == 1).then_some(numbers)
}

/// Reads merges: an array with three columns, or a memoryview with three numbers for each merge.
pub fn read_merges(object: &Bound<'_, PyAny>) -> Option<Merges> {
    let (numbers, shape) = read_shaped::<u32>(object)?;
    let has_rows = match shape[..] {
        [_, width] => width == 3,
        [count] => count % 3 == 0 && object.is_instance_of::<PyMemoryView>(),
        _ => false,
    };
    has_rows.then(|| numbers.as_chunks().0.to_vec())
}

fn read_shaped<T: Number>(object: &Bound<'_, PyAny>) -> Option<(Vec<T>, Vec<usize>)> {
    let py = object.py();
    let view = PyMemoryView::from(object).ok()?;
    let format: String = view.getattr(intern!(py, "format")).ok()?.extract().ok()?;
    if !T::FORMATS.contains(&format.as_str()) {
        return None;
    }
    let shape = view.getattr(intern!(py, "shape")).ok()?.extract().ok()?;
    // The bytes of an array that is not contiguous are copied to their logical order.
    let bytes = view.call_method0(intern!(py, "tobytes")).ok()?;
    Some((bytemuck::pod_collect_to_vec(bytes.cast::<PyBytes>().ok()?.as_bytes()), shape))
}

/// Returns the value of a field that is a `Column` in Python. Reading the attribute would convert the value to a numpy
/// array.
pub fn stored<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    object.getattr(intern!(object.py(), "__dict__"))?.get_item(name)
}

/// Reads a column of a `polytok.spec.Vocab`; raises SpecError if the column has another type or shape.
pub fn read_field<T: Number>(vocab: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>> {
    read(&stored(vocab, name)?).ok_or_else(|| not_a_column::<T>(&format!("vocab.{name}")))
}

/// Reads a column that is an argument, or raises SpecError.
pub fn read_column<T: Number>(column: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    read(column).ok_or_else(|| not_a_column::<T>("the column"))
}

fn not_a_column<T: Number>(name: &str) -> PyErr {
    let number_type = std::any::type_name::<T>();
    to_python(Error::Spec(format!("{name} is not a one-dimensional array of {number_type}")))
}

/// Reads a column of kinds.
pub fn read_kinds(vocab: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<Kind>> {
    let numbers: Vec<u8> = read_field(vocab, name)?;
    numbers.into_iter().map(Kind::try_from).collect::<Result<_>>().map_err(to_python)
}

/// Reads the columns of a `polytok.spec.Vocab` without the restriction. If the scores are float64, the engine's scores
/// of float32 are rounded.
pub fn read_vocab(vocab: &Bound<'_, PyAny>) -> PyResult<VocabColumns> {
    let wide_scores: Option<Vec<f64>> = read(&stored(vocab, "scores")?);
    let scores = match &wide_scores {
        Some(wide) => wide.iter().map(|&score| score as f32).collect(),
        None => read_field(vocab, "scores")?,
    };
    Ok(VocabColumns {
        blob: vocab.getattr(intern!(vocab.py(), "blob"))?.cast::<PyBytes>()?.as_bytes().to_vec(),
        offsets: read_field(vocab, "offsets")?,
        ids: read_field(vocab, "ids")?,
        scores,
        kinds: read_kinds(vocab, "kinds")?,
        active_kinds: None,
        wide_scores,
    })
}
