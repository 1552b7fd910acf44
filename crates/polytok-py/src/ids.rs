//! Converts ids from Python objects.

use std::cell::Cell;
use std::ffi::c_ulong;

use numpy::{Element, PyArray1, PyArrayMethods};
use polytok_memory::{self as memory, Collect, Grow};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyBytes, PyInt, PyList, PyString};

use crate::errors::{catch, id_error};
use crate::layout;
use crate::objects;

/// The maximum number of ids that are decoded without releasing the GIL.
pub const MAX_ATTACHED_IDS: usize = 4096;

/// The maximum length of a list whose ids are kept without an allocation.
const MAX_SHORT_LIST: usize = 32;

/// The maximum number of ids whose memory a thread keeps for its next call.
const MAX_KEPT_IDS: usize = 1 << 14;

thread_local! {
    static KEPT_IDS: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

/// An empty vector of ids. The thread keeps its memory for the next call.
pub struct KeptIds(pub Vec<u32>);

impl Default for KeptIds {
    fn default() -> KeptIds {
        KeptIds(KEPT_IDS.take())
    }
}

impl Drop for KeptIds {
    fn drop(&mut self) {
        if self.0.capacity() <= MAX_KEPT_IDS {
            self.0.clear();
            // The thread can have ended its thread-local values already.
            let _ = KEPT_IDS.try_with(|kept| kept.set(std::mem::take(&mut self.0)));
        }
    }
}

/// A copy of the ids of a Python object. Ids are checked before they are decoded, and another thread can change a list
/// or an array in between, so they are read only once.
pub enum Ids {
    Long(Vec<u32>),
    Short(ShortIds),
}

/// A few ids on the stack.
pub struct ShortIds {
    ids: [u32; MAX_SHORT_LIST],
    len: usize,
}

impl Ids {
    /// The ids.
    pub fn as_slice(&self) -> &[u32] {
        match self {
            Ids::Long(ids) => ids,
            Ids::Short(ShortIds { ids, len }) => &ids[..*len],
        }
    }
}

/// Reads ids from a sequence of ints or a numpy array of integers.
pub fn ids(object: &Bound<'_, PyAny>) -> PyResult<Ids> {
    if let Ok(list) = object.cast::<PyList>()
        && let Some(ids) = short_list(list)
    {
        return Ok(Ids::Short(ids));
    }
    catch(|| read(object))?.map(Ids::Long)
}

/// Reads ids from an object that is not a short list of exact ints.
fn read(object: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    if let Ok(list) = object.cast::<PyList>() {
        return read_list(list);
    }
    objects::import_numpy(object.py())?;
    read_array::<u32>(object)
        .or_else(|| read_array::<u16>(object))
        .or_else(|| read_array::<i64>(object))
        .or_else(|| read_array::<i32>(object))
        .unwrap_or_else(|| read_any(object))
}

/// Reads the ids of an array with elements of type `T`; None if the object is not such an array.
fn read_array<T>(object: &Bound<'_, PyAny>) -> Option<PyResult<Vec<u32>>>
where
    T: Element + Copy + TryInto<u32> + std::fmt::Display,
{
    let array = object.cast::<PyArray1<T>>().ok()?;
    Some(array.try_readonly().map_err(PyErr::from).and_then(|array| {
        let array = array.as_array();
        // The loop converts all ids before any id is checked, so that the compiler can convert many ids with one
        // instruction.
        let mut is_wrong = false;
        let one = |&id: &T| {
            id.try_into().unwrap_or_else(|_| {
                is_wrong = true;
                0
            })
        };
        let ids = match array.as_slice() {
            Some(slice) => slice.iter().map(one).checked_collect(),
            None => array.iter().map(one).checked_collect(),
        };
        if is_wrong { read_checked(array.iter()) } else { Ok(ids) }
    }))
}

/// Reads ids, each of which is checked. Another thread can have replaced a wrong id, so each id is read once.
fn read_checked<'a, T>(items: impl Iterator<Item = &'a T>) -> PyResult<Vec<u32>>
where
    T: Copy + TryInto<u32> + std::fmt::Display + 'a,
{
    let mut ids = Vec::new();
    for &id in items {
        ids.checked_push(id.try_into().map_err(|_| id_error(id))?);
    }
    Ok(ids)
}

/// Reads a short list of exact ints that can be ids; None for any other list.
#[inline]
fn short_list(list: &Bound<'_, PyList>) -> Option<ShortIds> {
    with_critical_section(list, || {
        let mut short = ShortIds { ids: [0; MAX_SHORT_LIST], len: list.len() };
        for (at, id) in short.ids.get_mut(..short.len)?.iter_mut().enumerate() {
            *id = exact_int_id(list, at)?;
        }
        Some(short)
    })
}

fn read_list(list: &Bound<'_, PyList>) -> PyResult<Vec<u32>> {
    with_critical_section(list, || {
        let mut ids = memory::with_capacity(list.len());
        for at in 0..list.len() {
            ids.checked_push(match exact_int_id(list, at) {
                Some(id) => id,
                None => read_id(&list.get_item(at)?)?,
            });
        }
        Ok(ids)
    })
}

/// Returns the id at an index of a list that no other thread changes; None if the item is not an exact int, or not an
/// id.
#[inline]
fn exact_int_id(list: &Bound<'_, PyList>, at: usize) -> Option<u32> {
    if at >= list.len() {
        return None;
    }
    // SAFETY: the thread is attached, and the list has this item. The list keeps the borrowed item alive while no other
    // code runs, and converting an exact int runs no other code. An error of the conversion is cleared.
    let number = unsafe {
        let item = layout::item(list, at);
        // An item of a list that is being created can be null.
        if item.is_null() || ffi::PyLong_CheckExact(item) == 0 {
            return None;
        }
        ffi::PyLong_AsUnsignedLong(item)
    };
    if number == c_ulong::MAX {
        drop(PyErr::take(list.py()));
        return None;
    }
    u32::try_from(number).ok()
}

fn read_any(object: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("ids must be integers, not text; encode the text first"));
    }
    let mut ids = Vec::new();
    for item in object.try_iter()? {
        ids.checked_push(read_id(&item?)?);
    }
    Ok(ids)
}

/// Reports whether an error is that of an id that no vocabulary has.
pub fn is_id_error(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<crate::errors::TokenIdError>(py)
}

/// Reads an id from a Python object.
pub fn read_id(item: &Bound<'_, PyAny>) -> PyResult<u32> {
    if let Ok(id) = item.extract::<u32>() {
        return Ok(id);
    }
    if item.is_instance_of::<PyInt>() {
        return Err(id_error(item));
    }
    match item.extract::<i128>() {
        Ok(id) => Err(id_error(id)),
        Err(_) => Err(PyTypeError::new_err(format!("an id must be an int, not {}", item.get_type().name()?))),
    }
}
