//! State that only one call uses at a time, such as words that are being counted.

use std::sync::{Mutex, MutexGuard, TryLockError};

use polytok_core::error::Error;
use pyo3::prelude::*;

use crate::errors::to_python;

/// State of a Python object that is not shared.
pub struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    pub fn new(state: T) -> Exclusive<T> {
        Exclusive(Mutex::new(state))
    }

    /// Returns the state for one call. Another call gets an error until this call has ended. It must not wait, because
    /// it can be a call of the function that reports the progress of the first.
    pub fn get(&self) -> PyResult<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(state) => Ok(state),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(to_python(Error::Argument(
                "these counts are in use by a call that has not ended; let it end first, or use other counts in each \
                 thread and merge them"
                    .into(),
            ))),
        }
    }
}
