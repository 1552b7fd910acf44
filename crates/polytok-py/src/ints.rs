//! Creates lists of ids as Python ints.
//!
//! Creating and freeing an int object costs more than encoding the token. So a tokenizer that returns many lists keeps
//! the int of each id, and the lists share the ints. An id in a list then costs only a reference count and a slot. The
//! table of ints is created once enough ids have been returned to pay for the table. The table has at most one int for
//! each id of the vocabulary, and is freed with the tokenizer. An id of `FIRST_UNSHARED_ID` or more gets a new int each
//! time.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use polytok_core::prefetch::prefetch_line;
use polytok_core::tokenizer::Tokenizer;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// The first id whose int is not kept.
const FIRST_UNSHARED_ID: usize = 1 << 20;
/// The number of ids that are returned in lists before ints are kept.
const IDS_BEFORE_TABLE: usize = 1 << 14;
/// The number of ints that are prefetched together.
const PREFETCHED_INTS: usize = 32;

/// The shared ints of a tokenizer; the int of an id is created when the id is first used.
#[derive(Default)]
pub struct Ints {
    listed: AtomicUsize,
    kept: OnceLock<IntTable>,
}

impl Ints {
    /// Creates a list of ids.
    pub fn list<'py>(&self, py: Python<'py>, tokenizer: &Tokenizer, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        match self.kept(tokenizer, ids.len()) {
            Some(kept) => kept.list(py, ids),
            None => PyList::new(py, ids),
        }
    }

    /// Returns the table of ints; None before enough ids were returned.
    fn kept(&self, tokenizer: &Tokenizer, more: usize) -> Option<&IntTable> {
        if let Some(kept) = self.kept.get() {
            return Some(kept);
        }
        let size = || tokenizer.max_id().map_or(0, |id| id as usize + 1).min(FIRST_UNSHARED_ID);
        let is_worthwhile = self.listed.fetch_add(more, Ordering::Relaxed) >= IDS_BEFORE_TABLE;
        is_worthwhile.then(|| self.kept.get_or_init(|| IntTable((0..size()).map(|_| AtomicPtr::default()).collect())))
    }
}

/// The table of ints: for each id a reference to its int, or null.
struct IntTable(Box<[AtomicPtr<ffi::PyObject>]>);

impl IntTable {
    fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        // SAFETY: the thread is attached. The list is new and has a slot for each id; a slot takes over the reference
        // to the int. If an int cannot be created, the remaining slots are null, which Python skips when it frees the
        // list. Measured (cl100k, English): 7 ns per id; with `PyList::new` and `OnceLock<Py<PyInt>>` 8.5 ns, 14 ns in
        // short lists; 22 ns with new ints.
        unsafe {
            let list = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(ids.len() as ffi::Py_ssize_t))?;
            let mut at = 0;
            for ids in ids.chunks(PREFETCHED_INTS) {
                // The ints are far apart in memory, so all ints are prefetched before the first int is used.
                let mut ints = [std::ptr::null_mut(); PREFETCHED_INTS];
                for (int, &id) in ints.iter_mut().zip(ids) {
                    *int = self.0.get(id as usize).map_or(std::ptr::null_mut(), |place| place.load(Ordering::Acquire));
                    prefetch_line(*int);
                }
                for (&int, &id) in ints.iter().zip(ids) {
                    let int = self.int(py, int, id)?.into_ptr();
                    ffi::PyList_SET_ITEM(list.as_ptr(), at, int);
                    at += 1;
                }
            }
            Ok(list.cast_into_unchecked())
        }
    }

    /// Returns the int of an id. `kept` is the reference in the table, or null.
    #[inline]
    fn int<'py>(&self, py: Python<'py>, kept: *mut ffi::PyObject, id: u32) -> PyResult<Bound<'py, PyAny>> {
        if kept.is_null() {
            return self.new_int(py, id);
        }
        // SAFETY: the thread is attached, and the table keeps a reference to the int until the table is dropped.
        Ok(unsafe { Bound::from_borrowed_ptr(py, kept) })
    }

    #[cold]
    fn new_int<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the thread is attached; the function returns a new reference, or null and an error.
        let int = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyLong_FromUnsignedLong(id.into()))? };
        if let Some(place) = self.0.get(id as usize) {
            let mine = int.clone().into_ptr();
            let null = std::ptr::null_mut();
            if place.compare_exchange(null, mine, Ordering::AcqRel, Ordering::Relaxed).is_err() {
                // SAFETY: the reference is new, and the table did not take the reference.
                drop(unsafe { Bound::from_owned_ptr(py, mine) });
            }
        }
        Ok(int)
    }
}

impl Drop for IntTable {
    fn drop(&mut self) {
        Python::attach(|py| {
            for place in &mut self.0 {
                // SAFETY: the thread is attached; the table owns a reference to each of its ints.
                drop(unsafe { Bound::from_owned_ptr_or_opt(py, *place.get_mut()) });
            }
        });
    }
}
