//! Reads columns of texts. A capsule has a struct of Arrow's C interface, which is moved out of the capsule. So a
//! capsule can be read once.

use std::ffi::CStr;

use arrow_array::ffi::from_ffi_and_data_type;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_buffer::ArrowNativeType;
use arrow_data::ArrayData;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::DataType;
use arrow_schema::ffi::FFI_ArrowSchema;
use polytok_core::error::Error;
use polytok_core::texts::Texts;
use polytok_memory::{self as memory, Grow, TryCollect};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::critical_section::{with_critical_section, with_critical_section2};
use pyo3::types::{PyCapsule, PyTuple};

use super::texts::read_texts;
use crate::errors::{catch, to_python};

/// A column of texts in chunks of one type.
pub struct Chunks {
    pub data_type: DataType,
    pub chunks: Vec<Texts>,
    /// True if the object has a stream, false if the object has a single array.
    pub is_stream: bool,
}

/// Reads the texts of an object with `__arrow_c_array__` or `__arrow_c_stream__` as one column. Several chunks are
/// copied to one chunk.
pub fn texts(object: &Bound<'_, PyAny>) -> PyResult<Texts> {
    let mut chunks = chunks(object)?.chunks;
    Ok(if chunks.len() == 1 { chunks.swap_remove(0) } else { Texts::concatenate(&chunks) })
}

/// Reads the texts of an object with `__arrow_c_array__` or `__arrow_c_stream__` in chunks.
pub fn chunks(object: &Bound<'_, PyAny>) -> PyResult<Chunks> {
    let (is_stream, data_type, arrays) = if object.hasattr("__arrow_c_array__")? {
        let (data_type, array) = array(object)?;
        (false, data_type, vec![array])
    } else if object.hasattr("__arrow_c_stream__")? {
        let (data_type, arrays) = stream(object)?;
        (true, data_type, arrays)
    } else {
        return Err(PyTypeError::new_err(format!(
            "the column must be an Arrow array or stream (an object with __arrow_c_array__ or __arrow_c_stream__), not {}; \
             convert a list or a column with pyarrow.array(...)",
            object.get_type().name()?
        )));
    };
    let read = || memory::run_caught(|| arrays.iter().map(read_texts).checked_try_collect());
    let chunks = object.py().detach(read).map_err(|refused| to_python(refused.into()))?;
    Ok(Chunks { chunks: chunks.map_err(broken)?, data_type, is_stream })
}

/// Reads the array of an object, which `__arrow_c_array__` returns as two capsules.
fn array(object: &Bound<'_, PyAny>) -> PyResult<(DataType, ArrayData)> {
    let given_capsules = object.call_method0("__arrow_c_array__")?;
    let wrong = || capsule_error(object, "__arrow_c_array__", "a tuple of two capsules, arrow_schema and arrow_array");
    let pair = given_capsules.cast::<PyTuple>().map_err(|_| wrong())?;
    let [schema_capsule, array_capsule] = &pair.iter().collect::<Vec<_>>()[..] else { return Err(wrong()) };
    let schema = capsule_pointer(schema_capsule, c"arrow_schema").ok_or_else(wrong)?;
    let array = capsule_pointer(array_capsule, c"arrow_array").ok_or_else(wrong)?;
    // SAFETY: by Arrow's capsule interface, capsules with these names have a schema and an array. `from_raw` marks the
    // structs as released. No other thread moves them meanwhile: if an object returns the same capsules to several
    // threads, only one of them gets the structs.
    let (schema, array) = with_critical_section2(schema_capsule, array_capsule, || unsafe {
        (FFI_ArrowSchema::from_raw(schema), FFI_ArrowArray::from_raw(array))
    });
    let data_type = text_type(&schema)?;
    Ok((data_type.clone(), import_checked(array, data_type)?))
}

/// Reads all arrays of the stream of an object, which `__arrow_c_stream__` returns as a capsule. Releases the GIL,
/// because another thread of the stream can need the GIL.
fn stream(object: &Bound<'_, PyAny>) -> PyResult<(DataType, Vec<ArrayData>)> {
    let given_capsules = object.call_method0("__arrow_c_stream__")?;
    let wrong = || capsule_error(object, "__arrow_c_stream__", "the capsule arrow_array_stream");
    let pointer = capsule_pointer(&given_capsules, c"arrow_array_stream").ok_or_else(wrong)?;
    // SAFETY: by Arrow's capsule interface, a capsule with this name has a stream. Only one thread gets it, as in `array`.
    let mut stream = with_critical_section(&given_capsules, || unsafe { FFI_ArrowArrayStream::from_raw(pointer) });
    object.py().detach(|| {
        let mut schema = FFI_ArrowSchema::empty();
        call(&mut stream, |stream| {
            // SAFETY: the stream is not released, and `schema` is a valid struct.
            stream.get_schema().map(|get| unsafe { get(stream, &mut schema) })
        })?;
        let data_type = text_type(&schema)?;
        let mut arrays = Vec::new();
        loop {
            let mut array = FFI_ArrowArray::empty();
            call(&mut stream, |stream| {
                // SAFETY: the stream is not released, and `array` is a valid struct.
                stream.get_next().map(|get| unsafe { get(stream, &mut array) })
            })?;
            if array.is_released() {
                return Ok((data_type, arrays));
            }
            let array = import_checked(array, data_type.clone())?;
            catch(|| arrays.checked_push(array))?;
        }
    })
}

/// Calls a function of a stream, and raises the error of the stream if the function fails.
fn call(
    stream: &mut FFI_ArrowArrayStream,
    function: impl FnOnce(&mut FFI_ArrowArrayStream) -> Option<i32>,
) -> PyResult<()> {
    if stream.release().is_none() {
        return Err(used_up_error());
    }
    match function(stream) {
        Some(0) => Ok(()),
        code => {
            Err(broken(format!("reading the stream failed with code {}: {}", code.unwrap_or(-1), last_error(stream))))
        }
    }
}

fn last_error(stream: &mut FFI_ArrowArrayStream) -> String {
    let Some(get) = stream.get_last_error() else { return String::new() };
    // SAFETY: the stream is not released; the result is null, or a C string that is valid until the next call.
    let message = unsafe {
        let text = get(stream);
        if text.is_null() { None } else { Some(CStr::from_ptr(text)) }
    };
    message.map_or_else(String::new, |text| text.to_string_lossy().into_owned())
}

/// Returns the type of a schema, which must be a type of texts.
fn text_type(schema: &FFI_ArrowSchema) -> PyResult<DataType> {
    if schema.release().is_none() {
        return Err(used_up_error());
    }
    let data_type = DataType::try_from(schema).map_err(|error| broken(error.to_string()))?;
    let has_texts = |data_type: &DataType| data_type.is_string() || data_type.is_binary() || data_type.is_null();
    let is_texts = match &data_type {
        DataType::Dictionary(keys, values) => keys.is_integer() && has_texts(values),
        other => has_texts(other),
    };
    match is_texts {
        true => Ok(data_type),
        false if data_type.is_nested() => Err(PyTypeError::new_err(format!(
            "the column must have texts, not {data_type}; pass one column of the table"
        ))),
        false => Err(PyTypeError::new_err(format!(
            "the column must have texts (string or binary), not {data_type}; cast the column to string"
        ))),
    }
}

/// Imports an array after checking its lengths. The offsets of its texts are checked when the texts are read.
fn import_checked(array: FFI_ArrowArray, data_type: DataType) -> PyResult<ArrayData> {
    if array.is_released() {
        return Err(used_up_error());
    }
    check_lengths(&array, &data_type).map_err(broken)?;
    // SAFETY: the struct is of this type, is not released, has no other owner, and no buffer has an impossible length.
    unsafe { from_ffi_and_data_type(array, data_type) }.map_err(|error| broken(error.to_string()))
}

/// Checks all numbers from which the import computes the length of a buffer: those of the array, and those of the
/// entries of its dictionary.
fn check_lengths(array: &FFI_ArrowArray, data_type: &DataType) -> Result<(), String> {
    let (len, offset, buffers) = (array.len(), array.offset(), array.num_buffers());
    let end = len.wrapping_add(offset);
    if [len, offset, end].iter().any(|&length| length > MAX_LENGTH) {
        return Err(format!("an array of length {} at offset {} is impossible", len as i64, offset as i64));
    }
    if buffers > 0 && !has_buffers(array) {
        return Err("the list of buffers is missing".into());
    }
    let is_possible = match data_type {
        DataType::Utf8 | DataType::Binary => buffers == 3 && (end == 0 || is_length::<i32>(array, 1, end)),
        DataType::LargeUtf8 | DataType::LargeBinary => buffers == 3 && (end == 0 || is_length::<i64>(array, 1, end)),
        DataType::Utf8View | DataType::BinaryView => {
            (3..=MAX_LENGTH).contains(&buffers)
                && (0..buffers - 3).all(|index| is_length::<i64>(array, buffers - 1, index))
        }
        DataType::Dictionary(_, values) => {
            array.dictionary().map_or(Ok(()), |entries| check_lengths(entries, values))?;
            buffers == 2
        }
        _ => true,
    };
    is_possible.then_some(()).ok_or_else(|| "a buffer is missing or has a negative length".into())
}

/// Reports whether an array has a list of buffers, as the functions of the crate expect.
fn has_buffers(array: &FFI_ArrowArray) -> bool {
    // SAFETY: in Arrow's C data interface, the pointer to the list follows five numbers of 64 bits.
    let list = unsafe { std::ptr::from_ref(array).cast::<u64>().add(5).cast::<*const ()>().read() };
    !list.is_null()
}

/// Reports whether the number at `index` of a buffer is the length of another buffer.
fn is_length<T: ArrowNativeType>(array: &FFI_ArrowArray, buffer: usize, index: usize) -> bool {
    let numbers = array.buffer(buffer).cast::<T>();
    // SAFETY: by Arrow's interface, a buffer that is not null has this number, which need not be aligned.
    !numbers.is_null() && unsafe { numbers.add(index).read_unaligned() }.to_usize().is_some_and(|len| len <= MAX_LENGTH)
}

/// The maximum length of a buffer in bytes, and the maximum length and offset of an array.
const MAX_LENGTH: usize = isize::MAX as usize / 16;

/// Returns a pointer to the struct in a capsule; None if the object is not a capsule with this name.
fn capsule_pointer<T>(object: &Bound<'_, PyAny>, name: &CStr) -> Option<*mut T> {
    Some(object.cast::<PyCapsule>().ok()?.pointer_checked(Some(name)).ok()?.as_ptr().cast())
}

fn capsule_error(object: &Bound<'_, PyAny>, method: &str, expected: &str) -> PyErr {
    let class = object.get_type().name().map_or_else(|_| "the object".into(), |name| name.to_string());
    broken(format!("{method} of {class} did not return {expected}"))
}

fn used_up_error() -> PyErr {
    broken("the capsule is released, because each capsule can be read once; pass the column again".into())
}

fn broken(message: String) -> PyErr {
    to_python(Error::Argument(format!("Arrow: {message}")))
}
