//! The Python binding: thin and dull, no logic.

use pyo3::prelude::*;

/// The native part of polytok; its public face is the Python package.
#[pymodule]
fn _core(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
