//! The Python binding: thin and dull, no logic.

use pyo3::prelude::*;

mod wire;

/// The native part of polytok; its public face is the Python package.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    wire::register(module)
}
