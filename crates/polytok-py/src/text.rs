//! Converts texts between Python and Rust.

use std::cell::Cell;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::ops::Deref;

use polytok_str::from_utf8::MeasuredText;
use polytok_str::{Unit, from_utf8, to_utf8};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::string::PyStringData;
use pyo3::types::{PyBytes, PyString};
use pyo3::{ffi, intern};

/// The maximum length, in characters, of a `str` whose characters are read to find out whether it is ASCII. Calling a
/// method of a longer `str` takes less time.
const MAX_SCANNED: usize = 4096;
/// The maximum size, in bytes, of a buffer that a thread keeps for its next text.
const MAX_KEPT_BUFFER: usize = 1 << 18;
/// The minimum length, in bytes, of a text that is not decoded by Python's own decoder.
const MIN_VECTOR_BYTES: usize = 64;

thread_local! {
    static KEPT_BUFFER: Cell<String> = const { Cell::new(String::new()) };
}

/// A text from Python.
pub enum PyText<'a> {
    Bytes(&'a [u8]),
    Ascii(&'a str),
    Converted(Buffer),
}

impl PyText<'_> {
    /// Frees memory that the text does not need.
    pub fn shrunk(mut self) -> Self {
        if let PyText::Converted(Buffer(text)) = &mut self {
            text.shrink_to_fit();
        }
        self
    }
}

impl Deref for PyText<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            PyText::Bytes(bytes) => bytes,
            PyText::Ascii(text) => text.as_bytes(),
            PyText::Converted(Buffer(text)) => text.as_bytes(),
        }
    }
}

/// The UTF-8 of a `str`. The thread keeps the memory for its next text.
pub struct Buffer(String);

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.0.capacity() <= MAX_KEPT_BUFFER {
            // The thread can have ended its thread-local values already.
            let _ = KEPT_BUFFER.try_with(|buffer| buffer.set(std::mem::take(&mut self.0)));
        }
    }
}

/// Reads a text from `str` or bytes. Surrogates in a `str` are repaired as in tiktoken: each pair of surrogates is
/// joined, and each other surrogate is replaced by U+FFFD.
pub fn text<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<PyText<'a>> {
    if let Ok(string) = object.cast::<PyString>() {
        return text_of_str(string);
    }
    match object.cast::<PyBytes>() {
        Ok(bytes) => Ok(PyText::Bytes(bytes.as_bytes())),
        Err(_) => Err(PyTypeError::new_err(format!("text must be str or bytes, not {}", object.get_type().name()?))),
    }
}

/// Returns the UTF-8 of a `str`. ASCII is not copied.
fn text_of_str<'a>(string: &'a Bound<'_, PyString>) -> PyResult<PyText<'a>> {
    // SAFETY: a str never changes, and the reference keeps it alive. The tests of each platform check that PyO3 reads the
    // kind of a str as the platform's C compiler has stored it.
    match unsafe { string.data() }? {
        PyStringData::Ucs1(characters) if is_ascii(string, characters)? => {
            // SAFETY: ASCII is UTF-8.
            Ok(PyText::Ascii(unsafe { std::str::from_utf8_unchecked(characters) }))
        }
        PyStringData::Ucs1(characters) => converted(characters),
        PyStringData::Ucs2(characters) => converted(characters),
        PyStringData::Ucs4(characters) => converted(characters),
    }
}

/// Reports whether a `str` with these characters is ASCII.
fn is_ascii(string: &Bound<'_, PyString>, characters: &[u8]) -> PyResult<bool> {
    if characters.len() <= MAX_SCANNED {
        return Ok(characters.is_ascii());
    }
    // This calls the method of `str`, not of a subclass.
    let py = string.py();
    py.get_type::<PyString>().call_method1(intern!(py, "isascii"), (string,))?.is_truthy()
}

/// Converts the characters of a `str` to UTF-8.
fn converted<'a, U: Unit>(characters: &[U]) -> PyResult<PyText<'a>> {
    match to_utf8::convert(characters, KEPT_BUFFER.take()) {
        Ok(text) => Ok(PyText::Converted(Buffer(text))),
        Err(to_utf8::Failure::NotACharacter) => Ok(PyText::Converted(Buffer(to_utf8::repair(characters)))),
        Err(to_utf8::Failure::OutOfMemory) => {
            Err(PyMemoryError::new_err(format!("no memory for the UTF-8 of a text of {} characters", characters.len())))
        }
    }
}

/// Decodes bytes to a `str`. Bytes that are not UTF-8 are handled by the Python error handler `errors`.
pub fn decoded<'py>(py: Python<'py>, bytes: &[u8], errors: &str) -> PyResult<Bound<'py, PyString>> {
    let named;
    let errors = match errors {
        "replace" => c"replace",
        other => {
            named = CString::new(other)?;
            &named
        }
    };
    if bytes.len() >= MIN_VECTOR_BYTES
        && from_utf8::is_fast()
        && let Some(text) = from_utf8::measure(bytes)
    {
        return new_str(py, text);
    }
    // SAFETY: the thread is attached; the pointers are those of a slice with its length and of a C string, which are
    // only read.
    unsafe {
        let text = ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t, errors.as_ptr());
        Ok(Bound::from_owned_ptr_or_err(py, text)?.cast_into_unchecked())
    }
}

/// Creates a `str`.
fn new_str<'py>(py: Python<'py>, text: MeasuredText<'_>) -> PyResult<Bound<'py, PyString>> {
    // SAFETY: the thread is attached. Nothing else refers to the new str, whose memory has room for the characters.
    // `max_code` decides, here and in Python, which unit the str has.
    unsafe {
        let string = ffi::PyUnicode_New(text.characters as ffi::Py_ssize_t, text.max_code);
        let string = Bound::from_owned_ptr_or_err(py, string)?.cast_into_unchecked();
        match text.max_code {
            0..=0xFF => fill::<u8>(&string, text),
            0x100..=0xFFFF => fill::<u16>(&string, text),
            _ => fill::<u32>(&string, text),
        }
        Ok(string)
    }
}

/// Writes the characters of a text to a `str`.
///
/// # Safety
/// The str is new, stores characters in units of type `U`, and has the length of the text.
unsafe fn fill<U: Unit>(string: &Bound<'_, PyString>, text: MeasuredText<'_>) {
    // SAFETY: the memory of the str has this number of units.
    let units = unsafe {
        let start = ffi::PyUnicode_DATA(string.as_ptr()).cast::<MaybeUninit<U>>();
        std::slice::from_raw_parts_mut(start, text.characters)
    };
    let written = from_utf8::fill(text.text, units);
    debug_assert_eq!(written, text.characters, "every unit is written");
}
