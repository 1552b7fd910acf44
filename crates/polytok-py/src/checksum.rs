//! The checksum of written files, for python/polytok/corpus.

use numpy::PyReadonlyArray1;
use polytok_core::checksum::Checksum;
use pyo3::prelude::*;

/// XXH3 of 128 bits, of bytes that come in parts.
#[pyclass(name = "Checksum")]
#[derive(Default)]
pub struct PyChecksum(Checksum);

#[pymethods]
impl PyChecksum {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes.
    fn update(&mut self, py: Python<'_>, part: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let part = part.as_slice()?;
        py.detach(|| self.0.update(part));
        Ok(())
    }

    /// Of all bytes until now, as 32 digits.
    fn hex(&self) -> String {
        self.0.hex()
    }
}
