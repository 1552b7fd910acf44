//! Reads and fills a `str` and a `list` if the module is built for one version of Python.

use std::mem::MaybeUninit;

use polytok_str::Unit;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::string::PyStringData;
use pyo3::types::{PyList, PyString};

use super::Characters;

/// Reports whether objects are read in their memory.
#[pyfunction]
pub fn has_direct_access() -> bool {
    true
}

/// Reports whether the access to objects that is asked for exists: a build for one version has no other.
#[pyfunction]
fn select_direct_access(is_direct: bool) -> bool {
    is_direct
}

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(has_direct_access, module)?)?;
    module.add_function(wrap_pyfunction!(select_direct_access, module)?)
}

/// Returns the characters of a `str`.
#[inline]
pub fn characters<'a>(string: &'a Bound<'_, PyString>) -> PyResult<Characters<'a>> {
    // SAFETY: a str never changes, and the reference keeps it alive. The tests of each platform check that PyO3 reads
    // the state of a str as the platform's C compiler has stored it.
    Ok(match unsafe { string.data()? } {
        PyStringData::Ucs1(characters) if are_ascii(string, characters) => Characters::Ascii(characters),
        PyStringData::Ucs1(characters) => Characters::Ucs1(characters),
        PyStringData::Ucs2(characters) => Characters::Ucs2(characters),
        PyStringData::Ucs4(characters) => Characters::Ucs4(characters),
    })
}

/// Reports whether the characters of a `str` follow the fields that every `str` has: then all of them are ASCII, because
/// other characters follow more fields. Those of a subclass are elsewhere, and are not called ASCII. PyO3 can read the
/// flag for ASCII only up to Python 3.13.
#[inline]
fn are_ascii(string: &Bound<'_, PyString>, characters: &[u8]) -> bool {
    let end_of_fields = string.as_ptr().cast::<ffi::PyASCIIObject>().wrapping_add(1);
    std::ptr::eq(characters.as_ptr(), end_of_fields.cast())
}

/// A `str` whose characters are still to be written.
pub struct NewStr<'py> {
    string: Bound<'py, PyString>,
    length: usize,
}

impl<'py> NewStr<'py> {
    /// Creates a `str` in the unit that the character `max_code` needs.
    pub fn with_room(py: Python<'py>, length: usize, max_code: u32) -> Option<PyResult<NewStr<'py>>> {
        // SAFETY: the thread is attached; the function returns a new reference to a `str`, or null and an error.
        let string =
            unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyUnicode_New(length as ffi::Py_ssize_t, max_code)) };
        // SAFETY: as above.
        Some(string.map(|string| NewStr { string: unsafe { string.cast_into_unchecked() }, length }))
    }

    /// Returns the memory of the characters.
    ///
    /// # Safety
    /// `U` is the unit that the `max_code` of `with_room` needs.
    pub unsafe fn units<U: Unit>(&mut self) -> &mut [MaybeUninit<U>] {
        // SAFETY: the memory of the str has this number of units. Nothing else refers to the new str.
        unsafe { std::slice::from_raw_parts_mut(ffi::PyUnicode_DATA(self.string.as_ptr()).cast(), self.length) }
    }

    /// Returns the `str`, whose characters are written.
    pub fn finish(self) -> Bound<'py, PyString> {
        self.string
    }
}

/// Returns the item of a list as a borrowed reference; null if the slot is empty.
///
/// # Safety
/// The list has this item, and no other thread changes the list.
#[inline]
pub unsafe fn item(list: &Bound<'_, PyList>, at: usize) -> *mut ffi::PyObject {
    // SAFETY: the list has this item.
    unsafe { ffi::PyList_GET_ITEM(list.as_ptr(), at as ffi::Py_ssize_t) }
}

/// Writes an item to an empty slot of a list.
///
/// # Safety
/// The list has this slot, which is null, and no other thread has the list.
#[inline]
pub unsafe fn set_item(list: &Bound<'_, PyList>, at: usize, item: Bound<'_, PyAny>) {
    // SAFETY: the list has this slot, which takes over the reference.
    unsafe { ffi::PyList_SET_ITEM(list.as_ptr(), at as ffi::Py_ssize_t, item.into_ptr()) }
}
