//! Reads and writes the metadata of GGUF files, for python/polytok/formats/gguf_file.py.

use std::fs::File;
use std::path::PathBuf;

use memmap2::Mmap;
use polytok_core::error::Error;
use polytok_core::wire::gguf::{self, GgufTexts};
use polytok_memory::Copied;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::{raised, read_merges};
use crate::columns::{self, PyColumn};
use crate::errors::{catch, mapping_error};
use crate::lists;
use crate::objects::{self, Items};

/// A column of texts: the bytes of all texts, and the offset at which each text begins, then the total length.
type PyTextColumn<'py> = (Bound<'py, PyBytes>, PyColumn<'py>);
/// A column of texts as an argument; the offsets are a memoryview or a numpy array.
type TextColumn<'py> = (Bound<'py, PyBytes>, Bound<'py, PyAny>);
/// The key of a metadata entry, the type of the value, the type and the number of the elements, and the start and the
/// end of the value.
type PyEntry<'py> = (Bound<'py, PyBytes>, u32, u32, u64, usize, usize);

fn to_python(py: Python<'_>, texts: GgufTexts) -> PyResult<PyTextColumn<'_>> {
    Ok((objects::bytes(py, &texts.blob)?, columns::view(py, &texts.offsets)?))
}

fn to_core((blob, offsets): TextColumn<'_>) -> PyResult<GgufTexts> {
    let offsets = columns::read(&offsets)?.unwrap_or_default(); // try_new refuses a column without offsets
    GgufTexts::try_new(catch(|| blob.as_bytes().checked_to_vec())?, offsets).map_err(raised)
}

/// Reads the metadata of a file. Returns the version, whether the file is big-endian, the number of tensors, the
/// entries, and the end of the metadata.
#[pyfunction]
fn gguf_read<'py>(py: Python<'py>, data: &[u8]) -> PyResult<(u32, bool, u64, Bound<'py, PyList>, usize)> {
    let read = gguf::read(data).map_err(raised)?;
    let entry = |entry: gguf::GgufEntry| -> PyResult<PyEntry> {
        let key = objects::bytes(py, &data[entry.key])?;
        Ok((key, entry.kind, entry.element, entry.count, entry.value.start, entry.value.end))
    };
    let entries = lists::of_results(py, read.entries.into_iter().map(entry))?;
    Ok((read.version, read.big_endian, read.tensors, entries, read.end))
}

/// Returns the end of the metadata of a file, without reading the tensors after the metadata.
#[pyfunction]
fn gguf_metadata_end(path: PathBuf) -> PyResult<usize> {
    let file = File::open(path)?;
    // SAFETY: the mapping is read-only, and is removed before this function returns. If a program changes the file
    // meanwhile, the end of the metadata can be wrong, and the caller's bytes are then checked again. If a program
    // truncates the file meanwhile, the system ends the process, as with every mapped file.
    let map = unsafe { Mmap::map(&file) }.map_err(mapping_error)?;
    Ok(gguf::read(&map).map_err(raised)?.end)
}

/// Reads the strings of an array.
#[pyfunction]
fn gguf_strings<'py>(py: Python<'py>, value: &[u8], count: u64, big_endian: bool) -> PyResult<PyTextColumn<'py>> {
    to_python(py, gguf::strings(value, count, big_endian).map_err(raised)?)
}

/// Writes an array of strings.
#[pyfunction]
fn gguf_write_strings<'py>(py: Python<'py>, texts: TextColumn<'py>, big_endian: bool) -> PyResult<Bound<'py, PyBytes>> {
    let texts = to_core(texts)?;
    objects::bytes(py, &gguf::write_strings(&texts, big_endian).map_err(raised)?)
}

/// Converts GPT-2's characters to bytes in the texts whose byte in `mapped` is not zero. Also returns the indexes of
/// those of these texts that have other characters.
#[pyfunction]
fn gguf_byte_level<'py>(
    py: Python<'py>,
    texts: TextColumn<'py>,
    mapped: &[u8],
) -> PyResult<(PyTextColumn<'py>, Bound<'py, PyList>)> {
    let texts = to_core(texts)?;
    check_flags(mapped, &texts)?;
    let (bytes, foreign) = gguf::byte_level(&texts, |index| mapped[index] != 0).map_err(raised)?;
    Ok((to_python(py, bytes)?, lists::of_values(py, foreign)?))
}

/// Converts bytes to GPT-2's characters in the texts whose byte in `mapped` is not zero.
#[pyfunction]
fn gguf_byte_level_texts<'py>(py: Python<'py>, texts: TextColumn<'py>, mapped: &[u8]) -> PyResult<PyTextColumn<'py>> {
    let texts = to_core(texts)?;
    check_flags(mapped, &texts)?;
    to_python(py, gguf::byte_level_texts(&texts, |index| mapped[index] != 0).map_err(raised)?)
}

fn check_flags(flags: &[u8], texts: &GgufTexts) -> PyResult<()> {
    if flags.len() != texts.len() {
        return Err(raised(Error::Format("the column of flags has another length than the column of texts".into())));
    }
    Ok(())
}

/// Reads lines of merges to a column with three numbers for each merge; omits merges that contain an id of `unused`.
#[pyfunction]
fn gguf_merges<'py>(
    py: Python<'py>,
    tokens: TextColumn<'py>,
    lines: TextColumn<'py>,
    unused: Items<u32>,
) -> PyResult<PyColumn<'py>> {
    let (tokens, lines) = (to_core(tokens)?, to_core(lines)?);
    let mut merges = gguf::resolve_merges(&tokens, &lines).map_err(raised)?;
    let mut unused = unused.0;
    unused.sort_unstable();
    merges.retain(|merge| merge.iter().all(|id| unused.binary_search(id).is_err()));
    columns::view_merges(py, &merges)
}

/// Writes the first two columns of merges as lines.
#[pyfunction]
fn gguf_merge_lines<'py>(
    py: Python<'py>,
    tokens: TextColumn<'py>,
    merges: &Bound<'py, PyAny>,
) -> PyResult<PyTextColumn<'py>> {
    let merges = read_merges(merges)?;
    let pairs = merges.iter().map(|&[left, right, _]| (left, right));
    let tokens = to_core(tokens)?;
    to_python(py, gguf::merge_lines(&tokens, pairs).map_err(raised)?)
}

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(gguf_read, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_metadata_end, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_strings, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_write_strings, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_byte_level, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_byte_level_texts, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_merges, module)?)?;
    module.add_function(wrap_pyfunction!(gguf_merge_lines, module)?)
}
