//! Python text and ids as Rust sees them.

use std::borrow::Cow;

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString};

use crate::errors::bad_id;

/// A text: `str`, or bytes that are meant to be UTF-8. The UTF-8 of a `str` is borrowed. A `str` that holds surrogates is repaired as
/// tiktoken does it: pairs are joined, lone ones become U+FFFD.
pub fn text<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(string) = object.cast::<PyString>() {
        return match string.to_str() {
            Ok(text) => Ok(Cow::Borrowed(text.as_bytes())),
            Err(_) => repaired(string).map(Cow::Owned),
        };
    }
    match object.cast::<PyBytes>() {
        Ok(bytes) => Ok(Cow::Borrowed(bytes.as_bytes())),
        Err(_) => Err(PyTypeError::new_err(format!("text must be str or bytes, not {}", object.get_type().name()?))),
    }
}

fn repaired(string: &Bound<'_, PyString>) -> PyResult<Vec<u8>> {
    let units = string.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    let units: Vec<u16> = units
        .cast::<PyBytes>()?
        .as_bytes()
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    Ok(String::from_utf16_lossy(&units).into_bytes())
}

/// Ids: any sequence of ints, or a numpy array of integers.
pub fn ids(object: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    if let Ok(list) = object.cast::<PyList>() {
        return list.iter().map(|item| one_id(&item)).collect();
    }
    if let Ok(array) = object.extract::<PyReadonlyArray1<'_, u32>>() {
        return Ok(array.as_array().to_vec());
    }
    if let Ok(array) = object.extract::<PyReadonlyArray1<'_, u16>>() {
        return Ok(array.as_array().iter().map(|&id| id as u32).collect());
    }
    if let Ok(array) = object.extract::<PyReadonlyArray1<'_, i64>>() {
        return array.as_array().iter().map(|&id| u32::try_from(id).map_err(|_| bad_id(id))).collect();
    }
    if let Ok(array) = object.extract::<PyReadonlyArray1<'_, i32>>() {
        return array.as_array().iter().map(|&id| u32::try_from(id).map_err(|_| bad_id(id))).collect();
    }
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("ids must be integers, not text"));
    }
    object.try_iter()?.map(|item| one_id(&item?)).collect()
}

/// One id.
pub fn one_id(item: &Bound<'_, PyAny>) -> PyResult<u32> {
    if let Ok(id) = item.extract::<u32>() {
        return Ok(id);
    }
    if item.is_instance_of::<PyInt>() {
        return Err(bad_id(item));
    }
    match item.extract::<i128>() {
        Ok(id) => Err(bad_id(id)),
        Err(_) => Err(PyTypeError::new_err(format!("an id must be an int, not {}", item.get_type().name()?))),
    }
}
