//! Converts engine errors to the Python exceptions of polytok.errors.

use polytok_core::error::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError};

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
