//! Columns of numbers: returns vectors to Python as memoryviews, and reads memoryviews and numpy arrays. Nothing here
//! imports numpy, because importing numpy takes longer than loading most vocabularies (see python/polytok/columns.py).

use bytemuck::{AnyBitPattern, NoUninit};
use polytok_core::error::Error;
use polytok_core::spec::{Kind, VocabColumns};
use polytok_memory::{self as memory, Collect, Copied};
use pyo3::exceptions::PyMemoryError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::errors::{catch, to_python};
use crate::objects;

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
    let bytes = objects::byte_array(py, bytemuck::cast_slice(numbers))?;
    let view = PyMemoryView::from(&bytes)?.call_method1(intern!(py, "cast"), (T::FORMATS[0],))?;
    Ok(view.cast_into()?)
}

/// Returns merges as a memoryview with three numbers for each merge.
pub fn view_merges<'py>(py: Python<'py>, merges: &[[u32; 3]]) -> PyResult<PyColumn<'py>> {
    view(py, merges.as_flattened())
}

/// Reads a one-dimensional column from an object with the buffer protocol; returns None if the object is not such a
/// column.
pub fn read<T: Number>(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<T>>> {
    let shaped = read_shaped(object)?;
    Ok(shaped.filter(|(_, shape)| shape.len() == 1).map(|(numbers, _)| numbers))
}

/// Reads merges: an array with three columns, or a memoryview with three numbers for each merge.
pub fn read_merges(object: &Bound<'_, PyAny>) -> PyResult<Option<Merges>> {
    let Some((numbers, shape)) = read_shaped::<u32>(object)? else { return Ok(None) };
    let has_rows = match shape[..] {
        [_, width] => width == 3,
        [count] => count % 3 == 0 && object.is_instance_of::<PyMemoryView>(),
        _ => false,
    };
    if has_rows { catch(|| numbers.as_chunks().0.checked_to_vec()).map(Some) } else { Ok(None) }
}

/// Returns the numbers and the shape of an object with the buffer protocol; None if it has no numbers of this type.
fn read_shaped<T: Number>(object: &Bound<'_, PyAny>) -> PyResult<Option<(Vec<T>, Vec<usize>)>> {
    match read_view(object) {
        Err(error) if !error.is_instance_of::<PyMemoryError>(object.py()) => Ok(None),
        result => result,
    }
}

fn read_view<T: Number>(object: &Bound<'_, PyAny>) -> PyResult<Option<(Vec<T>, Vec<usize>)>> {
    let py = object.py();
    let view = PyMemoryView::from(object)?;
    let format: String = view.getattr(intern!(py, "format"))?.extract()?;
    if !T::FORMATS.contains(&format.as_str()) {
        return Ok(None);
    }
    let shape = view.getattr(intern!(py, "shape"))?.extract()?;
    // The bytes of an array that is not contiguous are copied to their logical order.
    let bytes = view.call_method0(intern!(py, "tobytes"))?;
    let bytes = bytes.cast::<PyBytes>()?.as_bytes();
    let mut numbers = catch(|| memory::zeroed::<T>(bytes.len() / size_of::<T>()))?;
    bytemuck::cast_slice_mut::<T, u8>(&mut numbers).copy_from_slice(bytes);
    Ok(Some((numbers, shape)))
}

/// Returns the value of a field that is a `Column` in Python. Reading the attribute would convert the value to a numpy
/// array.
pub fn stored<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    object.getattr(intern!(object.py(), "__dict__"))?.get_item(name)
}

/// Reads a column of a `polytok.spec.Vocab`; raises SpecError if the column has another type or shape.
pub fn read_field<T: Number>(vocab: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>> {
    read(&stored(vocab, name)?)?.ok_or_else(|| not_a_column::<T>(&format!("vocab.{name}")))
}

/// Reads a column that is an argument, or raises SpecError.
pub fn read_column<T: Number>(column: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    read(column)?.ok_or_else(|| not_a_column::<T>("the column"))
}

fn not_a_column<T: Number>(name: &str) -> PyErr {
    let number_type = std::any::type_name::<T>();
    to_python(Error::Spec(format!("{name} is not a one-dimensional array of {number_type}")))
}

/// Reads a column of kinds.
pub fn read_kinds(vocab: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<Kind>> {
    let numbers: Vec<u8> = read_field(vocab, name)?;
    let mut kinds = catch(|| memory::with_capacity(numbers.len()))?;
    for number in numbers {
        kinds.push(Kind::try_from(number).map_err(to_python)?);
    }
    Ok(kinds)
}

/// Reads the columns of a `polytok.spec.Vocab` without the restriction. If the scores are float64, the engine's scores
/// of float32 are rounded.
pub fn read_vocab(vocab: &Bound<'_, PyAny>) -> PyResult<VocabColumns> {
    let wide_scores: Option<Vec<f64>> = read(&stored(vocab, "scores")?)?;
    let scores = match &wide_scores {
        Some(wide) => catch(|| wide.iter().map(|&score| score as f32).checked_collect())?,
        None => read_field(vocab, "scores")?,
    };
    let blob = vocab.getattr(intern!(vocab.py(), "blob"))?;
    let blob = blob.cast::<PyBytes>()?.as_bytes();
    Ok(VocabColumns {
        blob: catch(|| blob.checked_to_vec())?,
        offsets: read_field(vocab, "offsets")?,
        ids: read_field(vocab, "ids")?,
        scores,
        kinds: read_kinds(vocab, "kinds")?,
        active_kinds: None,
        wide_scores,
    })
}
