//! Reads and selects the SIMD level of the process.

use polytok_simd::SimdLevel;
use pyo3::prelude::*;

/// Returns the name of a level in Python.
fn name(level: SimdLevel) -> &'static str {
    match level {
        SimdLevel::Portable => "portable",
        SimdLevel::Avx2 => "avx2",
        SimdLevel::Avx512 => "avx512",
    }
}

/// Returns the names of the levels that the processor supports, the fastest first.
#[pyfunction]
fn simd_levels() -> Vec<&'static str> {
    let mut names: Vec<&str> = SimdLevel::supported().map(name).collect();
    names.reverse();
    names
}

/// Returns the name of the level of the process.
#[pyfunction]
fn simd_level() -> &'static str {
    name(SimdLevel::current())
}

/// Selects a level by its name; returns false, without an effect, if the processor does not support the level.
#[pyfunction]
fn select_simd_level(wanted: &str) -> bool {
    SimdLevel::ALL.into_iter().any(|level| name(level) == wanted && level.select())
}

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(simd_levels, module)?)?;
    module.add_function(wrap_pyfunction!(simd_level, module)?)?;
    module.add_function(wrap_pyfunction!(select_simd_level, module)?)
}
