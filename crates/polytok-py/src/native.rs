//! Reads and writes files in polytok's own format: wraps the functions of polytok_core::native, for
//! python/polytok/formats/ptok.py.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use memmap2::Mmap;
use polytok_core::native::{Image, Tables};
use polytok_core::tokenizer::Tokenizer;
use polytok_memory::Copied;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{catch, mapping_error, to_python};
use crate::gil::detach;
use crate::objects;
use crate::spec;
use crate::tokenizer::PyTokenizer;

/// A file in the native format, whose checksum was verified.
#[pyclass(frozen, name = "NativeFile")]
pub struct PyNativeFile(Image);

#[pymethods]
impl PyNativeFile {
    /// Maps a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<PyNativeFile> {
        let file = File::open(path)?;
        // SAFETY: the mapping is read-only, and the data is checked at each use, so a change of the file can cause
        // wrong ids but no invalid memory access. Programs that write files of this format, such as polytok, replace a
        // file instead of changing the file. Measured: opening o200k_base (12 MB) takes 0.5 ms if the file is mapped,
        // and 3.0 ms if it is read and copied.
        let map = unsafe { Mmap::map(&file) }.map_err(mapping_error)?;
        let image = detach(py, || Image::open(Arc::new(map)))?;
        Ok(PyNativeFile(image))
    }

    /// Copies the bytes of a file.
    #[staticmethod]
    fn copy(data: &[u8]) -> PyResult<PyNativeFile> {
        Ok(PyNativeFile(Image::copy(data).map_err(to_python)?))
    }

    /// Returns the bytes of a section; None if the file does not have the section.
    fn section<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.0.section(name).map(|bytes| objects::bytes(py, bytes)).transpose()
    }

    /// Returns the fingerprint that was written with the file.
    fn fingerprint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        objects::bytes(py, &self.0.fingerprint())
    }

    /// Reports whether the engine reads this Spec from the file, apart from the vocabulary and the merges.
    fn has_spec(&self, spec: &Bound<'_, PyAny>) -> PyResult<bool> {
        let outline = catch(|| self.0.outline())?.map_err(to_python)?;
        Ok(outline == spec::outline(spec)?)
    }

    /// Compiles the tokenizer in the file.
    fn compile(&self, py: Python<'_>) -> PyResult<PyTokenizer> {
        let compiled = detach(py, || Tokenizer::from_image(self.0.clone()))?;
        Ok(PyTokenizer::from(compiled))
    }
}

/// Writes a file with the given sections, the vocabulary and the compiled tables.
#[pyfunction]
fn native_write<'py>(
    py: Python<'py>,
    spec: &Bound<'py, PyAny>,
    sections: Vec<(String, Bound<'py, PyBytes>)>,
    fingerprint: [u8; 16],
) -> PyResult<Bound<'py, PyBytes>> {
    let spec = spec::spec(spec)?;
    let sections: Vec<_> = sections.iter().map(|(name, bytes)| (name, bytes.as_bytes())).collect();
    let file = detach(py, || {
        let mut tables = Tables::with_sections();
        Tokenizer::compile_with(spec, &mut tables)?;
        let mut kept = tables.finish();
        sections.into_iter().for_each(|(name, bytes)| kept.push(name, bytes.checked_to_vec()));
        Ok(kept.finish(fingerprint))
    })?;
    objects::bytes(py, &file)
}

/// Adds the class and the function to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    objects::add_class::<PyNativeFile>(module)?;
    module.add_function(wrap_pyfunction!(native_write, module)?)
}
