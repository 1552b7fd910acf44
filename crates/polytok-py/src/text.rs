//! Converts texts between Python and Rust.

use std::cell::RefCell;
use std::ffi::CString;
use std::ops::{Deref, RangeInclusive};

use polytok_str::{utf16, utf32};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyString};
use pyo3::{ffi, intern};

/// The minimum length, in characters, of a non-ASCII `str` whose UTF-8 is created only for the call. The alternative is
/// UTF-8 that Python creates and keeps as long as the `str`. For long texts, allocating the kept UTF-8 costs as much
/// time as the encoding, and doubles the memory of a corpus.
const LONG: usize = 512;
/// The maximum length, in characters, of a `str` that this module copies and encodes, several times as fast as Python.
/// Longer texts would need new memory.
const MAX_COPIED_CHARACTERS: usize = 1 << 16;

thread_local! {
    static CHARACTER_BUFFER: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// The bytes of a text; not necessarily UTF-8 if the caller passed bytes.
pub enum Text<'a> {
    Borrowed(&'a [u8]),
    Encoded(PyBackedBytes),
    Made(Vec<u8>),
}

impl Deref for Text<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Text::Borrowed(bytes) => bytes,
            Text::Encoded(bytes) => bytes,
            Text::Made(bytes) => bytes,
        }
    }
}

/// Reads a text from `str` or bytes. Surrogates in a `str` are repaired as in tiktoken: each pair of surrogates is
/// joined, and each other surrogate is replaced by U+FFFD.
pub fn text<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Text<'a>> {
    if let Ok(string) = object.cast::<PyString>() {
        return utf8(string)?.map_or_else(|| repaired(string).map(Text::Made), Ok);
    }
    match object.cast::<PyBytes>() {
        Ok(bytes) => Ok(Text::Borrowed(bytes.as_bytes())),
        Err(_) => Err(PyTypeError::new_err(format!("text must be str or bytes, not {}", object.get_type().name()?))),
    }
}

/// Returns the UTF-8 of a `str`; None if the `str` has surrogates.
fn utf8<'a>(string: &'a Bound<'_, PyString>) -> PyResult<Option<Text<'a>>> {
    // SAFETY: the object is a str.
    let length = unsafe { ffi::PyUnicode_GetLength(string.as_ptr()) } as usize;
    if length < LONG || is_ascii(string)? {
        return Ok(string.to_str().ok().map(|text| Text::Borrowed(text.as_bytes())));
    }
    if length > MAX_COPIED_CHARACTERS {
        return Ok(string.encode_utf8().ok().map(|bytes| Text::Encoded(bytes.into())));
    }
    let made = CHARACTER_BUFFER.with_borrow_mut(|characters| {
        characters.resize(length.max(characters.len()), 0);
        // SAFETY: the object is a str of this length, `characters` has room for it, and no Python code runs during the
        // call.
        let copied =
            unsafe { ffi::PyUnicode_AsUCS4(string.as_ptr(), characters.as_mut_ptr(), length as ffi::Py_ssize_t, 0) };
        if copied.is_null() {
            return Err(PyErr::fetch(string.py()));
        }
        Ok(utf32::to_utf8(&characters[..length]))
    })?;
    Ok(made.map(Text::Made))
}

/// Reports whether a `str` is ASCII. Calls the method of `str`, not of a subclass.
fn is_ascii(string: &Bound<'_, PyString>) -> PyResult<bool> {
    let py = string.py();
    py.get_type::<PyString>().call_method1(intern!(py, "isascii"), (string,))?.is_truthy()
}

/// Encodes a `str` with surrogates to repaired UTF-8. Calls the method of `str`, not of a subclass.
fn repaired(string: &Bound<'_, PyString>) -> PyResult<Vec<u8>> {
    let kind = string.py().get_type::<PyString>();
    let units = kind.call_method1("encode", (string, "utf-16-le", "surrogatepass"))?;
    let units: Vec<u16> = units
        .cast::<PyBytes>()?
        .as_bytes()
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    Ok(String::from_utf16_lossy(&units).into_bytes())
}

/// The range of the lengths, in bytes, of texts that are decoded by way of UTF-16. For shorter texts UTF-16 is not
/// faster, and for longer texts UTF-16 needs much memory.
const UTF16_LENGTHS: RangeInclusive<usize> = 64..=1 << 20;

/// Decodes bytes to a `str`. Bytes that are not UTF-8 are handled by the Python error handler `errors`. `units` is
/// working memory.
pub fn decoded<'py>(
    py: Python<'py>,
    bytes: &[u8],
    errors: &str,
    units: &mut Vec<u16>,
) -> PyResult<Bound<'py, PyString>> {
    let named;
    let errors = match errors {
        "replace" => c"replace",
        other => {
            named = CString::new(other)?;
            &named
        }
    };
    if UTF16_LENGTHS.contains(&bytes.len())
        && utf16::is_worthwhile(bytes)
        && let Some(units) = utf16::encode(bytes, units)
    {
        return decode_utf16(py, units);
    }
    // SAFETY: the thread is attached; the pointers are those of a slice with its length and of a C string, which are
    // only read. Measured: checking the UTF-8 before Python decodes it takes 1.4 times the time for Chinese.
    unsafe {
        let text = ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t, errors.as_ptr());
        Ok(Bound::from_owned_ptr_or_err(py, text)?.cast_into_unchecked())
    }
}

/// Decodes UTF-16 to a `str`.
fn decode_utf16<'py>(py: Python<'py>, units: &[u16]) -> PyResult<Bound<'py, PyString>> {
    let mut order = if cfg!(target_endian = "little") { -1 } else { 1 };
    // SAFETY: the thread is attached; the pointers are those of a slice with its length in bytes, which is only read,
    // and of a number. Measured: encoding and decoding UTF-16 takes two thirds of the time of Python's decoder of UTF-8
    // for texts of mixed scripts.
    unsafe {
        let length = size_of_val(units) as ffi::Py_ssize_t;
        let text = ffi::PyUnicode_DecodeUTF16(units.as_ptr().cast(), length, std::ptr::null(), &mut order);
        Ok(Bound::from_owned_ptr_or_err(py, text)?.cast_into_unchecked())
    }
}
