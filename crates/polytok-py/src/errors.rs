//! Converts engine errors to the Python exceptions of polytok.errors.

use std::io;

use polytok_core::error::Error;
use polytok_memory as memory;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError};
use pyo3::{PyErr, PyResult};

/// The Python classes of the exceptions.
mod classes {
    pyo3::import_exception!(polytok.errors, ArgumentError);
    pyo3::import_exception!(polytok.errors, EncodeError);
    pyo3::import_exception!(polytok.errors, FileError);
    pyo3::import_exception!(polytok.errors, FormatError);
    pyo3::import_exception!(polytok.errors, SpecError);
    pyo3::import_exception!(polytok.errors, SpecialTokenError);
    pyo3::import_exception!(polytok.errors, TokenIdError);
}

pub use classes::TokenIdError;

/// Runs work of the engine; raises MemoryError if memory is refused.
pub fn catch<T>(run: impl FnOnce() -> T) -> PyResult<T> {
    memory::run_caught(run).map_err(|refused| to_python(refused.into()))
}

/// Converts an engine error to a Python exception.
pub fn to_python(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Format(_) => classes::FormatError::new_err(message),
        Error::Spec(_) => classes::SpecError::new_err(message),
        Error::Encode(_) => classes::EncodeError::new_err(message),
        Error::Special(_) => classes::SpecialTokenError::new_err(message),
        Error::Id(_) => classes::TokenIdError::new_err(message),
        Error::Argument(_) => classes::ArgumentError::new_err(message),
        Error::File(_) => classes::FileError::new_err(message),
        Error::Memory(_) => PyMemoryError::new_err(message),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
    }
}

/// Converts the error of a file that cannot be mapped; the system can refuse the address space.
pub fn mapping_error(error: io::Error) -> PyErr {
    match error.kind() {
        io::ErrorKind::OutOfMemory => PyMemoryError::new_err(format!("cannot map the file: {error}; free memory")),
        _ => error.into(),
    }
}

/// Converts an error in a text of a column, and adds the row of the text to the message.
pub fn row_error((row, error): (usize, Error)) -> PyErr {
    to_python(match error {
        Error::Encode(message) => Error::Encode(format!("text {row}: {message}")),
        Error::Special(message) => Error::Special(format!("text {row}: {message}")),
        other => other,
    })
}

/// Creates the exception for an id outside 0 to 2^32 - 1.
pub fn id_error(id: impl std::fmt::Display) -> PyErr {
    classes::TokenIdError::new_err(format!("id {id} is not in the vocabulary"))
}
