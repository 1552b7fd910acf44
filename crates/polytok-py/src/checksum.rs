//! Computes the checksum of written files, for python/polytok/corpus.

use numpy::PyReadonlyArray1;
use polytok_core::checksum::Checksum;
use pyo3::prelude::*;

/// The XXH3 checksum, with 128 bits, of a sequence of bytes, which is added in parts.
#[pyclass(name = "Checksum")]
#[derive(Default)]
pub struct PyChecksum(Box<Checksum>);

#[pymethods]
impl PyChecksum {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds the next bytes.
    fn update(&mut self, py: Python<'_>, part: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let part = part.as_slice()?;
        py.detach(|| self.0.update(part));
        Ok(())
    }

    /// Returns the checksum of all bytes so far, as 32 hexadecimal digits.
    fn hex(&self) -> String {
        self.0.hex()
    }
}
