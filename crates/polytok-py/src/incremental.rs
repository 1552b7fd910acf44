//! Wraps the encoders of growing and changing texts in Python classes. python/polytok/incremental.py has their public
//! interface.

use std::sync::{Arc, Mutex};

use polytok_core::error::Result;
use polytok_core::incremental::{Addition, Change, ChunkEncoder, IncrementalText};
use polytok_core::normalize::output::Span;
use polytok_core::tokenizer::{EncodeOptions, Tokenizer};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::{catch, to_python};
use crate::gil::{lock, run_detached};
use crate::lists;
use crate::objects;
use crate::options::{PyResolvedOptions, engine_options};
use crate::text::PyText;
use crate::tokenizer::PyTokenizer;

/// A tokenizer, and the options with which all calls encode.
struct Encoder {
    tokenizer: Py<PyTokenizer>,
    options: Option<Py<PyResolvedOptions>>,
}

/// The UTF-8 of a text, and the start and end of each trusted run in bytes.
type TextWithRuns<'py> = (Bound<'py, PyBytes>, Bound<'py, PyList>);

/// The ids that stay, and the list of the ids after them.
type ChangeRow<'py> = (usize, Bound<'py, PyList>);

impl Encoder {
    fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        self.tokenizer.get().list(py, ids)
    }

    fn change<'py>(&self, py: Python<'py>, change: &Change) -> PyResult<ChangeRow<'py>> {
        Ok((change.kept, self.list(py, &change.ids)?))
    }
}

/// Encodes a text that arrives in chunks.
#[pyclass(frozen, name = "ChunkEncoder")]
pub struct PyChunkEncoder {
    encoder: Encoder,
    state: Mutex<ChunkEncoder>,
}

#[pymethods]
impl PyChunkEncoder {
    #[new]
    #[pyo3(signature = (tokenizer, options=None))]
    fn new(tokenizer: Py<PyTokenizer>, options: Option<Py<PyResolvedOptions>>) -> PyChunkEncoder {
        PyChunkEncoder { encoder: Encoder { tokenizer, options }, state: Mutex::default() }
    }

    /// Appends a chunk and returns the ids that are final.
    fn push<'py>(&self, py: Python<'py>, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let options = self.encoder.options.as_ref().map(|options| options.bind(py));
        let (chunk, runs) = self.encoder.tokenizer.get().addition(chunk, options)?;
        let (tokenizer, options) = (self.encoder.tokenizer.get().engine(), engine_options(options));
        let mut ids = Vec::new();
        let mut guard = lock(py, &self.state);
        let state = &mut *guard;
        let push = || state.push(tokenizer, Addition { text: &chunk, runs }, options, &mut ids);
        run_detached(py, chunk.len(), push)?;
        drop(guard);
        self.encoder.list(py, &ids)
    }

    /// Returns the remaining ids, and starts a new text.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (tokenizer, options) = (self.encoder.tokenizer.get().engine(), self.encoder.options.as_ref());
        let options = engine_options(options.map(|options| options.bind(py)));
        let mut ids = Vec::new();
        let mut state = std::mem::take(&mut *lock(py, &self.state));
        run_detached(py, state.pending_bytes(), || state.finish(tokenizer, options, &mut ids))?;
        self.encoder.list(py, &ids)
    }

    /// The number of bytes of text whose ids are not final.
    #[getter]
    fn pending_bytes(&self, py: Python<'_>) -> usize {
        lock(py, &self.state).pending_bytes()
    }
}

/// A text with its ids, which are kept when the text changes.
#[pyclass(frozen, name = "IncrementalText")]
pub struct PyIncrementalText {
    encoder: Arc<Encoder>,
    state: Mutex<IncrementalText>,
}

#[pymethods]
impl PyIncrementalText {
    #[new]
    #[pyo3(signature = (tokenizer, options=None))]
    fn new(
        py: Python<'_>,
        tokenizer: Py<PyTokenizer>,
        options: Option<Py<PyResolvedOptions>>,
    ) -> PyResult<PyIncrementalText> {
        let engine = engine_options(options.as_ref().map(|options| options.bind(py)));
        let state = IncrementalText::new(tokenizer.get().engine(), engine).map_err(to_python)?;
        Ok(PyIncrementalText { encoder: Arc::new(Encoder { tokenizer, options }), state: Mutex::new(state) })
    }

    /// Replaces the last `removed_bytes` bytes by a text.
    fn append<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>, removed_bytes: usize) -> PyResult<ChangeRow<'py>> {
        let (text, runs) = self.addition(text)?;
        let added = Addition { text: &text, runs };
        self.changed(py, text.len(), |state, tokenizer, options| {
            let at = state.bytes().saturating_sub(removed_bytes);
            state.replace_from(tokenizer, at, added, options)
        })
    }

    fn set_text<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>) -> PyResult<ChangeRow<'py>> {
        let (text, runs) = self.addition(text)?;
        let new = Addition { text: &text, runs };
        self.changed(py, text.len(), |state, tokenizer, options| state.set_text(tokenizer, new, options))
    }

    fn truncate<'py>(&self, py: Python<'py>, characters: usize) -> PyResult<ChangeRow<'py>> {
        self.changed(py, 0, |state, tokenizer, options| state.truncate(tokenizer, characters, options))
    }

    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let ids = self.read(py, |state, tokenizer, options| catch(|| state.ids(tokenizer, options)))?;
        self.encoder.list(py, &ids)
    }

    fn text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        objects::bytes(py, &catch(|| lock(py, &self.state).text())?)
    }

    /// Returns the text, and the start and end of each trusted run in bytes; None if the text is not in parts.
    fn text_with_runs<'py>(&self, py: Python<'py>) -> PyResult<Option<TextWithRuns<'py>>> {
        let state = lock(py, &self.state);
        let (runs, text) = catch(|| (state.runs(), state.text()))?;
        drop(state);
        runs.map(|runs| Ok((objects::bytes(py, &text)?, lists::of_values(py, runs)?))).transpose()
    }

    /// Returns the number of leading ids that no text appended later changes.
    fn settled_count(&self, py: Python<'_>) -> usize {
        self.read(py, |state, tokenizer, options| state.settled_count(tokenizer, options))
    }

    /// Returns a copy, which shares the settled text and its ids.
    fn copy(&self, py: Python<'_>) -> PyResult<PyIncrementalText> {
        let state = catch(|| lock(py, &self.state).clone())?;
        Ok(PyIncrementalText { encoder: self.encoder.clone(), state: Mutex::new(state) })
    }
}

impl PyIncrementalText {
    fn addition<'a>(&self, text: &'a Bound<'_, PyAny>) -> PyResult<(PyText<'a>, Option<&'a [Span]>)> {
        let options = self.encoder.options.as_ref().map(|options| options.bind(text.py()));
        self.encoder.tokenizer.get().addition(text, options)
    }

    /// Changes the text; releases the GIL if `len` bytes of text are many.
    fn changed<'py>(
        &self,
        py: Python<'py>,
        len: usize,
        change: impl FnOnce(&mut IncrementalText, &Tokenizer, EncodeOptions) -> Result<Change> + Send,
    ) -> PyResult<ChangeRow<'py>> {
        let (tokenizer, options) = (self.encoder.tokenizer.get().engine(), self.encoder.options.as_ref());
        let options = engine_options(options.map(|options| options.bind(py)));
        let mut guard = lock(py, &self.state);
        let state = &mut *guard;
        let change = run_detached(py, len, || change(state, tokenizer, options))?;
        drop(guard);
        self.encoder.change(py, &change)
    }

    /// Reads the text and its ids.
    fn read<T>(&self, py: Python<'_>, read: impl FnOnce(&IncrementalText, &Tokenizer, EncodeOptions) -> T) -> T {
        let (tokenizer, options) = (self.encoder.tokenizer.get().engine(), self.encoder.options.as_ref());
        let options = engine_options(options.map(|options| options.bind(py)));
        read(&lock(py, &self.state), tokenizer, options)
    }
}
