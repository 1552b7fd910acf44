//! Returns columns as Python objects, whose capsules other packages read. The buffers of a column are shared, never
//! copied.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_data::ArrayData;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::DataType;
use arrow_schema::ffi::FFI_ArrowSchema;
use polytok_core::error::Error;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::to_python;

/// A Python capsule.
type Capsule<'py> = Bound<'py, PyCapsule>;

/// An Arrow array.
#[pyclass(frozen, name = "ArrowArray")]
pub struct PyArrowArray(pub ArrayData);

#[pymethods]
impl PyArrowArray {
    /// Returns capsules of the schema and of the array. Ignores a requested schema, which Arrow allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Capsule<'py>, Capsule<'py>)> {
        drop(requested_schema);
        let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&self.0), c"arrow_array")?;
        Ok((schema_capsule(py, self.0.data_type())?, array))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Capsule<'py>> {
        schema_capsule(py, self.0.data_type())
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// An Arrow stream of arrays of one type, with an array for each chunk of the input.
#[pyclass(frozen, name = "ArrowStream")]
pub struct PyArrowStream {
    data_type: DataType,
    chunks: Vec<ArrayData>,
}

impl PyArrowStream {
    pub fn new(data_type: DataType, chunks: Vec<ArrayData>) -> PyArrowStream {
        PyArrowStream { data_type, chunks }
    }
}

#[pymethods]
impl PyArrowStream {
    /// Returns a capsule of a new stream over all arrays. Ignores a requested schema, which Arrow allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Capsule<'py>> {
        drop(requested_schema);
        let stream_state =
            StreamState { data_type: self.data_type.clone(), rest: self.chunks.clone().into_iter(), error: None };
        PyCapsule::new_with_value(py, stream_state.stream(), c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Capsule<'py>> {
        schema_capsule(py, &self.data_type)
    }

    fn __len__(&self) -> usize {
        self.chunks.iter().map(ArrayData::len).sum()
    }
}

fn schema_capsule<'py>(py: Python<'py>, data_type: &DataType) -> PyResult<Capsule<'py>> {
    let schema = FFI_ArrowSchema::try_from(data_type).map_err(|error| to_python(Error::Argument(error.to_string())))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// The state of a stream that is being read. The crate arrow-array cannot export this stream, because a stream
/// of the crate has only tables.
struct StreamState {
    data_type: DataType,
    rest: std::vec::IntoIter<ArrayData>,
    error: Option<CString>,
}

impl StreamState {
    fn stream(self) -> FFI_ArrowArrayStream {
        let own = Box::into_raw(Box::new(self)).cast::<c_void>();
        // SAFETY: the private data is a `StreamState`, as the functions expect; `release` frees it.
        unsafe {
            FFI_ArrowArrayStream::new_unchecked(
                Some(get_schema),
                Some(get_next),
                Some(get_last_error),
                Some(release),
                own,
            )
        }
    }
}

/// Returns the state of a stream.
///
/// # Safety
///
/// The stream must be from `StreamState::stream` and must not be released; two threads must not read the stream at the
/// same time.
unsafe fn stream_state<'a>(stream: *mut FFI_ArrowArrayStream) -> &'a mut StreamState {
    // SAFETY: the caller guarantees that the stream is from `StreamState::stream` and not released.
    unsafe { &mut *(*stream).private_data().cast::<StreamState>() }
}

unsafe extern "C" fn get_schema(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowSchema) -> c_int {
    // SAFETY: the reader passes its stream, and memory for a schema.
    let stream_state = unsafe { stream_state(stream) };
    match FFI_ArrowSchema::try_from(&stream_state.data_type) {
        Ok(schema) => {
            // SAFETY: as above.
            unsafe { out.write(schema) };
            0
        }
        Err(error) => {
            stream_state.error = CString::new(error.to_string()).ok();
            INVALID
        }
    }
}

/// The error code EINVAL, which is the same number on all systems.
const INVALID: c_int = 22;

unsafe extern "C" fn get_next(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: the reader passes its stream, and memory for an array.
    let next = unsafe { stream_state(stream) }.rest.next();
    let array = next.map_or_else(FFI_ArrowArray::empty, |data| FFI_ArrowArray::new(&data));
    // SAFETY: as above.
    unsafe { out.write(array) };
    0
}

unsafe extern "C" fn get_last_error(stream: *mut FFI_ArrowArrayStream) -> *const c_char {
    // SAFETY: the reader passes its stream.
    unsafe { stream_state(stream) }.error.as_deref().map_or(std::ptr::null(), CStr::as_ptr)
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: the reader releases its stream once; the private data is a Box.
    unsafe {
        drop(Box::from_raw((*stream).private_data().cast::<StreamState>()));
        (*stream).set_release(None);
    }
}
