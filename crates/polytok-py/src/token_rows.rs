//! Creates the rows of `Tokenizer.tokens` and the spans of encodings, which share most of their Python objects: the
//! ids and the pieces of equal tokens, and the ints of offsets that adjacent tokens have in common.

use std::ffi::c_void;
use std::sync::OnceLock;

use polytok_core::sink::Token;
use polytok_core::tokenizer::Tokenizer;
use polytok_core::utf8::CharOffsets;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple, PyType};

use crate::ints::{Ints, new_int};
use crate::kept::KeptObjects;
use crate::lists;
use crate::objects;

/// Lists every token as a `polytok.values.Token`. `chars` counts the characters of the text; None if it is ASCII.
pub fn token_rows<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    (ints, pieces): (&Ints, &KeptObjects),
    tokens: &[Token],
    chars: Option<&CharOffsets>,
) -> PyResult<Bound<'py, PyList>> {
    let row_type = row_type(py)?;
    let (id_of, kept_pieces) = (ints.creator(py, tokenizer, tokens.len()), pieces.table(tokenizer, tokens.len()));
    let piece_of = |token: &Token| {
        let id = token.id.0;
        let new_piece = || objects::bytes(py, tokenizer.token_bytes(id).unwrap_or_default()).map(Bound::into_any);
        match (tokenizer.unknown_text(token.own_text.as_deref()), kept_pieces) {
            (Some(text), _) => objects::bytes(py, text).map(Bound::into_any),
            (None, Some(kept)) => kept.object(py, kept.borrowed(id), id, new_piece),
            (None, None) => new_piece(),
        }
    };
    let mut last_end = Offset::new(py, 0)?;
    let mut last_byte_end = last_end.clone();
    let row = |token: &Token| {
        let count = |chars: &CharOffsets| (chars.char_at(token.start), chars.count_to(token.end));
        let chars = chars.map_or((token.start, token.end), count);
        let byte_start = Offset::shared(py, token.start, [&last_byte_end])?;
        let byte_end = Offset::shared(py, token.end, [&byte_start])?;
        let start = Offset::shared(py, chars.0, [&byte_start, &last_end])?;
        let end = Offset::shared(py, chars.1, [&byte_end, &start])?;
        (last_end, last_byte_end) = (end.clone(), byte_end.clone());
        let offsets = [start.int, end.int, byte_start.int, byte_end.int];
        let [start, end, byte_start, byte_end] = offsets;
        new_row(row_type, [id_of(token.id.0)?, piece_of(token)?, start, end, byte_start, byte_end])
    };
    lists::list(py, tokens.iter().map(row))
}

/// Lists spans as pairs of ints.
pub fn span_rows<'py>(
    py: Python<'py>,
    spans: impl ExactSizeIterator<Item = (u32, u32)>,
) -> PyResult<Bound<'py, PyList>> {
    let mut last_end = Offset::new(py, 0)?;
    let row = |(start, end)| {
        let start = Offset::shared(py, start, [&last_end])?;
        last_end = Offset::shared(py, end, [&start])?;
        untracked(PyTuple::new(py, [start.int, last_end.int.clone()])?.into_any())
    };
    lists::list(py, spans.map(row))
}

/// An offset in a text, with its int.
#[derive(Clone)]
struct Offset<'py> {
    value: u32,
    int: Bound<'py, PyAny>,
}

impl<'py> Offset<'py> {
    fn new(py: Python<'py>, value: u32) -> PyResult<Offset<'py>> {
        Ok(Offset { value, int: new_int(py, value)? })
    }

    /// Returns an equal offset of `others` if there is one, so that both share the int.
    #[inline]
    fn shared<const N: usize>(py: Python<'py>, value: u32, others: [&Offset<'py>; N]) -> PyResult<Offset<'py>> {
        match others.into_iter().find(|other| other.value == value) {
            Some(other) => Ok(other.clone()),
            None => Offset::new(py, value),
        }
    }
}

/// The class of the rows.
fn row_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static ROW_TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let row_type = ROW_TYPE.import(py, "polytok.values", "Token")?;
    match row_type.is_subclass_of::<PyTuple>()? {
        true => Ok(row_type),
        false => Err(PyTypeError::new_err("polytok.values.Token is not a tuple")),
    }
}

/// Creates a row: `tuple.__new__(Token, fields)`. Measured (cl100k, English): a third of the time of `Token._make`.
fn new_row<'py>(row_type: &Bound<'py, PyType>, fields: [Bound<'py, PyAny>; 6]) -> PyResult<Bound<'py, PyAny>> {
    static TUPLE_NEW: OnceLock<ffi::newfunc> = OnceLock::new();
    let py = row_type.py();
    let args = PyTuple::new(py, [PyTuple::new(py, fields)?])?;
    // SAFETY: the thread is attached. The slot of tuple is not null and has this type. `tuple.__new__` gets a subclass of tuple and a tuple of one argument, and returns
    // a new reference, or null and an error.
    let row = unsafe {
        let new = *TUPLE_NEW.get_or_init(|| {
            let slot = ffi::PyType_GetSlot(&raw mut ffi::PyTuple_Type, ffi::Py_tp_new);
            std::mem::transmute::<*mut c_void, ffi::newfunc>(slot)
        });
        Bound::from_owned_ptr_or_err(py, new(row_type.as_type_ptr(), args.as_ptr(), std::ptr::null_mut()))?
    };
    untracked(row)
}

/// Returns a tuple that the garbage collector does not visit. Measured: with a million tracked rows, the collector takes
/// longer than creating the rows.
fn untracked(tuple: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the tuple is tracked, because it is new. It contains only ints and bytes, so it is part of no cycle.
    unsafe { ffi::PyObject_GC_UnTrack(tuple.as_ptr().cast()) };
    Ok(tuple)
}
