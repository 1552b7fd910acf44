//! Refuses to initialize the module in a second interpreter of a process.
//!
//! The module keeps Python's classes and modules for the whole process. A second interpreter would use those of the
//! first, which fails after the first has ended.

use std::sync::atomic::{AtomicI64, Ordering};

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// The value of `FIRST` before the module is initialized; no interpreter has this id.
const NONE: i64 = -1;

/// The id of the interpreter that the module was first initialized in.
static FIRST: AtomicI64 = AtomicI64::new(NONE);

/// Returns an `ImportError` if another interpreter has initialized the module before.
pub(crate) fn check(_py: Python<'_>) -> PyResult<()> {
    // SAFETY: a thread that has the GIL belongs to an interpreter, whose id can be read.
    let id = unsafe { pyo3::ffi::PyInterpreterState_GetID(pyo3::ffi::PyInterpreterState_Get()) };
    match FIRST.compare_exchange(NONE, id, Ordering::AcqRel, Ordering::Acquire) {
        Err(first) if first != id => Err(PyImportError::new_err(
            "polytok was imported in another interpreter of this process, and works in one interpreter only: import it \
             in the main interpreter, or use threads or processes",
        )),
        _ => Ok(()),
    }
}
