//! Reads and fills a `str` and a `list` if the module is built for Python's stable ABI, so that one file serves all
//! versions of CPython.
//!
//! The stable ABI can read the characters of a `str` only by a copy, creates a `str` only by Python's decoders, and needs
//! a call for each item of a list. Therefore this file knows the layouts of CPython 3.10 to 3.15 with the GIL. When the
//! module is loaded, it reads objects by the layout and compares them with what they contain. In any other Python, or if
//! one object differs, only functions of the stable ABI are used: slower, with the same results. `select_direct_access`
//! selects them for tests.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, Ordering};

use polytok_str::Unit;
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::Characters;

/// The last version of Python 3 whose layouts are known.
const LAST_KNOWN_MINOR: u8 = 15;

/// The place of the length of a `str` and of a `list`.
const LENGTH: usize = 16;
/// The place of the pointer to the items of a `list`.
const ITEMS: usize = 24;
/// The place of the state of a `str`.
const STATE: usize = 32;
/// Bits of the state.
const IS_COMPACT: u32 = 1 << 5;
const IS_ASCII: u32 = 1 << 6;

/// The layout of a `str`: the places of its characters.
#[derive(Clone, Copy)]
struct StrLayout {
    /// The place if all characters are ASCII.
    ascii: usize,
    /// The place of other characters; in an instance of a subclass, the place of the pointer to the characters.
    other: usize,
}

const SINCE_3_10: StrLayout = StrLayout { ascii: 48, other: 72 };
const SINCE_3_12: StrLayout = StrLayout { ascii: 40, other: 56 };

/// The layout that is used: one of the numbers below.
static SELECTED: AtomicU8 = AtomicU8::new(STABLE_ABI);
const STABLE_ABI: u8 = 0;
const LAYOUT_3_10: u8 = 1;
const LAYOUT_3_12: u8 = 2;

#[inline]
fn selected() -> Option<StrLayout> {
    match SELECTED.load(Ordering::Relaxed) {
        LAYOUT_3_10 => Some(SINCE_3_10),
        LAYOUT_3_12 => Some(SINCE_3_12),
        _ => None,
    }
}

/// Reports whether objects are read in their memory.
#[pyfunction]
pub fn has_direct_access() -> bool {
    selected().is_some()
}

/// Selects whether objects are read in their memory; returns false, without an effect, if their layout is not known.
#[pyfunction]
fn select_direct_access(py: Python<'_>, is_direct: bool) -> PyResult<bool> {
    let layout = if is_direct { known_layout(py)? } else { STABLE_ABI };
    if is_direct && layout == STABLE_ABI {
        return Ok(false);
    }
    SELECTED.store(layout, Ordering::Relaxed);
    Ok(true)
}

/// Selects the layout of this Python, and adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    SELECTED.store(known_layout(module.py())?, Ordering::Relaxed);
    module.add_function(wrap_pyfunction!(has_direct_access, module)?)?;
    module.add_function(wrap_pyfunction!(select_direct_access, module)?)
}

/// Returns the number of the layout that this Python has, `STABLE_ABI` if it is not known.
fn known_layout(py: Python<'_>) -> PyResult<u8> {
    let has_known_types = cfg!(all(target_pointer_width = "64", target_endian = "little"));
    let sys = py.import("sys")?;
    let is_cpython = sys.getattr("implementation")?.getattr("name")?.eq("cpython")?;
    // Only a build of Python without the GIL has this flag.
    let has_gil = !sys.getattr("abiflags").is_ok_and(|flags| flags.contains("t").unwrap_or(true));
    let version = py.version_info();
    if !has_known_types || !is_cpython || !has_gil || version.major != 3 || version.minor > LAST_KNOWN_MINOR {
        return Ok(STABLE_ABI);
    }
    let (number, layout) = if version.minor < 12 { (LAYOUT_3_10, SINCE_3_10) } else { (LAYOUT_3_12, SINCE_3_12) };
    Ok(if has_layout(py, layout)? { number } else { STABLE_ABI })
}

/// Reports whether objects of each kind have the layout.
fn has_layout(py: Python<'_>, layout: StrLayout) -> PyResult<bool> {
    const SAMPLES: [&str; 6] = ["a", "A long text of ASCII characters", "\u{FF}", "naïve", "世界 naïve", "a 😀 世界"];
    let subclass = py.eval(c"type('Text', (str,), {})", None, None)?;
    for sample in SAMPLES {
        for string in [PyString::new(py, sample), subclass.call1((sample,))?.cast_into()?] {
            // SAFETY: this is a `str` of a version for which the layout is known.
            let characters = unsafe { read(string.as_ptr(), layout) };
            let is_equal = match characters {
                Some(Characters::Ascii(units)) => sample.is_ascii() && units == sample.as_bytes(),
                Some(Characters::Ucs1(units)) => is_text(sample, units),
                Some(Characters::Ucs2(units)) => is_text(sample, units),
                Some(Characters::Ucs4(units)) => is_text(sample, units),
                Some(Characters::Copied(_)) | None => false,
            };
            if !is_equal {
                return Ok(false);
            }
        }
    }
    let list = PyList::new(py, SAMPLES)?;
    // SAFETY: this is a `list` of a version for which the layout is known.
    let (length, items) = unsafe { (field::<usize>(list.as_ptr(), LENGTH), items(&list)) };
    // SAFETY: the index is less than the length, so the list has the slot.
    let has_item = |at: usize| list.get_item(at).is_ok_and(|item| unsafe { *items.add(at) } == item.as_ptr());
    Ok(length == SAMPLES.len() && (0..length).all(has_item))
}

fn is_text<U: Unit>(text: &str, units: &[U]) -> bool {
    !text.is_ascii() && units.iter().map(|&unit| unit.into()).eq(text.chars().map(u32::from))
}

/// Returns the characters of a `str`.
#[inline]
pub fn characters<'a>(string: &'a Bound<'_, PyString>) -> PyResult<Characters<'a>> {
    // SAFETY: the layout is that of this Python. A `str` never changes, and the reference keeps it alive.
    match selected().and_then(|layout| unsafe { read(string.as_ptr(), layout) }) {
        Some(characters) => Ok(characters),
        None => copied_characters(string).map(Characters::Copied),
    }
}

/// Copies the characters of a `str`.
#[cold]
fn copied_characters(string: &Bound<'_, PyString>) -> PyResult<Vec<u32>> {
    let mut copy = Vec::new();
    // SAFETY: the thread is attached, and the memory has room for the characters, which Python writes.
    unsafe {
        let length = ffi::PyUnicode_GetLength(string.as_ptr());
        let length = usize::try_from(length).map_err(|_| PyErr::fetch(string.py()))?;
        copy.try_reserve_exact(length)
            .map_err(|_| PyMemoryError::new_err(format!("no memory for a copy of a text of {length} characters")))?;
        let room = length as ffi::Py_ssize_t;
        if ffi::PyUnicode_AsUCS4(string.as_ptr(), copy.as_mut_ptr(), room, 0).is_null() {
            return Err(PyErr::fetch(string.py()));
        }
        copy.set_len(length);
    }
    Ok(copy)
}

/// A `str` whose characters are still to be written.
pub struct NewStr<'py> {
    string: Bound<'py, PyString>,
    units: *mut u8,
    length: usize,
}

impl<'py> NewStr<'py> {
    /// Creates a `str` of two or more characters, in the unit that the character `max_code` needs. None if this Python's
    /// memory is not known; then the text must be decoded by Python.
    ///
    /// The `str` is a repeated character at first, because the stable ABI has no other function that creates a `str` of
    /// a given size. Writing it twice costs less than Python's decoder.
    pub fn with_room(py: Python<'py>, length: usize, max_code: u32) -> Option<PyResult<NewStr<'py>>> {
        let layout = selected().filter(|_| length >= 2)?;
        // SAFETY: the thread is attached; the functions return a new reference, or null and an error. No other code
        // refers to the new `str`, and its layout is that of this Python.
        unsafe {
            let character = Bound::from_owned_ptr_or_err(py, ffi::PyUnicode_FromOrdinal(max_code as _));
            let repeat = |character: Bound<'py, PyAny>| {
                let string = ffi::PySequence_Repeat(character.as_ptr(), length as ffi::Py_ssize_t);
                Bound::from_owned_ptr_or_err(py, string)
            };
            let string: Bound<'py, PyString> = match character.and_then(repeat) {
                Ok(string) => string.cast_into_unchecked(),
                Err(error) => return Some(Err(error)),
            };
            let (units, size, count) = match read(string.as_ptr(), layout)? {
                Characters::Ascii(units) => (units.as_ptr(), 1, units.len()),
                Characters::Ucs1(units) => (units.as_ptr(), 1, units.len()),
                Characters::Ucs2(units) => (units.as_ptr().cast(), 2, units.len()),
                Characters::Ucs4(units) => (units.as_ptr().cast(), 4, units.len()),
                Characters::Copied(_) => return None,
            };
            let expected_size = match max_code {
                0..=0xFF => 1,
                0x100..=0xFFFF => 2,
                _ => 4,
            };
            (size == expected_size && count == length).then_some(Ok(NewStr { string, units: units.cast_mut(), length }))
        }
    }

    /// Returns the memory of the characters.
    ///
    /// # Safety
    /// `U` is the unit that the `max_code` of `with_room` needs.
    pub unsafe fn units<U: Unit>(&mut self) -> &mut [MaybeUninit<U>] {
        // SAFETY: the memory has a unit for each character, and this is the only reference to it.
        unsafe { std::slice::from_raw_parts_mut(self.units.cast(), self.length) }
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
    // SAFETY: the list has this item, and its layout is that of this Python.
    unsafe {
        match selected() {
            Some(_) => *items(list).add(at),
            None => ffi::PyList_GetItem(list.as_ptr(), at as ffi::Py_ssize_t),
        }
    }
}

/// Writes an item to an empty slot of a list.
///
/// # Safety
/// The list has this slot, which is null, and no other thread has the list.
#[inline]
pub unsafe fn set_item(list: &Bound<'_, PyList>, at: usize, item: Bound<'_, PyAny>) {
    // SAFETY: the list has this slot, which takes over the reference, and the layout is that of this Python.
    unsafe {
        match selected() {
            Some(_) => *items(list).add(at) = item.into_ptr(),
            // The function fails only if the index is wrong.
            None => drop(ffi::PyList_SetItem(list.as_ptr(), at as ffi::Py_ssize_t, item.into_ptr())),
        }
    }
}

/// Returns the slots of a list.
///
/// # Safety
/// The layout of a list is known.
#[inline]
unsafe fn items(list: &Bound<'_, PyList>) -> *mut *mut ffi::PyObject {
    // SAFETY: the field is a part of every list.
    unsafe { field(list.as_ptr(), ITEMS) }
}

/// Reads a field of an object.
///
/// # Safety
/// The object has a field of this type at this place.
#[inline]
unsafe fn field<T>(object: *mut ffi::PyObject, place: usize) -> T {
    // SAFETY: the caller knows the field.
    unsafe { object.cast::<u8>().add(place).cast::<T>().read() }
}

/// Reads the characters of a `str`; returns None if the `str` has none in its memory yet.
///
/// # Safety
/// The object is a `str` with this layout, which is alive as long as the result.
#[inline]
unsafe fn read<'a>(string: *mut ffi::PyObject, layout: StrLayout) -> Option<Characters<'a>> {
    // SAFETY: the layout has these fields, and that many characters of the unit that the state names.
    unsafe {
        let (length, state) = (field::<usize>(string, LENGTH), field::<u32>(string, STATE));
        let is_ascii = state & IS_ASCII != 0;
        let start = match state & IS_COMPACT {
            0 => field::<*const u8>(string, layout.other),
            _ => string.cast::<u8>().add(if is_ascii { layout.ascii } else { layout.other }).cast_const(),
        };
        if start.is_null() {
            return None;
        }
        Some(match state >> 2 & 0b111 {
            1 if is_ascii => Characters::Ascii(std::slice::from_raw_parts(start, length)),
            1 => Characters::Ucs1(std::slice::from_raw_parts(start, length)),
            2 => Characters::Ucs2(std::slice::from_raw_parts(start.cast(), length)),
            4 => Characters::Ucs4(std::slice::from_raw_parts(start.cast(), length)),
            _ => return None,
        })
    }
}
