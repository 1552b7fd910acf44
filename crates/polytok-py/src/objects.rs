//! Creates Python objects whose size follows from input. If Python refuses the memory, the functions of this module
//! return a MemoryError, where those of PyO3 and numpy panic.

use std::any::Any;
use std::collections::HashSet;
use std::ffi::c_int;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};

use numpy::npyffi::{NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, PyArrayObject, get_type_object, npy_intp};
use numpy::{Element, PyArray1, PyArrayDescrMethods, PyArrayMethods};
use polytok_memory::{self as memory, Grow, GrowSet};
use pyo3::PyClass;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PySequence, PyString};

use crate::errors::catch;

/// The maximum length in bytes of an array that is copied. A longer array takes over the memory of Rust, which costs
/// one more object.
const MAX_COPIED_BYTES: usize = 1 << 14;

/// The items of a sequence, as PyO3 reads them for a `Vec`.
pub struct Items<T>(pub Vec<T>);

impl<'py, T: FromPyObjectOwned<'py>> FromPyObject<'_, 'py> for Items<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Items<T>> {
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("a text is not a list of texts; pass a list"));
        }
        let sequence = object.cast::<PySequence>()?;
        let mut items = catch(|| memory::with_capacity(sequence.len().unwrap_or(0)))?;
        for item in sequence.try_iter()? {
            let item = item?.extract().map_err(Into::into)?;
            catch(|| items.checked_push(item))?;
        }
        Ok(Items(items))
    }
}

/// The items of a set, as PyO3 reads them for a `HashSet`.
pub struct ItemSet<T>(pub HashSet<T>);

impl<'py, T: FromPyObjectOwned<'py> + Eq + Hash> FromPyObject<'_, 'py> for ItemSet<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<ItemSet<T>> {
        let mut items = HashSet::new();
        for item in object.try_iter()? {
            let item = item?.extract().map_err(Into::into)?;
            catch(|| items.checked_insert(item))?;
        }
        Ok(ItemSet(items))
    }
}

/// Adds a class to the module. Python aligns objects to two words: a value that needs more must be in a Box.
pub fn add_class<T: PyClass>(module: &Bound<'_, PyModule>) -> PyResult<()> {
    const { assert!(align_of::<T>() <= 2 * size_of::<usize>()) };
    module.add_class::<T>()
}

/// Creates a bytes object.
pub fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    // SAFETY: the thread is attached. The bytes are only read. The function returns a new reference, or null and an
    // error.
    unsafe {
        let object = ffi::PyBytes_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t);
        Ok(Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked())
    }
}

/// Creates a bytearray. It is created without bytes and then resized: CPython 3.11 writes "SystemError: deallocated
/// bytearray object has exported buffers" to standard error if memory is refused in `PyByteArray_FromStringAndSize`.
pub fn byte_array<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyByteArray>> {
    // SAFETY: as in `bytes`. No other code can have a reference to the new object yet, and its length is the
    // number of bytes that are copied.
    unsafe {
        let object = Bound::from_owned_ptr_or_err(py, ffi::PyByteArray_FromStringAndSize(std::ptr::null(), 0))?;
        if ffi::PyByteArray_Resize(object.as_ptr(), bytes.len() as ffi::Py_ssize_t) < 0 {
            return Err(PyErr::fetch(py));
        }
        bytes.as_ptr().copy_to_nonoverlapping(ffi::PyByteArray_AsString(object.as_ptr()).cast(), bytes.len());
        Ok(object.cast_into_unchecked())
    }
}

/// Creates a `str`.
pub fn string<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    // SAFETY: as in `bytes`.
    unsafe {
        let object = ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len() as ffi::Py_ssize_t);
        Ok(Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked())
    }
}

/// Creates an empty list.
pub fn empty_list(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    // SAFETY: the thread is attached. The function returns a new reference, or null and an error.
    unsafe { Ok(Bound::from_owned_ptr_or_err(py, ffi::PyList_New(0))?.cast_into_unchecked()) }
}

/// Converts values to a numpy array. A short array is a copy; a long array takes over the memory of the values.
pub fn array<T: Element + Copy + Sync + 'static>(
    py: Python<'_>,
    mut values: Vec<T>,
) -> PyResult<Bound<'_, PyArray1<T>>> {
    if size_of_val(values.as_slice()) <= MAX_COPIED_BYTES {
        let array = new_array::<T>(py, values.len(), std::ptr::null_mut())?;
        // SAFETY: nothing else refers to the new array, which has an element for each value.
        unsafe { array.data().copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        return Ok(array);
    }
    values.shrink_to_fit();
    let (start, count) = (values.as_mut_ptr(), values.len());
    let owner = Bound::new(py, ArrayMemory(Box::new(values)))?;
    let array = new_array(py, count, start)?;
    // SAFETY: the thread is attached. The array takes over the reference to the owner, which keeps the memory of the
    // values at its place; nothing else uses the memory.
    let outcome =
        unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast::<PyArrayObject>(), owner.into_ptr()) };
    if outcome == 0 { Ok(array) } else { Err(PyErr::fetch(py)) }
}

/// Imports numpy. Functions of the crate `numpy` import it too, but panic if the import fails. No thread waits here for
/// another thread, so a fork cannot leave a lock behind.
pub fn import_numpy(py: Python<'_>) -> PyResult<()> {
    static IS_IMPORTED: AtomicBool = AtomicBool::new(false);
    if !IS_IMPORTED.load(Ordering::Relaxed) {
        py.import("numpy")?;
        IS_IMPORTED.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// The memory of an array.
#[pyclass(frozen)]
struct ArrayMemory(#[expect(dead_code, reason = "it is only kept")] Box<dyn Any + Send + Sync>);

/// Creates an array of `count` elements that starts at `data`, or with new memory if `data` is null.
fn new_array<T: Element>(py: Python<'_>, count: usize, data: *mut T) -> PyResult<Bound<'_, PyArray1<T>>> {
    import_numpy(py)?;
    let mut dimensions = [count as npy_intp];
    // SAFETY: the thread is attached. The function takes over the reference to the element type, and returns a new
    // reference to an array with one dimension, or null and an error.
    unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            T::get_dtype(py).into_dtype_ptr(),
            dimensions.len() as c_int,
            dimensions.as_mut_ptr(),
            std::ptr::null_mut(),
            data.cast(),
            NPY_ARRAY_WRITEABLE,
            std::ptr::null_mut(),
        );
        Ok(Bound::from_owned_ptr_or_err(py, array)?.cast_into_unchecked())
    }
}
