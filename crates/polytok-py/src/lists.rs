//! Creates long lists without stopping Python's other threads.
//!
//! The GIL is held while Python objects are created, and a million objects take a tenth of a second or more. The other
//! threads, such as the thread of an event loop, would stop for all this time. Therefore the lists of this module are
//! created in slices, and other threads can run between two slices.

use pyo3::IntoPyObjectExt;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::gil::let_other_threads_run;
use crate::layout;

/// The number of items of a slice. Creating them takes less than a millisecond.
const SLICE_ITEMS: usize = 1 << 12;

/// A list that is being created, with a slot for each item. No other thread can find the list before it is complete.
pub struct NewList<'py> {
    list: Bound<'py, PyList>,
    len: usize,
    room: usize,
}

impl<'py> NewList<'py> {
    /// Creates a list with `room` slots.
    pub fn with_room(py: Python<'py>, room: usize) -> PyResult<NewList<'py>> {
        // SAFETY: the thread is attached. The slots of the list are null, which Python skips when it frees the list. A
        // list that the garbage collector does not track is not in `gc.get_objects()`, so no code reads the slots.
        let list = unsafe {
            let list = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(room as ffi::Py_ssize_t))?;
            ffi::PyObject_GC_UnTrack(list.as_ptr().cast());
            list.cast_into_unchecked()
        };
        Ok(NewList { list, len: 0, room })
    }

    /// Appends an item. Other threads can run after every slice.
    #[inline]
    pub fn push(&mut self, item: Bound<'py, PyAny>) -> PyResult<()> {
        assert!(self.len < self.room, "the list has a slot for each item");
        // SAFETY: the slot exists and is null, and takes over the reference to the item.
        unsafe { layout::set_item(&self.list, self.len, item) };
        self.len += 1;
        if self.len.is_multiple_of(SLICE_ITEMS) { let_other_threads_run(self.list.py()) } else { Ok(()) }
    }

    /// Returns the list, which must be full.
    pub fn finish(self) -> Bound<'py, PyList> {
        assert_eq!(self.len, self.room, "every slot has an item");
        // SAFETY: the list is complete, and the garbage collector does not track it yet.
        unsafe { ffi::PyObject_GC_Track(self.list.as_ptr().cast()) };
        self.list
    }
}

/// Creates a list of items.
pub fn list<'py>(
    py: Python<'py>,
    items: impl ExactSizeIterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyList>> {
    let mut list = NewList::with_room(py, items.len())?;
    for item in items {
        list.push(item?)?;
    }
    Ok(list.finish())
}

/// Creates a list of values that PyO3 converts to objects. PyO3's own conversion of a `Vec` panics if the system refuses
/// the memory of the list.
pub fn of_values<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    values: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
) -> PyResult<Bound<'py, PyList>> {
    list(py, values.into_iter().map(|value| value.into_bound_py_any(py)))
}

/// Creates a list of values that PyO3 converts to objects, or raises the error of the first that is one.
pub fn of_results<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    values: impl IntoIterator<Item = PyResult<T>, IntoIter: ExactSizeIterator>,
) -> PyResult<Bound<'py, PyList>> {
    list(py, values.into_iter().map(|value| value?.into_bound_py_any(py)))
}
