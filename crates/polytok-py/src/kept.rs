//! Keeps one Python object for each id of a vocabulary.
//!
//! Creating and freeing an object costs more than encoding the token. So a tokenizer that returns many objects keeps
//! the object of each id, and the results share the objects. An id in a result then costs only a reference count and a
//! slot. The table of objects is created once enough ids have been returned to pay for the table. The table has at most
//! one object for each id of the vocabulary, and is freed with the tokenizer. An id of `FIRST_UNSHARED_ID` or more gets
//! a new object each time.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use polytok_core::tokenizer::Tokenizer;
use polytok_memory::Collect;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::errors::catch;

/// The first id whose object is not kept.
const FIRST_UNSHARED_ID: usize = 1 << 20;
/// The number of ids that are returned before objects are kept.
const IDS_BEFORE_TABLE: usize = 1 << 14;

/// The shared objects of a tokenizer; the object of an id is created when the id is first used.
#[derive(Default)]
pub struct KeptObjects {
    returned: AtomicUsize,
    table: OnceLock<ObjectTable>,
}

impl KeptObjects {
    /// Returns the table for `more` ids; None before enough ids were returned.
    pub fn table(&self, tokenizer: &Tokenizer, more: usize) -> Option<&ObjectTable> {
        if let Some(table) = self.table.get() {
            return Some(table);
        }
        let size = || tokenizer.max_id().map_or(0, |id| id as usize + 1).min(FIRST_UNSHARED_ID);
        let is_worthwhile = self.returned.fetch_add(more, Ordering::Relaxed) + more >= IDS_BEFORE_TABLE;
        let create = || ObjectTable((0..size()).map(|_| AtomicPtr::default()).checked_collect());
        if !is_worthwhile {
            return None;
        }
        // If memory is refused, the objects are not kept.
        let table = catch(create).ok()?;
        Some(self.table.get_or_init(|| table))
    }
}

/// For each id a reference to its object, or null.
pub struct ObjectTable(Vec<AtomicPtr<ffi::PyObject>>);

impl ObjectTable {
    /// Returns the object of an id as a borrowed reference, or null if the table does not have it.
    #[inline]
    pub fn borrowed(&self, id: u32) -> *mut ffi::PyObject {
        self.0.get(id as usize).map_or(std::ptr::null_mut(), |place| place.load(Ordering::Acquire))
    }

    /// Returns the object of an id. `kept` is what `borrowed` returned for the id.
    #[inline]
    pub fn object<'py>(
        &self,
        py: Python<'py>,
        kept: *mut ffi::PyObject,
        id: u32,
        create: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if kept.is_null() {
            return self.keep(py, id, create()?);
        }
        // SAFETY: the thread is attached, and the table keeps a reference to the object until the table is dropped.
        Ok(unsafe { Bound::from_borrowed_ptr(py, kept) })
    }

    #[cold]
    fn keep<'py>(&self, py: Python<'py>, id: u32, object: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(place) = self.0.get(id as usize) {
            let mine = object.clone().into_ptr();
            let null = std::ptr::null_mut();
            if place.compare_exchange(null, mine, Ordering::AcqRel, Ordering::Relaxed).is_err() {
                // SAFETY: the reference is new, and the table did not take the reference.
                drop(unsafe { Bound::from_owned_ptr(py, mine) });
            }
        }
        Ok(object)
    }
}

impl Drop for ObjectTable {
    fn drop(&mut self) {
        Python::attach(|py| {
            for place in &mut self.0 {
                // SAFETY: the thread is attached; the table owns a reference to each of its objects.
                drop(unsafe { Bound::from_owned_ptr_or_opt(py, *place.get_mut()) });
            }
        });
    }
}
