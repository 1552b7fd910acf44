//! Converts texts between Python and Rust.

use std::cell::Cell;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::ops::Deref;

use polytok_core::batch::BatchText;
use polytok_core::error::Error;
use polytok_core::normalize::output::Span;
use polytok_core::tokenizer::Trusted;
use polytok_memory::Collect;
use polytok_str::from_utf8::MeasuredText;
use polytok_str::{Unit, from_utf8, to_utf8};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyString};

use crate::errors::{catch, to_python};
use crate::gil::run_detached_if_long;
use crate::layout::{self, Characters, NewStr};
use crate::objects::Items;

/// The maximum size, in bytes, of a buffer that a thread keeps for its next text.
const MAX_KEPT_BUFFER: usize = 1 << 18;
/// The minimum length, in bytes, of a text that is not decoded by Python's own decoder.
const MIN_VECTOR_BYTES: usize = 64;

thread_local! {
    static KEPT_BUFFER: Cell<String> = const { Cell::new(String::new()) };
}

/// A text of a Python object, in the form in which the object stores it.
pub enum StoredText<'a> {
    /// Bytes, or the ASCII characters of a `str`.
    Bytes(&'a [u8]),
    Ucs1(&'a [u8]),
    Ucs2(&'a [u16]),
    Ucs4(&'a [u32]),
    /// A copy of the characters of a `str`, where its memory is not known.
    Copied(Vec<u32>),
    /// A text in parts.
    Parts(&'a PyParts),
}

/// A text in parts, as UTF-8, with its trusted runs: the base of `polytok.Parts`.
#[pyclass(frozen, subclass, name = "Parts")]
pub struct PyParts {
    pub text: PyBackedBytes,
    /// The trusted runs in bytes, from left to right, no two of which touch.
    pub runs: Vec<Span>,
    /// True if this is a part of a text that is not trusted as a whole, and is encoded like it.
    is_part: bool,
}

#[pymethods]
impl PyParts {
    #[new]
    #[pyo3(signature = (text, runs, is_part=false))]
    fn new(text: PyBackedBytes, runs: Items<(u64, u64)>, is_part: bool) -> PyResult<PyParts> {
        // A text of 4 GiB or more is refused when it is encoded.
        let offset = |offset: u64| offset.min(u32::MAX as u64) as u32;
        let runs = catch(|| runs.0.iter().map(|&(start, end)| (offset(start), offset(end))).checked_collect())?;
        Ok(PyParts { text, runs, is_part })
    }
}

impl PyParts {
    /// Returns the trusted runs.
    pub fn trusted(&self) -> Trusted<'_> {
        let Trusted { runs, is_whole } = Trusted::of_text(&self.runs, self.text.len());
        Trusted { runs, is_whole: is_whole && !self.is_part }
    }
}

impl<'a> StoredText<'a> {
    /// Finds the text of a `str`, bytes or a text in parts.
    pub fn with_parts(object: &'a Bound<'_, PyAny>) -> PyResult<StoredText<'a>> {
        match object.cast::<PyParts>() {
            Ok(parts) => Ok(StoredText::Parts(parts.get())),
            Err(_) => StoredText::of(object),
        }
    }

    /// Finds the text of a `str` or bytes.
    pub fn of(object: &'a Bound<'_, PyAny>) -> PyResult<StoredText<'a>> {
        if let Ok(string) = object.cast::<PyString>() {
            return StoredText::of_str(string);
        }
        match object.cast::<PyBytes>() {
            Ok(bytes) => Ok(StoredText::Bytes(bytes.as_bytes())),
            Err(_) if object.is_instance_of::<PyParts>() => Err(PyTypeError::new_err(
                "text is a polytok.Parts, which this function does not accept, because it has no rule for text that is \
                 not trusted; the methods of Tokenizer that encode, count or cut texts accept Parts (docs/trust.md)",
            )),
            Err(_) => {
                Err(PyTypeError::new_err(format!("text must be str or bytes, not {}", object.get_type().name()?)))
            }
        }
    }

    #[inline]
    fn of_str(string: &'a Bound<'_, PyString>) -> PyResult<StoredText<'a>> {
        Ok(match layout::characters(string)? {
            Characters::Ascii(characters) => StoredText::Bytes(characters),
            Characters::Ucs1(characters) => StoredText::Ucs1(characters),
            Characters::Ucs2(characters) => StoredText::Ucs2(characters),
            Characters::Ucs4(characters) => StoredText::Ucs4(characters),
            Characters::Copied(characters) => StoredText::Copied(characters),
        })
    }

    /// Returns the UTF-8 of the text, in the memory that `buffer` returns; or the text itself if it is stored as UTF-8.
    fn utf8(&self, buffer: impl FnOnce() -> String) -> Result<Utf8<'a>, Error> {
        match *self {
            StoredText::Bytes(bytes) => Ok(Utf8::Stored(bytes)),
            StoredText::Ucs1(characters) => convert(characters, buffer()),
            StoredText::Ucs2(characters) => convert(characters, buffer()),
            StoredText::Ucs4(characters) => convert(characters, buffer()),
            StoredText::Copied(ref characters) => convert(characters, buffer()),
            StoredText::Parts(parts) => Ok(Utf8::Stored(&parts.text)),
        }
    }
}

/// A batch converts its texts in the threads that encode them, where the UTF-8 stays in the processor's cache.
impl BatchText for StoredText<'_> {
    fn stored_bytes(&self) -> usize {
        match self {
            StoredText::Bytes(bytes) => bytes.len(),
            StoredText::Ucs1(characters) => characters.len(),
            StoredText::Ucs2(characters) => size_of_val(*characters),
            StoredText::Ucs4(characters) => size_of_val(*characters),
            StoredText::Copied(characters) => size_of_val(characters.as_slice()),
            StoredText::Parts(parts) => parts.text.len(),
        }
    }

    fn utf8<'a>(&'a self, buffer: &'a mut String) -> Result<Option<&'a [u8]>, Error> {
        Ok(Some(match self.utf8(|| std::mem::take(buffer))? {
            Utf8::Stored(bytes) => bytes,
            Utf8::Converted(text) => {
                *buffer = text;
                buffer.as_bytes()
            }
        }))
    }

    fn trusted(&self) -> Option<&[Span]> {
        if let StoredText::Parts(parts) = self { Some(&parts.runs) } else { None }
    }
}

/// The UTF-8 of a text.
enum Utf8<'a> {
    Stored(&'a [u8]),
    Converted(String),
}

/// Converts the characters of a `str` to UTF-8. Surrogates are repaired as in tiktoken: each pair of surrogates is
/// joined, and each other surrogate is replaced by U+FFFD.
fn convert<'a, U: Unit>(characters: &[U], buffer: String) -> Result<Utf8<'a>, Error> {
    match to_utf8::convert(characters, buffer) {
        Ok(text) => Ok(Utf8::Converted(text)),
        Err(to_utf8::Failure::NotACharacter) => {
            to_utf8::repair(characters).map(Utf8::Converted).ok_or_else(|| no_memory(characters.len()))
        }
        Err(to_utf8::Failure::OutOfMemory) => Err(no_memory(characters.len())),
    }
}

fn no_memory(characters: usize) -> Error {
    Error::Memory(format!("no memory for the UTF-8 of a text of {characters} characters"))
}

/// A text from Python as UTF-8.
pub enum PyText<'a> {
    Stored(&'a [u8]),
    Converted(Buffer),
}

impl Deref for PyText<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            PyText::Stored(bytes) => bytes,
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

/// Returns the text of a `str` of ASCII characters, which is stored as UTF-8; None for any other object.
#[inline]
pub fn ascii<'a>(object: &'a Bound<'_, PyAny>) -> Option<PyText<'a>> {
    match StoredText::of_str(object.cast::<PyString>().ok()?) {
        Ok(StoredText::Bytes(characters)) => Some(PyText::Stored(characters)),
        _ => None,
    }
}

/// Reads a text from `str` or bytes.
pub fn text<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<PyText<'a>> {
    let stored = StoredText::of(object)?;
    let utf8 = || stored.utf8(|| KEPT_BUFFER.take());
    Ok(match run_detached_if_long(object.py(), stored.stored_bytes(), utf8).map_err(to_python)? {
        Utf8::Stored(bytes) => PyText::Stored(bytes),
        Utf8::Converted(text) => PyText::Converted(Buffer(text)),
    })
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
        && layout::has_direct_access()
        && let Some(text) = run_detached_if_long(py, bytes.len(), || from_utf8::measure(bytes))
        && let Some(string) = new_str(py, text)
    {
        return string;
    }
    // SAFETY: the thread is attached; the pointers are those of a slice with its length and of a C string, which are
    // only read.
    unsafe {
        let text = ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t, errors.as_ptr());
        Ok(Bound::from_owned_ptr_or_err(py, text)?.cast_into_unchecked())
    }
}

/// Creates a `str`; returns None if only Python's decoder can.
fn new_str<'py>(py: Python<'py>, text: MeasuredText<'_>) -> Option<PyResult<Bound<'py, PyString>>> {
    let mut string = match NewStr::with_room(py, text.characters, text.max_code)? {
        Ok(string) => string,
        Err(error) => return Some(Err(error)),
    };
    // SAFETY: `max_code` decides, here and in Python, which unit the str has.
    unsafe {
        match text.max_code {
            0..=0xFF => fill(py, string.units::<u8>(), text),
            0x100..=0xFFFF => fill(py, string.units::<u16>(), text),
            _ => fill(py, string.units::<u32>(), text),
        }
    }
    Some(Ok(string.finish()))
}

/// Writes the characters of a text to the units of a `str`.
fn fill<U: Unit + Send>(py: Python<'_>, units: &mut [MaybeUninit<U>], text: MeasuredText<'_>) {
    let written = run_detached_if_long(py, size_of_val(units), || from_utf8::fill(text.text, units));
    debug_assert_eq!(written, text.characters, "every unit is written");
}
