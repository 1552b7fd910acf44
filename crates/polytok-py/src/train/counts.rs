//! Counts words, and reads and writes files of counts.

use std::fs::{self, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use polytok_core::error::Error;
use polytok_core::train::counter::{CountsFile, Limit, Order, RunFile, Spill, WordCounter, write_counts};
use polytok_core::train::room::usable_memory;
use polytok_core::train::texts::{TextCounter, TextRules};
use polytok_memory::{self as memory, Collect};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyString;

use super::exclusive::Exclusive;
use super::progress::Reporter;
use super::words::PyWords;
use crate::errors::{catch, to_python};
use crate::gil::detach;
use crate::objects::{self, Items};
use crate::spec;

/// The size of the buffer between the engine and a Python file. std ends the process if this memory is
/// refused, so it is less than 64 KiB.
const BUFFER: usize = 1 << 15;

/// Creates files in a folder that Python deletes at the end. If the system allows unlinking an open file, each file is
/// unlinked immediately.
struct Folder {
    path: PathBuf,
    next: AtomicU64,
}

impl Spill for Folder {
    fn create(&self) -> io::Result<Box<dyn RunFile>> {
        let path = self.path.join(format!("run{}", self.next.fetch_add(1, Ordering::Relaxed)));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        if cfg!(unix) {
            fs::remove_file(&path)?;
        }
        Ok(Box::new(file))
    }
}

/// The maximum size in memory, in bytes, and the folder for the data above this limit.
pub type PyMemoryLimit = Option<(usize, PathBuf)>;

/// Converts a limit to the engine's type.
pub fn limit(limit: PyMemoryLimit) -> Option<Limit> {
    limit.map(|(bytes, path)| Limit { bytes, spill: Arc::new(Folder { path, next: AtomicU64::new(0) }) })
}

/// A binary file object of Python.
struct PyFile(Py<PyAny>);

impl Write for PyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = Python::attach(|py| self.0.call_method1(py, "write", (objects::bytes(py, bytes)?,)).map(drop));
        written.map(|()| bytes.len()).map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for PyFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let read: PyBackedBytes = self.0.call_method1(py, "read", (bytes.len(),))?.extract(py)?;
            let target = bytes
                .get_mut(..read.len())
                .ok_or_else(|| PyValueError::new_err("read() returned more bytes than requested"))?;
            target.copy_from_slice(&read);
            Ok(read.len())
        })
        .map_err(|error: PyErr| io::Error::other(error))
    }
}

/// A counter of the words of texts.
#[pyclass(frozen, name = "TextCounter")]
pub struct PyTextCounter(Exclusive<Option<TextCounter>>);

#[pymethods]
impl PyTextCounter {
    /// Creates a counter with the normalizers and splits of a Spec. `limit` is a number of bytes and a folder.
    #[new]
    fn new(
        normalize: &Bound<'_, PyAny>,
        split: &Bound<'_, PyAny>,
        special: Items<Vec<u8>>,
        threads: usize,
        limit: PyMemoryLimit,
    ) -> PyResult<PyTextCounter> {
        let rules = TextRules::compile(&special.0, spec::read_normalize_steps(normalize)?, &spec::split_steps(split)?);
        let counter = TextCounter::new(rules.map_err(to_python)?, threads, self::limit(limit));
        Ok(PyTextCounter(Exclusive::new(Some(counter))))
    }

    /// Counts whole texts.
    fn push(&self, py: Python<'_>, texts: Items<PyBackedBytes>) -> PyResult<()> {
        let mut state = self.0.get()?;
        let counter = open(&mut state)?;
        let texts = catch(|| texts.0.iter().map(|text| &text[..]).checked_collect())?;
        Reporter::new(None).run(py, |progress| counter.push(&texts, progress))
    }

    /// Counts the words of the next part of a text.
    fn push_part(&self, py: Python<'_>, part: PyBackedBytes, is_last: bool) -> PyResult<()> {
        let mut state = self.0.get()?;
        let counter = open(&mut state)?;
        Reporter::new(None).run(py, |progress| counter.push_part(&part, is_last, progress))
    }

    /// The number of bytes of the open text that are not counted yet.
    #[getter]
    fn open_bytes(&self) -> PyResult<usize> {
        Ok(self.0.get()?.as_ref().map_or(0, TextCounter::open_bytes))
    }

    /// Returns the counted words, and ends the counter.
    fn finish(&self, py: Python<'_>) -> PyResult<PyWordCounter> {
        let counter = self.0.get()?.take().ok_or_else(finished_error)?;
        Reporter::new(None).run(py, |progress| counter.finish(progress)).map(PyWordCounter::from)
    }
}

fn open(state: &mut Option<TextCounter>) -> PyResult<&mut TextCounter> {
    state.as_mut().ok_or_else(finished_error)
}

/// Returns the error of a counter whose words were returned.
pub fn finished_error() -> PyErr {
    to_python(Error::Argument("this counter is finished; count further texts with a new one".into()))
}

/// Counted words.
#[pyclass(frozen, name = "WordCounter")]
pub struct PyWordCounter(pub Exclusive<WordCounter>);

impl From<WordCounter> for PyWordCounter {
    fn from(counter: WordCounter) -> PyWordCounter {
        PyWordCounter(Exclusive::new(counter))
    }
}

#[pymethods]
impl PyWordCounter {
    #[new]
    fn new(limit: PyMemoryLimit) -> PyWordCounter {
        WordCounter::new(self::limit(limit)).into()
    }

    /// Adds words with their counts, after all earlier words.
    fn add(&self, words: Items<(PyBackedBytes, u64)>) -> PyResult<()> {
        let mut counter = self.0.get()?;
        let add = || words.0.iter().try_for_each(|(word, times)| counter.add(word, *times));
        catch(add)?.map_err(to_python)
    }

    /// Adds the words of a counts file, and returns the description of the file.
    fn read<'py>(
        &self,
        py: Python<'py>,
        file: Py<PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyString>> {
        let mut state = self.0.get()?;
        let counter = &mut *state;
        let description = Reporter::new(progress).run(py, |progress| {
            let file = CountsFile::open(BufReader::with_capacity(BUFFER, PyFile(file)))?;
            let description = memory::text(file.description());
            file.add_to(counter, progress).map(|()| description)
        })?;
        objects::string(py, &description)
    }

    /// Writes a counts file.
    fn write(&self, py: Python<'_>, description: &str, file: Py<PyAny>, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let mut state = self.0.get()?;
        let counter = &mut *state;
        let file = BufWriter::with_capacity(BUFFER, PyFile(file));
        Reporter::new(progress).run(py, |progress| write_counts(counter, description, file, progress))
    }

    /// Lists the words in an order: "first_seen", "most_frequent" or "bytes". Fails if the words need more than `room`
    /// bytes.
    #[pyo3(signature = (order, progress, room=None))]
    fn words(
        &self,
        py: Python<'_>,
        order: &str,
        progress: Option<Py<PyAny>>,
        room: Option<usize>,
    ) -> PyResult<PyWords> {
        let order = match order {
            "first_seen" => Order::FirstSeen,
            "most_frequent" => Order::MostFrequent,
            "bytes" => Order::Bytes,
            other => {
                return Err(to_python(Error::Argument(format!(
                    "order={other:?} is not \"first_seen\", \"most_frequent\" or \"bytes\""
                ))));
            }
        };
        let mut state = self.0.get()?;
        let counter = &mut *state;
        Reporter::new(progress).run(py, |progress| counter.words(order, room, progress)).map(PyWords)
    }
}

/// Computes the size of the memory that training can use under a limit, in bytes.
#[pyfunction]
fn training_room(limit: usize) -> usize {
    usable_memory(limit)
}

/// Reads the description in a counts file.
#[pyfunction]
fn counts_description(py: Python<'_>, file: Py<PyAny>) -> PyResult<Bound<'_, PyString>> {
    let open = || CountsFile::open(PyFile(file)).map(|file| memory::text(file.description()));
    objects::string(py, &detach(py, open)?)
}

/// Adds the classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    objects::add_class::<PyTextCounter>(module)?;
    objects::add_class::<PyWordCounter>(module)?;
    module.add_function(wrap_pyfunction!(training_room, module)?)?;
    module.add_function(wrap_pyfunction!(counts_description, module)?)
}
